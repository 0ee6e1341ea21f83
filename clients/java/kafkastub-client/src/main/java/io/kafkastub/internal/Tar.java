package io.kafkastub.internal;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.zip.GZIPInputStream;

/** Plain ustar archives, compressed with gzip: folders and regular files, as POSIX.1-1988 has them. Not for users. */
final class Tar {
    private static final int BLOCK = 512;
    private static final int EXECUTABLE = 0111;

    private Tar() {}

    /**
     * Unpack an archive into a folder.
     *
     * @throws IOException also if there is something else in it, or a name that leads out of the folder
     */
    static void unpack(InputStream archive, Path folder) throws IOException {
        var in = new GZIPInputStream(archive, 1 << 16);
        byte[] head = new byte[BLOCK];
        while (in.readNBytes(head, 0, BLOCK) == BLOCK && head[0] != 0) {
            String prefix = text(head, 345, 155);
            String name = prefix.isEmpty() ? text(head, 0, 100) : prefix + "/" + text(head, 0, 100);
            Path path = folder.resolve(name).normalize();
            if (!path.startsWith(folder)) {
                throw new IOException("a name that leads out of the archive: " + name);
            }
            long size = octal(head, 124, 12);
            switch (head[156]) {
                case '5':
                    Files.createDirectories(path);
                    break;
                case '0':
                case 0:
                    file(in, path, size, octal(head, 100, 8));
                    break;
                default:
                    throw new IOException("neither a file nor a folder: " + name);
            }
        }
    }

    private static void file(InputStream in, Path path, long size, long mode) throws IOException {
        Files.createDirectories(path.getParent());
        try (var out = Files.newOutputStream(path)) {
            byte[] buffer = new byte[1 << 16];
            for (long left = size; left > 0; ) {
                int read = in.read(buffer, 0, (int) Math.min(buffer.length, left));
                if (read < 0) {
                    throw new EOFException("the archive ends in " + path.getFileName());
                }
                out.write(buffer, 0, read);
                left -= read;
            }
        }
        in.skipNBytes((BLOCK - size % BLOCK) % BLOCK);
        boolean executable = (mode & EXECUTABLE) != 0;
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(executable ? "rwxr-xr-x" : "rw-r--r--"));
    }

    private static String text(byte[] head, int from, int size) {
        byte[] field = Arrays.copyOfRange(head, from, from + size);
        int end = 0;
        while (end < size && field[end] != 0) {
            end++;
        }
        return new String(field, 0, end, StandardCharsets.UTF_8);
    }

    private static long octal(byte[] head, int from, int size) throws IOException {
        String digits = text(head, from, size).trim();
        try {
            return digits.isEmpty() ? 0 : Long.parseLong(digits, 8);
        } catch (NumberFormatException error) {
            throw new IOException("no number in the head of a file: " + digits, error);
        }
    }
}
