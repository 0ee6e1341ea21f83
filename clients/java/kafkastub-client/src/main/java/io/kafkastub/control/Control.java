package io.kafkastub.control;

import io.kafkastub.internal.Json;
import io.kafkastub.model.CauseList;
import io.kafkastub.model.GuaranteeFinding;
import io.kafkastub.model.GuaranteeReport;
import io.kafkastub.model.Health;
import io.kafkastub.model.HoldList;
import io.kafkastub.model.Protocol;
import io.kafkastub.model.ResetInfo;
import io.kafkastub.model.RouteIndex;
import io.kafkastub.model.Summary;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The control port of a broker, wherever it runs: a part each for its clock, its faults, its journal and so on.
 *
 * <p>Each call happens between two requests of Kafka's clients: when it returns, they see what follows from it. A
 * request that is refused throws {@link RefusedException}. Objects of this class may be used by several threads.
 */
public class Control {
    private final Port port;
    private final Clock clock;
    private final Faults faults;
    private final Chaos chaos;
    private final Snapshots snapshots;
    private final Journal journal;
    private final Topics topics;
    private final Records records;
    private final Groups groups;
    private final ShareGroups shareGroups;
    private final StreamsGroups streamsGroups;
    private final Transactions transactions;
    private final Quotas quotas;
    private final Acls acls;
    private final Nodes nodes;
    private final Configs configs;

    /**
     * @param url {@code http://HOST:PORT}, as {@code kafkastub serve --control-port} prints it
     * @param token the control token; null if there is none
     */
    protected Control(String url, String token) {
        port = new Port(url, token);
        clock = new Clock(port);
        faults = new Faults(port);
        chaos = new Chaos(port);
        snapshots = new Snapshots(port);
        journal = new Journal(port);
        topics = new Topics(port);
        records = new Records(port);
        groups = new Groups(port);
        shareGroups = new ShareGroups(port);
        streamsGroups = new StreamsGroups(port);
        transactions = new Transactions(port);
        quotas = new Quotas(port);
        acls = new Acls(port);
        nodes = new Nodes(port);
        configs = new Configs(port);
    }

    /** The control port at a URL, {@code http://HOST:PORT}. */
    public static Control at(String url) {
        return new Control(url, null);
    }

    /** The control port at a URL, with its control token. */
    public static Control at(String url, String token) {
        return new Control(url, token);
    }

    /** The URL of the control port; a browser shows a page there. */
    public String controlUrl() {
        return port.url();
    }

    /** Broker time. */
    public Clock clock() {
        return clock;
    }

    /** Faults: errors, delays, holds, lost connections. */
    public Faults faults() {
        return faults;
    }

    /** Chaos by a seed. */
    public Chaos chaos() {
        return chaos;
    }

    /** States to which the broker can go back. */
    public Snapshots snapshots() {
        return snapshots;
    }

    /** Every request with its answer. */
    public Journal journal() {
        return journal;
    }

    /** Topics. */
    public Topics topics() {
        return topics;
    }

    /** Records, without a client. */
    public Records records() {
        return records;
    }

    /** Groups of consumers. */
    public Groups groups() {
        return groups;
    }

    /** Share groups. */
    public ShareGroups shareGroups() {
        return shareGroups;
    }

    /** Groups of Kafka Streams. */
    public StreamsGroups streamsGroups() {
        return streamsGroups;
    }

    /** Transactions. */
    public Transactions transactions() {
        return transactions;
    }

    /** Quotas. */
    public Quotas quotas() {
        return quotas;
    }

    /** ACLs. */
    public Acls acls() {
        return acls;
    }

    /** The nodes of the cluster. */
    public Nodes nodes() {
        return nodes;
    }

    /** Configurations. */
    public Configs configs() {
        return configs;
    }

    /** Waits, of ten seconds at most. */
    public Await await() {
        return await(Await.USUAL);
    }

