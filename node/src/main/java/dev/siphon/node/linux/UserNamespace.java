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

/// A user namespace that knows one uid and one gid, in which nobody runs: it tells the kernel whose files a mount
/// is to show as whose ([DetachedMount#restrict(java.util.Set, UserNamespace)]).
///
/// The kernel makes one only for a process, so there is a child for a moment. It waits at its stdin, and so goes
/// with this process, however that ends.
public final class UserNamespace implements AutoCloseable {
    /// unshare(1) of util-linux becomes the next program without another fork, so the child has one process id.
    private static final List<String> COMMAND = List.of("unshare", "--user", "cat");

    private static final int MAX_SAID_BYTES = 500;

    private final Descriptor descriptor;

    private UserNamespace(Descriptor descriptor) {
        this.descriptor = descriptor;
    }

    /// Makes one by which a mount shows what `stored` owns as owned by `shown`, and what anybody else owns as
    /// nobody's.
    ///
    /// @param limit for the child to come up; it is ended then
    /// @throws UncheckedIOException if this process may not make one, with the reason
    public static UserNamespace mapping(FileOwner stored, FileOwner shown, Duration limit) {
        return mapping(COMMAND, stored, shown, limit);
    }

    /// @param command becomes the child, which gives back what it reads
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

    /// The child gives back what it reads once it is in its namespace.
    private static void awaitReady(OutputStream in, InputStream out) throws IOException {
        try {
            in.write('\n');
            in.flush();
        } catch (IOException _) {
            // it has ended, and what it said tells why
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

    /// user_namespaces(7): the first number is the one that is stored, as the namespace sees it, the second the
    /// one that everybody else sees.
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
