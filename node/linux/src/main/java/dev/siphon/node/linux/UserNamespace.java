package dev.siphon.node.linux;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// A user namespace that maps one uid and one gid and contains no process. It defines which owner a mount shows for
/// which ([DetachedMount#restrict(java.util.Set, UserNamespace)]).
///
/// The kernel creates one only for a process, so a child runs for a moment. It waits on its stdin, and so ends with
/// this process in every case.
public final class UserNamespace implements AutoCloseable {
    /// unshare(1) of util-linux runs the next program without another fork, so the child keeps its process id.
    private static final List<String> COMMAND = List.of("unshare", "--user", "cat");

    private static final int MAX_SAID_BYTES = 500;

    private final Descriptor descriptor;

    private UserNamespace(Descriptor descriptor) {
        this.descriptor = descriptor;
    }

    /// Creates a namespace by which a mount shows the files of `stored` as those of `shown`, and all others as
    /// nobody's.
    ///
    /// @param limit the time for the child to start; it is killed after that
    /// @throws UncheckedIOException with the reason, if this process may not create one
    public static UserNamespace mapping(FileOwner stored, FileOwner shown, Duration limit) {
        return mapping(COMMAND, stored, shown, limit);
    }

    /// @param command runs as the child, which echoes its input
    static UserNamespace mapping(List<String> command, FileOwner stored, FileOwner shown, Duration limit) {
        Process child = start(command);
        var _ = child.onExit()
                .orTimeout(limit.toMillis(), TimeUnit.MILLISECONDS)
                .exceptionally(_ -> child.destroyForcibly());
        try {
            awaitReady(child.getOutputStream(), child.getInputStream());
            map(child, "uid_map", stored.uid(), shown.uid());
            map(child, "gid_map", stored.gid(), shown.gid());
            return new UserNamespace(Descriptor.open("/proc/" + child.pid() + "/ns/user", 0));
        } catch (IOException e) {
            throw new UncheckedIOException(e.getMessage(), e);
        } catch (ErrnoException e) {
            throw new UncheckedIOException(e.getMessage(), new IOException(e));
        } finally {
            child.destroyForcibly();
        }
    }

    private static Process start(List<String> command) {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> !name.equals("PATH"));
        try {
            return builder.start();
        } catch (IOException e) {
            throw new UncheckedIOException(e.getMessage(), e);
        }
    }

    /// Waits until the child echoes its input, which it does once it is in its namespace.
    private static void awaitReady(OutputStream in, InputStream out) throws IOException {
        try {
            in.write('\n');
            in.flush();
        } catch (IOException _) {
            // it has ended; its output says why
        }
        int first = out.read();
        if (first != '\n') {
            String rest = new String(out.readNBytes(MAX_SAID_BYTES), StandardCharsets.UTF_8);
            throw new IOException(
                    first < 0
                            ? "it was ended at its deadline"
                            : ((char) first + rest.lines().findFirst().orElse("")));
        }
    }

    /// user_namespaces(7): the first number is the one inside the namespace, here the stored one; the second is the
    /// one outside, here the one to show.
    private static void map(Process child, String file, long stored, long shown) throws IOException {
        Files.writeString(
                Path.of("/proc", Long.toString(child.pid()), file),
                stored + " " + shown + " 1\n",
                StandardOpenOption.WRITE);
    }

    int number() {
        return descriptor.number();
    }

    @Override
    public void close() {
        descriptor.close();
    }
}