    /** Waits, of this long at most. */
    public Await await(Duration limit) {
        return new Await(port, groups, limit);
    }

    /** All that is held: requests, transaction markers, acknowledgements, revocations. */
    public HoldList holds() {
        return port.call(Route.GET_HOLDS).as(HoldList.class);
    }

    /** Why clients may wait: at most eight sentences, the most likely cause first. */
    public List<String> causes() {
        return port.call(Route.GET_CAUSES).as(CauseList.class).causes();
    }

    /** The same, from the requests of the last so many seconds alone. */
    public List<String> causes(Duration last) {
        return port.call(Route.GET_CAUSES)
                .query("seconds", Math.max(0.001, last.toMillis() / 1000.0))
                .as(CauseList.class)
                .causes();
    }

    /** What the application did to its records, with the evidence (docs/guarantees.md). */
    public GuaranteeReport check() {
        return check(List.of(), List.of());
    }

    /** The same about these guarantees only, without those to be ignored. An empty list means the usual ones. */
    public GuaranteeReport check(List<String> guarantees, List<String> ignoring) {
        return port.call(Route.GET_CHECK)
                .query("guarantee", guarantees)
                .query("ignoring", ignoring)
                .as(GuaranteeReport.class);
    }

    /**
     * Fail if the application did to its records what it should not have done.
     *
     * @throws AssertionError with all findings
     */
    public void assertGuarantees() {
        GuaranteeReport report = check();
        if (!report.ok()) {
            throw new AssertionError(
                    report.findings().stream().map(Control::told).collect(Collectors.joining("\n")));
        }
    }

    private static String told(GuaranteeFinding finding) {
        String where = finding.topic() == null ? "" : " in " + finding.topic() + "-" + finding.partition();
        String who = finding.group() == null ? "" : " by group " + finding.group();
        var lines = new StringBuilder(finding.guarantee() + where + who + ": " + finding.cause());
        finding.timeline()
                .forEach(step ->
                        lines.append("\n    ").append(step.who()).append(": ").append(step.what()));
        finding.advice()
                .forEach((client, advice) ->
                        lines.append("\n    ").append(client).append(": ").append(advice));
        return lines.toString();
    }

    /**
     * A fresh broker at the same address, as it was at the start. Every connection ends.
     *
     * @throws RefusedException if the broker has a data directory
     */
    public ResetInfo reset() {
        return port.call(Route.POST_RESET).as(ResetInfo.class);
    }

    /** Whether clients can begin. A broker on which a topic is missing refuses, with the status 503. */
    public Health health(String... topics) {
        return port.call(Route.GET_HEALTH).query("topic", List.of(topics)).as(Health.class);
    }

    /** Count topics, groups, records, requests and more. */
    public Summary summary() {
        return port.call(Route.GET_SUMMARY).as(Summary.class);
    }

    /** The metrics, in Prometheus' text format. */
    public String metrics() {
        return port.call(Route.GET_METRICS).text();
    }

    /** The APIs that the broker serves, with their versions; and Kafka's errors. */
    public Protocol protocol() {
        return port.call(Route.GET_PROTOCOL).as(Protocol.class);
    }

    /** The routes of the control port. */
    public RouteIndex index() {
        return port.call(Route.GET_INDEX).as(RouteIndex.class);
    }

    /**
     * Which subjects have changed ({@code topics}, {@code groups}, {@code clock} …), four times a second at most. The
     * stream ends when it is closed, or with the broker.
     */
    public Stream<List<String>> events(String... subjects) {
        return port.call(Route.GET_EVENTS)
                .query("subjects", String.join(",", subjects))
                .lines()
                .filter(line -> line.startsWith("data:"))
                .map(line -> changed(line.substring("data:".length())));
    }

    @SuppressWarnings("unchecked")
    private static List<String> changed(String data) {
        return (List<String>) ((Map<String, ?>) Json.parse(data)).get("subjects");
    }
}
