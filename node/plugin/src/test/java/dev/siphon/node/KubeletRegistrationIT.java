package dev.siphon.node;

import static dev.siphon.node.OpsPages.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.NodeGetInfoRequest;
import dev.siphon.csi.client.UnixSocketChannel;
import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.node.linux.Workplace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import pluginregistration.v1.InfoRequest;
import pluginregistration.v1.RegistrationGrpc;
import pluginregistration.v1.RegistrationGrpc.RegistrationBlockingStub;
import pluginregistration.v1.RegistrationStatus;

/// A node process registers with the test as the kubelet; checks `/readyz`, `/metrics` and the log.
final class KubeletRegistrationIT {
    private static final String WHY = "plugin registration failed with err: no \"node id\"";

    private final Workplace workplace = Workplace.create();
    private final Path folder = workplace.directory("plugins_registry");

    @AfterEach
    void close() {
        workplace.close();
    }

    @Test
    void theKubeletsWordDecidesWhetherTheNodeIsReady() throws IOException {
        Path csi = workplace.path("node").resolve("csi.sock");
        try (NodeProcess node = NodeProcess.start(
                        workplace.path("node"),
                        "--kubelet-registration-dir=" + folder,
                        "--kubelet-endpoint=unix:///as/the/kubelet/sees/it/csi.sock");
                OpsPages pages = new OpsPages(node)) {
            Path socket = folder.resolve("cephfs.siphon.dev-reg.sock");
            await(() -> Files.exists(socket));
            // whoever learns of the CSI socket may call it at once
            assertTrue(Files.exists(csi));
            assertEquals(
                    "test-node",
                    node.stub()
                            .nodeGetInfo(NodeGetInfoRequest.getDefaultInstance())
                            .getNodeId());
            assertEquals(
                    "/as/the/kubelet/sees/it/csi.sock",
                    kubelet(socket, stub -> stub.getInfo(InfoRequest.getDefaultInstance()))
                            .getEndpoint());
            await(() -> pages.ready().contains("the kubelet has not registered the driver yet"));

            Object first = changed(socket);
            say(socket, RegistrationStatus.newBuilder().setError(WHY));
            await(() -> pages.ready().contains(WHY));
            assertEquals("0.0", pages.metric("siphon_kubelet_registered"));
            assertTrue(node.log()
                    .lines()
                    .anyMatch(line -> line.contains("\"ERROR\"")
                            && line.contains("refused by the kubelet")
                            && line.contains("plugin registration failed")));
            await(() -> Files.exists(socket) && !changed(socket).equals(first));

            say(socket, RegistrationStatus.newBuilder().setPluginRegistered(true));
            await(() -> pages.ready().startsWith("200 "));
            assertEquals("1.0", pages.metric("siphon_kubelet_registered"));
            assertEquals("1.0", pages.metric("siphon_kubelet_registrations_total{result=\"refused\"}"));
        }
        try (var left = Files.list(folder)) {
            assertEquals(0, left.count());
        }
        assertFalse(Files.exists(csi));
    }

    @Test
    void withoutAFolderToRegisterInTheNodeDoesNotStart() {
        try (NodeProcess node =
                NodeProcess.start(workplace.path("node"), "--kubelet-registration-dir=" + workplace.path("nowhere"))) {
            await(() -> node.log().contains("nowhere of the socket does not exist"));
        }
        assertFalse(Files.exists(workplace.path("node").resolve("csi.sock")));
    }

    private static void say(Path socket, RegistrationStatus.Builder status) {
        var _ = kubelet(socket, stub -> stub.notifyRegistrationStatus(status.build()));
    }

    private static <T> T kubelet(Path socket, Function<RegistrationBlockingStub, T> call) {
        try (UnixSocketChannel channel = UnixSocketChannel.open(new UnixEndpoint(socket))) {
            return call.apply(
                    RegistrationGrpc.newBlockingStub(channel.channel()).withDeadlineAfter(10, TimeUnit.SECONDS));
        }
    }

    private static Object changed(Path socket) {
        try {
            return Files.getAttribute(socket, "unix:ctime", LinkOption.NOFOLLOW_LINKS);
        } catch (IOException e) {
            return e; // between two sockets
        }
    }
}
