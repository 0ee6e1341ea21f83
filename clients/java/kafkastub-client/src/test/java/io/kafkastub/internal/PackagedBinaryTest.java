package io.kafkastub.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kafkastub.StubStartException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PackagedBinaryTest {
    private static final String HERE = "linux-x86_64";

    @TempDir
    Path folder;

    private PackagedBinary binary(Archives archives) {
        return new PackagedBinary(HERE, folder.resolve("cache"), archives::open);
    }

    @Test
    void itIsUnpackedOnce() throws Exception {
        var archives = new Archives().with(HERE, "hello");
        Path command = binary(archives).command().orElseThrow();
        assertEquals("hello\n", output(command));
        assertEquals(1000, Files.size(command.resolveSibling("lib/data")));
        assertFalse(Files.isExecutable(command.resolveSibling("lib/data")));
        archives.files.remove("kafkastub-binary/" + HERE + ".tar.gz"); // it is not read again
        assertEquals(command, binary(archives).command().orElseThrow());
    }

    @Test
    void anotherArchiveHasAnotherFolder() {
        Path one = binary(new Archives().with(HERE, "one")).command().orElseThrow();
        Path two = binary(new Archives().with(HERE, "two")).command().orElseThrow();
        assertFalse(one.equals(two));
        assertTrue(one.getParent().getParent().getFileName().toString().startsWith("9-"), one.toString());
    }

    @Test
    void severalAtOnceGetTheSameAndNothingIsLeft() throws Exception {
        var archives = new Archives().with(HERE, "hello");
        var threads = Executors.newFixedThreadPool(8);
        var ready = new CountDownLatch(8);
        List<Future<Path>> found = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            found.add(threads.submit(() -> {
                ready.countDown();
                ready.await();
                return binary(archives).command().orElseThrow();
            }));
        }
        for (Future<Path> one : found) {
            assertEquals("hello\n", output(one.get()));
        }
        threads.shutdown();
        try (var left = Files.list(folder.resolve("cache"))) {
            assertEquals(1, left.count());
        }
    }

    @Test
    void aDamagedArchiveIsRefused() throws Exception {
        var archives = new Archives().with(HERE, "hello");
        byte[] archive = archives.files.get("kafkastub-binary/" + HERE + ".tar.gz");
        archive[archive.length / 2] ^= 1;
        var refused =
                assertThrows(StubStartException.class, () -> binary(archives).command());
        assertTrue(
                refused.getMessage().startsWith("the packaged kafkastub for linux-x86_64 is damaged: its SHA-256 is "));
        try (var left = Files.list(folder.resolve("cache"))) {
            assertEquals(0, left.count());
        }
    }

    @Test
    void aFolderThatCannotBeWrittenIsNamed() throws Exception {
        Path file = Files.createFile(folder.resolve("cache"));
        var archives = new Archives().with(HERE, "hello");
        var refused =
                assertThrows(StubStartException.class, () -> binary(archives).command());
        assertTrue(refused.getMessage().contains(file.toString()), refused.getMessage());
        assertTrue(refused.getMessage().contains("KAFKASTUB_CACHE"), refused.getMessage());
    }

    @Test
    void aNameThatLeadsOutOfTheFolderIsRefused() throws Exception {
        var bytes = new ByteArrayOutputStream();
        try (var out = new GZIPOutputStream(bytes)) {
            out.write(Archives.head("kafkastub/../../evil", '0', 0644, 0));
        }
        var archive = new ByteArrayInputStream(bytes.toByteArray());
        assertThrows(IOException.class, () -> Tar.unpack(archive, folder));
    }

    @Test
    void aPlatformWithoutBinaryHasNone() {
        assertTrue(binary(new Archives()).command().isEmpty());
        assertEquals(
                "macos-aarch64",
                binary(new Archives().with("macos-aarch64", "hello")).others());
    }

    @Test
    void platformsAreNamedAsTheArchivesAre() {
        assertEquals("linux-x86_64", PackagedBinary.platform("Linux", "amd64"));
        assertEquals("linux-aarch64", PackagedBinary.platform("Linux", "aarch64"));
        assertEquals("macos-aarch64", PackagedBinary.platform("Mac OS X", "aarch64"));
        assertEquals("windows-x86_64", PackagedBinary.platform("Windows 11", "amd64"));
    }

    @Test
    void theFolderIsThatOfThePropertyTheVariableOrTheUser() {
        var properties = new Properties();
        properties.setProperty("user.home", "/home/me");
        assertEquals(Path.of("/home/me/.cache/kafkastub"), PackagedBinary.cache(Map.of(), properties));
        Map<String, String> xdg = Map.of("XDG_CACHE_HOME", "/xdg");
        assertEquals(Path.of("/xdg/kafkastub"), PackagedBinary.cache(xdg, properties));
        Map<String, String> ours = Map.of("XDG_CACHE_HOME", "/xdg", "KAFKASTUB_CACHE", "/ours");
        assertEquals(Path.of("/ours"), PackagedBinary.cache(ours, properties));
        properties.setProperty("kafkastub.cache", "/property");
        assertEquals(Path.of("/property"), PackagedBinary.cache(ours, properties));
    }

    private static String output(Path command) throws IOException {
        return new String(
                new ProcessBuilder(command.toString()).start().getInputStream().readAllBytes());
    }
}
