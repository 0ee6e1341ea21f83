package io.kafkastub.internal;

import io.kafkastub.StubStartException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The command that the artifact kafkastub-binary has for this platform, unpacked once into a folder that the tests of
 * all projects share. Not for users.
 */
public final class PackagedBinary {
    private static final List<String> PLATFORMS =
            List.of("linux-x86_64", "linux-aarch64", "macos-x86_64", "macos-aarch64");
    private static final int SHORT_DIGEST = 12;

    private final String platform;
    private final Path cache;
    private final Function<String, InputStream> resources;

    PackagedBinary(String platform, Path cache, Function<String, InputStream> resources) {
        this.platform = platform;
        this.cache = cache;
        this.resources = resources;
    }

    static PackagedBinary ofThisMachine(Map<String, String> environment, Properties properties) {
        String platform = platform(properties.getProperty("os.name"), properties.getProperty("os.arch"));
        return new PackagedBinary(platform, cache(environment, properties), PackagedBinary::resource);
    }

    static String platform(String system, String machine) {
        String name = system.toLowerCase(Locale.ROOT);
        String os = name.startsWith("mac") ? "macos" : name.split(" ")[0];
        String arch = machine.equals("amd64") ? "x86_64" : machine.equals("arm64") ? "aarch64" : machine;
        return os + "-" + arch;
    }

    static Path cache(Map<String, String> environment, Properties properties) {
        for (String given : List.of(
                properties.getProperty("kafkastub.cache", ""), environment.getOrDefault("KAFKASTUB_CACHE", ""))) {
            if (!given.isEmpty()) {
                return Path.of(given);
            }
        }
        String xdg = environment.getOrDefault("XDG_CACHE_HOME", "");
        Path base = xdg.isEmpty() ? Path.of(properties.getProperty("user.home"), ".cache") : Path.of(xdg);
        return base.resolve("kafkastub");
    }

    /** A test runner may have our classes and the binary in different class loaders. */
    private static InputStream resource(String name) {
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        InputStream found = context == null ? null : context.getResourceAsStream(name);
        return found != null ? found : PackagedBinary.class.getClassLoader().getResourceAsStream(name);
    }

    String platform() {
        return platform;
    }

    /** Other platforms that the class path has a binary of; "" if there are none. */
    String others() {
        return PLATFORMS.stream()
                .filter(one -> !one.equals(platform) && has(one + ".tar.gz.sha256"))
                .collect(Collectors.joining(", "));
    }

    private boolean has(String file) {
        try (InputStream found = resources.apply("kafkastub-binary/" + file)) {
            return found != null;
        } catch (IOException error) {
            return false;
        }
    }

    /**
     * The command, unpacked; empty if the class path has none for this platform.
     *
     * @throws StubStartException if the archive is damaged, or cannot be unpacked
     */
    Optional<Path> command() {
        if (!has(platform + ".tar.gz.sha256")) {
            return Optional.empty();
        }
        String digest = text(".tar.gz.sha256").split("\\s+")[0];
        Path home = cache.resolve(text(".version").trim() + "-" + digest.substring(0, SHORT_DIGEST));
        Path command = home.resolve("kafkastub").resolve("kafkastub");
        if (!Files.isRegularFile(command)) {
            unpack(digest, home);
        }
        return Optional.of(command);
    }

    private String text(String suffix) {
        try (InputStream found = resources.apply("kafkastub-binary/" + platform + suffix)) {
            if (found == null) {
                throw new StubStartException(
                        "the packaged kafkastub for " + platform + " is damaged: it has no " + suffix
                                + ": delete the artifact kafkastub-binary from your local repository, and fetch it"
                                + " again");
            }
            return new String(found.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException error) {
            throw new StubStartException("the packaged kafkastub for " + platform + " cannot be read: " + error, error);
        }
    }

    /** Into a folder beside the home, which then becomes the home at once: one that is there is whole. */
    private void unpack(String digest, Path home) {
        Path folder = cache.resolve(".unpacking-" + UUID.randomUUID());
        try {
            Files.createDirectories(folder);
            String found = unpackInto(folder);
            if (!found.equals(digest)) {
                throw new StubStartException("the packaged kafkastub for " + platform + " is damaged: its SHA-256 is "
                        + found + ", not " + digest
                        + ": delete the artifact kafkastub-binary from your local repository, and fetch it again");
            }
            become(folder, home);
        } catch (IOException error) {
            throw new StubStartException(
                    "the packaged kafkastub for " + platform + " cannot be unpacked into " + cache
                            + ": " + error + ": set the environment variable KAFKASTUB_CACHE or the system property"
                            + " kafkastub.cache to a folder that can be written",
                    error);
        } finally {
            delete(folder);
        }
    }

    private String unpackInto(Path folder) throws IOException {
        try (InputStream archive = resources.apply("kafkastub-binary/" + platform + ".tar.gz")) {
            if (archive == null) {
                throw new IOException("the archive is missing");
            }
            var digest = MessageDigest.getInstance("SHA-256");
            try (var seen = new DigestInputStream(archive, digest)) {
                try {
                    Tar.unpack(seen, folder);
                } catch (IOException error) {
                    // a damaged archive is one whose digest is another: what is left of it counts, too
                    seen.transferTo(OutputStream.nullOutputStream());
                    String found = HexFormat.of().formatHex(digest.digest());
                    if (found.equals(text(".tar.gz.sha256").split("\\s+")[0])) {
                        throw error;
                    }
                    return found;
                }
                seen.transferTo(OutputStream.nullOutputStream());
                return HexFormat.of().formatHex(digest.digest());
            }
        } catch (NoSuchAlgorithmException error) {
            throw new IllegalStateException(error);
        }
    }

    private static void become(Path folder, Path home) throws IOException {
        try {
            Files.move(folder, home, StandardCopyOption.ATOMIC_MOVE);
        } catch (FileSystemException error) {
            if (!Files.isDirectory(home.resolve("kafkastub"))) { // else another process was first
                throw error;
            }
        }
    }

    private static void delete(Path folder) {
        if (!Files.exists(folder)) {
            return;
        }
        try (var files = Files.walk(folder)) {
            for (Path one : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(one);
            }
        } catch (IOException error) {
            // it is in nobody's way: the next one has another name
        }
    }
}
