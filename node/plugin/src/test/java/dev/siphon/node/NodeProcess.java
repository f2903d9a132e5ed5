package dev.siphon.node;

import csi.v1.NodeGetVolumeHealthRequest;
import csi.v1.NodeGrpc;
import dev.siphon.csi.client.UnixSocketChannel;
import dev.siphon.csi.server.UnixEndpoint;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// Runs a node as a separate process, so that a test can kill it.
public final class NodeProcess implements AutoCloseable {
    private final Process process;
    private final UnixSocketChannel channel;
    private final Path log;

    private NodeProcess(Process process, UnixSocketChannel channel, Path log) {
        this.process = process;
        this.channel = channel;
        this.log = log;
    }

    /// Starts a node with its state, socket and log in `directory`.
    public static NodeProcess start(Path directory, String... arguments) {
        return start(directory, List.of(), arguments);
    }

    /// Starts a node as [#start(Path, String...)] does, with JVM options.
    public static NodeProcess start(Path directory, List<String> options, String... arguments) {
        try {
            Files.createDirectories(directory);
            Path socket = directory.resolve("csi.sock");
            Path log = directory.resolve("log");
            List<String> command = new ArrayList<>(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--enable-native-access=ALL-UNNAMED",
                    "-XX:+UseSerialGC",
                    "-XX:TieredStopAtLevel=1",
                    "-Xmx64m"));
            command.addAll(options);
            command.addAll(List.of(
                    "-cp",
                    System.getProperty("java.class.path"),
                    NodeTestMain.class.getName(),
                    "--endpoint=unix://" + socket,
                    "--node-id=test-node",
                    "--state-dir=" + directory.resolve("state"),
                    "--log-level=DEBUG"));
            command.addAll(List.of(arguments));
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                    .start();
            return new NodeProcess(process, UnixSocketChannel.open(UnixEndpoint.parse("unix://" + socket)), log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Returns a stub with a deadline of 60 s; the first call waits until the process serves.
    public NodeGrpc.NodeBlockingStub stub() {
        return NodeGrpc.newBlockingStub(channel.channel()).withWaitForReady().withDeadlineAfter(60, TimeUnit.SECONDS);
    }

    /// Returns a stub like [#stub()], with another deadline.
    public NodeGrpc.NodeBlockingStub stub(long seconds) {
        return NodeGrpc.newBlockingStub(channel.channel())
                .withWaitForReady()
                .withDeadlineAfter(seconds, TimeUnit.SECONDS);
    }

    /// Stages and publishes, as the kubelet does for a pod.
    public void stageAndPublish(Lab.Volume volume, Path staging, Path target) {
        var _ = stub().nodeStageVolume(Requests.stage(volume, staging));
        var _ = stub().nodePublishVolume(Requests.publish(volume, staging, target));
    }

    /// Unpublishes and unstages, as the kubelet does after a pod.
    public void unpublishAndUnstage(Lab.Volume volume, Path staging, Path target) {
        var _ = stub().nodeUnpublishVolume(Requests.unpublish(volume, target));
        var _ = stub().nodeUnstageVolume(Requests.unstage(volume, staging));
    }

    /// Returns the volume health that the node reports: the reasons as text.
    public String health(Lab.Volume volume) {
        return stub()
                .nodeGetVolumeHealth(NodeGetVolumeHealthRequest.newBuilder()
                        .setVolumeId(volume.id().toString())
                        .build())
                .getVolumeHealth()
                .getHealthStatusesList()
                .stream()
                .map(entry -> entry.getReason())
                .toList()
                .toString();
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
        process.destroyForcibly();
        end();
    }

    @Override
    public void close() {
        process.destroy();
        end();
    }

    private void end() {
        channel.close();
        try {
            if (!process.waitFor(30, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new IllegalStateException("the node did not end; " + log());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
