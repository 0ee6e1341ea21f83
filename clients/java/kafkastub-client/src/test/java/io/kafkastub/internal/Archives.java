package io.kafkastub.internal;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.zip.GZIPOutputStream;

/** Packaged binaries as {@code make binary} packs them, with a script for a command. */
final class Archives {
    final Map<String, byte[]> files = new HashMap<>();

    /** A binary of version 9 for that platform, which says {@code word}. */
    Archives with(String platform, String word) {
        byte[] archive = archive("#!/bin/sh\necho " + word + "\n");
        files.put("kafkastub-binary/" + platform + ".tar.gz", archive);
        String line = digest(archive) + "  kafkastub-9-" + platform + ".tar.gz\n";
        files.put("kafkastub-binary/" + platform + ".tar.gz.sha256", line.getBytes(StandardCharsets.UTF_8));
        files.put("kafkastub-binary/" + platform + ".version", "9\n".getBytes(StandardCharsets.UTF_8));
        return this;
    }

    InputStream open(String name) {
        return files.containsKey(name) ? new ByteArrayInputStream(files.get(name)) : null;
    }

    private static byte[] archive(String script) {
        var bytes = new ByteArrayOutputStream();
        try (var out = new GZIPOutputStream(bytes)) {
            out.write(head("kafkastub/", '5', 0755, 0));
            out.write(head("kafkastub/kafkastub", '0', 0755, script.length()));
            out.write(padded(script.getBytes(StandardCharsets.UTF_8)));
            out.write(head("kafkastub/lib/data", '0', 0644, 1000));
            out.write(padded(new byte[1000]));
            out.write(new byte[1024]);
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
        return bytes.toByteArray();
    }

    static byte[] head(String name, char type, int mode, int size) {
        byte[] found = new byte[512];
        put(found, 0, name);
        put(found, 100, String.format("%07o", mode));
        put(found, 124, String.format("%011o", size));
        found[156] = (byte) type;
        put(found, 257, "ustar");
        return found;
    }

    private static void put(byte[] head, int at, String text) {
        System.arraycopy(text.getBytes(StandardCharsets.UTF_8), 0, head, at, text.length());
    }

    static byte[] padded(byte[] content) {
        return java.util.Arrays.copyOf(content, (content.length + 511) / 512 * 512);
    }

    private static String digest(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException error) {
            throw new IllegalStateException(error);
        }
    }
}
