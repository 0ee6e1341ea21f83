package io.kafkastub.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kafkastub.StubStartException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CommandFinderTest {
    @TempDir
    Path folder;

    private final Map<String, String> environment = new HashMap<>();
    private final Properties properties = new Properties();
    private Archives archives = new Archives();

    @BeforeEach
    void path() throws IOException {
        command("path/kafkastub");
        environment.put("PATH", folder + "/none:" + folder.resolve("path"));
    }

    private Path command(String name) throws IOException {
        Path path = folder.resolve(name);
        Files.createDirectories(path.getParent());
        Files.writeString(path, "#!/bin/sh\n");
        assertTrue(path.toFile().setExecutable(true));
        return path;
    }

    private Path find(String given) {
        var packaged = new PackagedBinary("linux-x86_64", folder.resolve("cache"), archives::open);
        return new CommandFinder(environment, properties, packaged).find(given);
    }

    @Test
    void theFirstThatIsThereIsTaken() throws IOException {
        assertEquals(folder.resolve("path/kafkastub"), find(null));
        archives.with("linux-x86_64", "packaged");
        assertTrue(find(null).startsWith(folder.resolve("cache")));
        Path variable = command("variable/with a blank");
        environment.put("KAFKASTUB", variable.toString());
        assertEquals(variable, find(null));
        Path property = command("property/kafkastub");
        properties.setProperty("kafkastub.command", property.toString());
        assertEquals(property, find(null));
        assertEquals(folder.resolve("path/kafkastub"), find("kafkastub"));
    }

    @Test
    void aVariableThatNamesNothingIsNoReasonToTakeAnother() {
        environment.put("KAFKASTUB", "/nowhere/kafkastub serve");
        assertEquals(
                "the environment variable KAFKASTUB is '/nowhere/kafkastub serve', which is no command that can be"
                        + " executed: set it to the path of kafkastub, or to its name on the PATH",
                assertThrows(StubStartException.class, () -> find(null)).getMessage());
    }

    @Test
    void aFileThatIsNoProgramIsRefused() throws IOException {
        Path text = Files.createFile(folder.resolve("text"));
        var refused = assertThrows(StubStartException.class, () -> find(text.toString()));
        assertTrue(refused.getMessage().startsWith("the command of the stub is '" + text + "', which is no command"));
    }

    @Test
    void whereThereIsNoneASentenceSaysWhatToDo() {
        environment.remove("PATH");
        assertEquals(
                "no kafkastub was found: set the environment variable KAFKASTUB to its command, add"
                        + " io.kafkastub:kafkastub-binary with the classifier linux-x86_64 to the class path, or put"
                        + " kafkastub on the PATH",
                assertThrows(StubStartException.class, () -> find(null)).getMessage());
    }

    @Test
    void aBinaryOfAnotherPlatformIsNamed() {
        environment.remove("PATH");
        archives.with("macos-aarch64", "other");
        String said = assertThrows(StubStartException.class, () -> find(null)).getMessage();
        assertTrue(said.startsWith(
                "there is no packaged kafkastub for linux-x86_64 on the class path, only for macos-aarch64"));
    }
}
