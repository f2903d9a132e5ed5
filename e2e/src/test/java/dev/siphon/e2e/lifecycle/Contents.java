package dev.siphon.e2e.lifecycle;

import dev.siphon.e2e.lab.Command;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/// Files in a mounted volume, written as by its owner's processes.
final class Contents {
    private static final String TREE = """
        set -e
        mkdir -p dir/sub 'with blank'
        head -c 3000000 /dev/urandom > dir/big
        printf hello > dir/sub/small
        : > 'with blank/empty'
        ln -s sub/small dir/link
        ln dir/big dir/sub/hard
        chmod 0640 dir/big
        chmod 0750 dir/sub
        """;

    private Contents() {}

    /// Runs a shell script in `folder` as `uid`, without capabilities.
    static Command.Result as(int uid, Path folder, String script) {
        return Command.attempt(
                "setpriv",
                "--reuid=" + uid,
                "--regid=" + uid,
                "--clear-groups",
                "sh",
                "-c",
                "cd \"$1\" || exit 99\n" + script,
                "sh",
                folder.toString());
    }

    /// Fills a volume with files of several kinds.
    static void write(int uid, Path folder) {
        Command.Result result = as(uid, folder, TREE);
        if (result.exit() != 0) {
            throw new AssertionError("writing as " + uid + ": " + result.output());
        }
    }

    /// Returns what is below a folder: path to kind, mode and contents, without owners and times.
    static Map<String, String> read(Path folder) {
        Map<String, String> found = new TreeMap<>();
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path path : all.filter(each -> !each.equals(folder)).toList()) {
                found.put(folder.relativize(path).toString(), describe(path));
            }
            return found;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String describe(Path path) throws IOException {
        if (Files.isSymbolicLink(path)) {
            return "-> " + Files.readSymbolicLink(path);
        }
        String mode = Files.getPosixFilePermissions(path).toString();
        return Files.isDirectory(path)
                ? "directory " + mode
                : "file " + mode + " " + java.util.Arrays.hashCode(Files.readAllBytes(path));
    }

    /// Returns the distinct owners, as `uid:gid`, of a folder and everything below it.
    static java.util.Set<String> owners(Path folder) {
        java.util.Set<String> owners = new java.util.TreeSet<>();
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path path : all.toList()) {
                owners.add(Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS) + ":"
                        + Files.getAttribute(path, "unix:gid", LinkOption.NOFOLLOW_LINKS));
            }
            return owners;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
