package dev.siphon.node;

import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.node.linux.TestJvm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Runs `siphon fuse` as a separate process, optionally in a memory group like the kubelet's for a container.
public final class FuseProcess implements AutoCloseable {
    private final Process process;
    private final Path socket;
    private final Path log;

    private FuseProcess(Process process, Path socket, Path log) {
        this.process = process;
        this.socket = socket;
        this.log = log;
    }

    /// Starts the process with its socket and log in `directory`, and waits until it serves.
    ///
    /// @param group the control group directory that the process joins
    public static FuseProcess start(Path directory, Optional<Path> group, String... arguments) {
        Path socket = directory.resolve("run/fuse.sock");
        Path log = directory.resolve("log");
        List<String> all = new ArrayList<>(List.of("--endpoint=unix://" + socket, "--log-level=DEBUG"));
        all.addAll(List.of(arguments));
        ProcessBuilder builder = TestJvm.of(FuseTestMain.class, all.toArray(String[]::new))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        group.ifPresent(each -> builder.command()
                .addAll(0, List.of("sh", "-c", "echo $$ >\"$0\"/cgroup.procs && exec \"$@\"", each.toString())));
        try {
            int before = Files.exists(log) ? Files.readString(log).length() : 0;
            FuseProcess started = new FuseProcess(builder.start(), socket, log);
            OpsPages.await(() -> {
                if (!started.process.isAlive()) {
                    throw new AssertionError(started.log());
                }
                return started.log().indexOf("\"started\"", before) >= 0;
            });
            return started;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Returns the address of its socket.
    public UnixEndpoint endpoint() {
        return UnixEndpoint.parse("unix://" + socket);
    }

    public long pid() {
        return process.pid();
    }

    public String log() {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Sends SIGKILL, and waits until the process is gone.
    public void kill() {
        TestJvm.kill(process);
    }

    @Override
    public void close() {
        kill();
    }
}
