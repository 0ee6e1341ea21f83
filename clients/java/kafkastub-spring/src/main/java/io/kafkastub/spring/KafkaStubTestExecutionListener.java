package io.kafkastub.spring;

import io.kafkastub.KafkaStub;
import io.kafkastub.model.JournalEntry;
import java.time.Instant;
import java.util.List;
import org.springframework.context.ApplicationContext;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestExecutionListener;

/** Prints what a stub was asked when a test fails. Spring knows it by {@code META-INF/spring.factories}. */
final class KafkaStubTestExecutionListener implements TestExecutionListener {
    private static final String BEGAN = "kafkastub.began";
    private static final int LINES = 50;

    KafkaStubTestExecutionListener() {}

    @Override
    public void beforeTestMethod(TestContext context) {
        context.setAttribute(BEGAN, Instant.now());
    }

    @Override
    public void afterTestMethod(TestContext context) {
        if (context.getTestException() == null || !context.hasApplicationContext()) {
            return;
        }
        ApplicationContext application = context.getApplicationContext();
        application.getBeanProvider(KafkaStub.class).forEach(stub -> print(context, stub));
    }

    private static void print(TestContext context, KafkaStub stub) {
        String test = context.getTestClass().getSimpleName() + "."
                + context.getTestMethod().getName();
        var text = new StringBuilder("last requests of " + stub + " in " + test + ":");
        var began = (Instant) context.getAttribute(BEGAN);
        try {
            List<JournalEntry> found = stub.journal().tail(LINES).stream()
                    .filter(entry -> began == null || !entry.wallTime().isBefore(began))
                    .toList();
            found.forEach(entry -> text.append("\n").append(entry.text()));
            text.append(found.isEmpty() ? " none" : "");
        } catch (RuntimeException error) {
            text.append(" ").append(error.getMessage());
        }
        System.err.println(text);
    }
}
