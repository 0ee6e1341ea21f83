package io.kafkastub.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kafkastub.StubStartException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class LauncherTest {
    @TempDir
    Path folder;

    private Path script(String text) throws IOException {
        Path found = Files.writeString(folder.resolve("kafkastub"), "#!/bin/sh\n" + text);
        assertTrue(found.toFile().setExecutable(true));
        return found;
    }

    @Test
    void oneThatNeverGetsReadyIsEnded() throws IOException {
        Path command = script("exec cat\n");
        var refused = assertThrows(StubStartException.class, () -> new Launcher(command, Duration.ofMillis(100)));
        assertEquals(command + " launcher is not ready after 100 ms", refused.getMessage());
        assertTrue(ProcessHandle.current()
                .children()
                .noneMatch(child -> child.info().command().orElse("").endsWith("/cat")));
    }

    @Test
    void oneThatSaysSomethingElseIsRefused() throws IOException {
        Path command = script("echo hello\necho of another kind >&2\n");
        var refused = assertThrows(StubStartException.class, () -> new Launcher(command, Duration.ofMinutes(1)));
        assertEquals(command + " launcher did not start: of another kind", refused.getMessage());
    }
}
