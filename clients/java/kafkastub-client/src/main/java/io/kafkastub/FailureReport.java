package io.kafkastub;

import io.kafkastub.model.ChaosEvent;
import io.kafkastub.model.ChaosInfo;
import io.kafkastub.model.JournalEntry;
import io.kafkastub.model.JournalQuery;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * What is printed of a stub when a test fails: why its clients may wait, the last requests, those that it does not
 * serve, and what chaos has done. kafkastub-junit and kafkastub-spring print it; integrations for other test frameworks
 * can, too.
 */
public final class FailureReport {
    private static final int MOST_REFUSED = 10;
    private static final int MOST_ACTS = 20;

    private FailureReport() {}

    /**
     * The report, lines for people. A stub that does not answer is no failure: the report says so.
     *
     * @param stub the stub
     * @param test the name of the test
     * @param since when the test began: earlier requests are left out
     * @param requests how many requests at most; 0 makes the report empty
     */
    public static String of(KafkaStub stub, String test, Instant since, int requests) {
        if (requests <= 0) {
            return "";
        }
        String where = " of " + stub + " in " + test;
        try {
            return causes(stub, where, since)
                    + lastRequests(stub, where, since, requests)
                    + refused(stub, where, since)
                    + chaos(stub, where);
        } catch (RuntimeException error) {
            return "last requests" + where + ": " + error.getMessage();
        }
    }

    private static String causes(KafkaStub stub, String where, Instant since) {
        List<String> found = stub.causes(Duration.between(since, Instant.now()));
        return found.isEmpty() ? "" : "why clients" + where + " may wait:" + lines(found) + "\n";
    }

    private static String lastRequests(KafkaStub stub, String where, Instant since, int requests) {
        List<String> found = since(stub.journal().tail(requests), since);
        return "last requests" + where + ":" + (found.isEmpty() ? " none" : lines(found));
    }

    private static String refused(KafkaStub stub, String where, Instant since) {
        var query = new JournalQuery().outcome("refused").limit(MOST_REFUSED);
        List<String> found = since(stub.journal().entries(query), since);
        return found.isEmpty() ? "" : "\nrequests that kafkastub does not serve" + where + ":" + lines(found);
    }

    private static String chaos(KafkaStub stub, String where) {
        ChaosInfo chaos = stub.chaos().state();
        List<String> acts = chaos.acts().stream().map(ChaosEvent::what).toList();
        if (acts.isEmpty()) {
            return "";
        }
        String seed = chaos.seed() == null ? "" : ", seed " + chaos.seed() + ", level " + chaos.level();
        return "\nchaos" + where + seed + ":" + lines(acts.subList(Math.max(0, acts.size() - MOST_ACTS), acts.size()));
    }

    private static List<String> since(List<JournalEntry> entries, Instant since) {
        return entries.stream()
                .filter(entry -> !entry.wallTime().isBefore(since))
                .map(JournalEntry::text)
                .toList();
    }

    private static String lines(List<String> some) {
        return "\n" + String.join("\n", some);
    }
}
