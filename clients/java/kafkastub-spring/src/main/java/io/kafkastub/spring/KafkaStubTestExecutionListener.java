package io.kafkastub.spring;

import io.kafkastub.FailureReport;
import io.kafkastub.KafkaStub;
import java.time.Instant;
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
        System.err.println(FailureReport.of(stub, test, (Instant) context.getAttribute(BEGAN), LINES));
    }
}
