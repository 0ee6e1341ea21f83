package io.kafkastub.internal;

import io.kafkastub.StubStartException;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;

/** Where the command {@code kafkastub} is. Not for users. */
public final class CommandFinder {
    private static final String NAME = "kafkastub";
    private static final String PROPERTY = "kafkastub.command";
    private static final String VARIABLE = "KAFKASTUB";

    private final Map<String, String> environment;
    private final Properties properties;
    private final PackagedBinary packaged;

    CommandFinder(Map<String, String> environment, Properties properties, PackagedBinary packaged) {
        this.environment = environment;
        this.properties = properties;
        this.packaged = packaged;
    }

    /** As this JVM was started. */
    public static CommandFinder ofThisJvm() {
        var binary = PackagedBinary.ofThisMachine(System.getenv(), System.getProperties());
        return new CommandFinder(System.getenv(), System.getProperties(), binary);
    }

    /**
     * The first that is there: what is given, the system property {@code kafkastub.command}, the environment variable
     * {@code KAFKASTUB}, the packaged binary, {@code kafkastub} on the PATH.
     *
     * @param given a path, or a name on the PATH; null if nothing is given
     * @throws StubStartException if there is none, or the first that is named cannot be executed
     */
    public Path find(String given) {
        if (given != null) {
            return named(given, "the command of the stub");
        }
        String property = properties.getProperty(PROPERTY, "");
        if (!property.isEmpty()) {
            return named(property, "the system property " + PROPERTY);
        }
        String variable = environment.getOrDefault(VARIABLE, "");
        if (!variable.isEmpty()) {
            return named(variable, "the environment variable " + VARIABLE);
        }
        return packaged.command().or(() -> onPath(NAME)).orElseThrow(this::nothing);
    }

    private Path named(String command, String source) {
        try {
            Optional<Path> found = command.contains(File.separator) ? Optional.of(Path.of(command)) : onPath(command);
            if (found.isPresent() && isCommand(found.get())) {
                return found.get().toAbsolutePath();
            }
        } catch (InvalidPathException error) {
            // the sentence below has it
        }
        throw new StubStartException(source + " is '" + command + "', which is no command that can be executed:"
                + " set it to the path of kafkastub, or to its name on the PATH");
    }

    private Optional<Path> onPath(String name) {
        for (String folder : environment.getOrDefault("PATH", "").split(File.pathSeparator)) {
            if (!folder.isEmpty() && isCommand(Path.of(folder, name))) {
                return Optional.of(Path.of(folder, name).toAbsolutePath());
            }
        }
        return Optional.empty();
    }

    private static boolean isCommand(Path path) {
        return Files.isRegularFile(path) && Files.isExecutable(path);
    }

    private StubStartException nothing() {
        String others = packaged.others();
        if (!others.isEmpty()) {
            return new StubStartException("there is no packaged kafkastub for " + packaged.platform()
                    + " on the class path, only for " + others
                    + ": add io.kafkastub:kafkastub-binary with the classifier "
                    + packaged.platform()
                    + ", set the environment variable KAFKASTUB to its command, or put kafkastub on"
                    + " the PATH");
        }
        return new StubStartException(
                "no kafkastub was found: set the environment variable KAFKASTUB to its command, add"
                        + " io.kafkastub:kafkastub-binary with the classifier " + packaged.platform()
                        + " to the class path, or put kafkastub on the PATH");
    }
}
