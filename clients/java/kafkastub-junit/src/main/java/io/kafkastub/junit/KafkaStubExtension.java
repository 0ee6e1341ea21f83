package io.kafkastub.junit;

import io.kafkastub.FailureReport;
import io.kafkastub.KafkaStub;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;
import org.opentest4j.TestAbortedException;

/**
 * Starts stubs for tests, and ends them. {@link KafkaStubTest} registers it; or a field does:
 *
 * <pre>{@code
 * @RegisterExtension
 * static final KafkaStubExtension kafka = KafkaStubExtension.builder().topics("orders:3").build();
 * }</pre>
 *
 * <p>In a static field, the tests of the class share a stub; in one of the instance each test has its own.
 * {@link Builder#scope} says otherwise. {@link #stub()} is the stub of the test that runs in the thread.
 *
 * <p>The configuration parameter {@code kafkastub.journal.lines} of JUnit is the number of requests that are printed
 * when a test fails: 50, or 0 for none.
 */
public final class KafkaStubExtension
        implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, ParameterResolver {
    private static final Namespace NAMESPACE = Namespace.create(KafkaStubExtension.class);
    private static final String LINES = "kafkastub.journal.lines";
    private static final int USUAL_LINES = 50;

    private final Settings given;
    private final ThreadLocal<ExtensionContext> ofThread = new ThreadLocal<>();
    private volatile ExtensionContext last;

    /** For {@link KafkaStubTest}, which has the settings. */
    public KafkaStubExtension() {
        this(null);
    }

    private KafkaStubExtension(Settings given) {
        this.given = given;
    }

    /** An extension for a field. */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * The stub of the test, or of the class.
     *
     * @throws IllegalStateException if no test runs
     */
    public KafkaStub stub() {
        ExtensionContext context = ofThread.get() == null ? last : ofThread.get();
        if (context == null) {
            throw new IllegalStateException("no test runs: is the field annotated with @RegisterExtension?");
        }
        if (settings(context).scope() == Scope.TEST && context.getTestMethod().isEmpty()) {
            throw new IllegalStateException("each test has a stub of its own, and no test runs yet:"
                    + " ask for it in the test or in @BeforeEach, or set scope(Scope.CLASS)");
        }
        return stub(context);
    }

    /** HOST:PORT, for {@code bootstrap.servers}. */
    public String bootstrapServers() {
        return stub().bootstrapServers();
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        last = context;
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        last = context;
        ofThread.set(context);
        context.getStore(NAMESPACE).put("began", Instant.now());
    }

    @Override
    public void afterEach(ExtensionContext context) {
        ofThread.remove();
        Optional<Throwable> failure = context.getExecutionException();
        Settings settings = settings(context);
        KafkaStub stub = started(context, settings);
        if (stub == null) {
            return;
        }
        if (failure.isPresent() && !(failure.get() instanceof TestAbortedException)) {
            print(context, stub);
        } else if (failure.isEmpty() && settings.checkGuarantees()) {
            try {
                stub.assertGuarantees();
            } catch (AssertionError findings) {
                print(context, stub);
                throw findings;
            }
        }
    }

    private static void print(ExtensionContext context, KafkaStub stub) {
        int lines = context.getConfigurationParameter(LINES, Integer::valueOf).orElse(USUAL_LINES);
        String test = context.getRequiredTestClass().getSimpleName() + "." + context.getDisplayName();
        var began = context.getStore(NAMESPACE).get("began", Instant.class);
        String report = FailureReport.of(stub, test, began, lines);
        if (!report.isEmpty()) {
            System.err.println(report);
        }
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return type == KafkaStub.class || type == String.class && parameter.isAnnotated(BootstrapServers.class);
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        Settings settings = settings(context);
        if (settings.scope() == Scope.TEST && context.getTestMethod().isEmpty()) {
            throw new ParameterResolutionException("each test has a stub of its own, so "
                    + parameter.getDeclaringExecutable().getName()
                    + " cannot have one: take it as a parameter of the test or of @BeforeEach, or set scope ="
                    + " Scope.CLASS");
        }
        KafkaStub stub = stub(context);
        return parameter.getParameter().getType() == String.class ? stub.bootstrapServers() : stub;
    }

    private KafkaStub stub(ExtensionContext context) {
        Settings settings = settings(context);
        return owner(context, settings.scope())
                .getStore(NAMESPACE)
                .getOrComputeIfAbsent(key(context, settings), key -> start(context, settings), RunningStub.class)
                .stub;
    }

    private KafkaStub started(ExtensionContext context, Settings settings) {
        var found = owner(context, settings.scope()).getStore(NAMESPACE).get(key(context, settings), RunningStub.class);
        return found == null ? null : found.stub;
    }

    private static RunningStub start(ExtensionContext context, Settings settings) {
        String name = owner(context, settings.scope()).getDisplayName();
        return new RunningStub(settings.stub().copy().name(name).start());
    }

    /** What tells a stub from others in the store, and in those of the contexts above. */
    private Object key(ExtensionContext context, Settings settings) {
        Object whose = given == null || settings.scope() == Scope.RUN ? "" : System.identityHashCode(this);
        return List.of(owner(context, settings.scope()).getUniqueId(), whose, settings.stub());
    }

    /** The context with whose end the stub ends. */
    private static ExtensionContext owner(ExtensionContext context, Scope scope) {
        if (scope == Scope.RUN) {
            return context.getRoot();
        }
        ExtensionContext found = context;
        if (scope == Scope.CLASS) {
            while (found.getParent().isPresent()
                    && found.getParent().get().getTestClass().isPresent()) {
                found = found.getParent().get();
            }
        }
        return found;
    }

    private Settings settings(ExtensionContext context) {
        if (given != null) {
            return given.scope() != null ? given : given.withScope(isStatic(context) ? Scope.CLASS : Scope.TEST);
        }
        return annotation(context)
                .map(Settings::of)
                .orElseThrow(() -> new ExtensionConfigurationException(
                        "KafkaStubExtension: annotate the test or its class with @KafkaStubTest"));
    }

    /** The one of the method, else of the class, else of a class around it. */
    private static Optional<KafkaStubTest> annotation(ExtensionContext context) {
        Optional<KafkaStubTest> found = context.getTestMethod()
                .flatMap(method -> AnnotationSupport.findAnnotation(method, KafkaStubTest.class));
        for (Class<?> type = context.getTestClass().orElse(null);
                found.isEmpty() && type != null;
                type = type.getEnclosingClass()) {
            found = AnnotationSupport.findAnnotation(type, KafkaStubTest.class);
        }
        return found;
    }

    /** Whether a static field has this extension. */
    private boolean isStatic(ExtensionContext context) {
        for (Class<?> outer = context.getTestClass().orElse(null); outer != null; outer = outer.getEnclosingClass()) {
            for (Class<?> type = outer; type != null; type = type.getSuperclass()) {
                for (Field field : type.getDeclaredFields()) {
                    if (Modifier.isStatic(field.getModifiers()) && isIn(field)) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    private boolean isIn(Field field) {
        try {
            return field.getType() == KafkaStubExtension.class && field.trySetAccessible() && field.get(null) == this;
        } catch (IllegalAccessException error) {
            return false;
        }
    }

    /** An extension that is put together. */
    public static final class Builder {
        private KafkaStub.Builder stub = KafkaStub.builder();
        private Scope scope;
        private boolean checkGuarantees;

        private Builder() {}

        /** Topics that exist from the start: NAME:PARTITIONS, or NAME for one partition. */
        public Builder topics(String... names) {
            stub.topics(names);
            return this;
        }

        /** A value of Kafka's broker configuration: a string, a number or a boolean. */
        public Builder config(String name, Object value) {
            stub.config(name, value);
            return this;
        }

        /** Anything else: {@code stub(it -> it.nodes(3).registry())}. */
        public Builder stub(UnaryOperator<KafkaStub.Builder> settings) {
            stub = settings.apply(stub);
            return this;
        }

        /** How long a stub lives. */
        public Builder scope(Scope scope) {
            this.scope = scope;
            return this;
        }

        /** A test that passes fails if the application did to its records what it should not (docs/guarantees.md). */
        public Builder checkGuarantees() {
            checkGuarantees = true;
            return this;
        }

        /** The extension. */
        public KafkaStubExtension build() {
            return new KafkaStubExtension(new Settings(stub, scope, checkGuarantees));
        }
    }
}
