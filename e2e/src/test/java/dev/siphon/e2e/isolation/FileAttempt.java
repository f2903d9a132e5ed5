package dev.siphon.e2e.isolation;

import dev.siphon.e2e.isolation.Verdict.By;
import dev.siphon.e2e.lab.Command;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/// An access to files through the attacker's own mount.
interface FileAttempt {
    /// @param root the mount
    /// @throws IOException if the access is refused
    void in(Path root) throws IOException;

    /// Mounts, tries, and unmounts. The MDS decides about directories, the OSDs about the contents of files.
    static Verdict of(KeyHolder who, String directory, FileAttempt attempt) {
        try (KeyHolder.Mounted mounted = who.mount(directory)) {
            attempt.in(mounted.root());
            return new Verdict.Done();
        } catch (ContentsRefused e) {
            return Verdict.refused(By.OSD, e.toString());
        } catch (IOException e) {
            return Verdict.refused(
                    By.MDS, e instanceof java.nio.file.AccessDeniedException ? "permission denied" : e.toString());
        } catch (KeyHolder.Refused e) {
            return Verdict.refused(By.MDS, String.valueOf(e.getMessage()));
        }
    }

    /// A file that could be opened but not read.
    final class ContentsRefused extends IOException {
        private static final long serialVersionUID = 1L;

        ContentsRefused(IOException cause) {
            super(cause.toString(), cause);
        }
    }

    /// Reads a volume's secret.
    static void read(Path file) throws IOException {
        try (FileChannel open = FileChannel.open(file)) {
            ByteBuffer buffer = ByteBuffer.allocate(64);
            try {
                var _ = open.read(buffer);
            } catch (IOException e) {
                throw new ContentsRefused(e);
            }
            String found = new String(buffer.array(), 0, buffer.position(), StandardCharsets.UTF_8);
            if (!found.equals(Target.SECRET)) {
                throw new AssertionError(file + " holds other things than expected: " + found);
            }
        }
    }

    /// Lists a directory with the sizes of its files.
    static void list(Path folder) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            for (Path each : all.toList()) {
                var _ = Files.size(each);
            }
        }
    }

    /// Sets one of Ceph's extended attributes, which the JDK cannot.
    static void setAttribute(Path path, String name, String value) throws IOException {
        String program = "import os, sys; os.setxattr(sys.argv[1], sys.argv[2], sys.argv[3].encode())";
        Command.Result said = Command.attempt("python3", "-c", program, path.toString(), name, value);
        if (said.exit() != 0) {
            throw new IOException(said.output());
        }
    }

    /// Replaces a directory by a symlink, and undoes that if it succeeds.
    static void replaceByLink(Path directory, String to) throws IOException {
        Path aside = directory.resolveSibling("aside");
        Files.move(directory, aside);
        Files.createSymbolicLink(directory, Path.of(to));
        Files.delete(directory);
        Files.move(aside, directory);
    }

    /// Overwrites a file, and undoes that if it succeeds.
    static void overwrite(Path file, String text) throws IOException {
        String before = Files.exists(file) ? Files.readString(file) : "";
        Files.writeString(file, text);
        Files.writeString(file, before);
    }
}
