package dev.siphon.node.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.check.CheckOutcome;
import dev.siphon.csi.check.Checklist;
import dev.siphon.csi.server.DriverName;
import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.node.registration.KubeletPlugin;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class HostChecksTest {
    @TempDir
    private Path folder = Path.of("");

    private Path registry = Path.of("");

    @BeforeEach
    void kubelet() throws IOException {
        registry = Files.createDirectory(folder.resolve("plugins_registry"));
        Files.createDirectory(folder.resolve("pod-resources"));
    }

    private List<String> look(Optional<KubeletPlugin> registration) {
        return look(registration, Optional.empty());
    }

    private List<String> look(Optional<KubeletPlugin> registration, Optional<UnixEndpoint> supervisor) {
        Checklist list = new Checklist(Duration.ofSeconds(5));
        new HostChecks(folder.resolve("state"), registration, registration.map(KubeletPlugin::podResources), supervisor)
                .run(list);
        return list.table().text();
    }

    private Optional<KubeletPlugin> plugin(Path registrations) {
        return Optional.of(
                KubeletPlugin.in(registrations, new DriverName("cephfs.siphon.dev"), folder.resolve("csi.sock")));
    }

    @Test
    void withoutAKubeletThereIsNothingToLookAt() {
        List<String> lines = look(Optional.empty());
        assertTrue(lines.get(1).contains("ok") && lines.get(1).contains("made at the first start"), lines.get(1));
        assertTrue(lines.get(3).contains("skipped  because --kubelet-registration-dir"), lines.get(3));
        assertTrue(lines.get(4).contains("skipped  because --kubelet-registration-dir"), lines.get(4));
        assertTrue(lines.get(2).contains("skipped  because --fuse-socket"), lines.get(2));
        assertEquals(false, Files.exists(folder.resolve("state")), "it changes nothing");
    }

    @Test
    void theKubeletsSocketIsBesideItsFolderForRegistrations() throws IOException {
        String silent = look(plugin(registry)).get(4);
        assertTrue(silent.contains("failed") && silent.contains("--pod-resources"), silent);
        Path socket = folder.resolve("pod-resources/kubelet.sock");
        try (ServerSocketChannel kubelet = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            kubelet.bind(UnixDomainSocketAddress.of(socket));
            List<String> lines = look(plugin(registry));
            assertTrue(lines.get(3).contains("ok") && lines.get(3).contains("socket yet"), lines.get(3));
            assertTrue(lines.get(4).contains("ok") && lines.get(4).contains(socket + " answers"), lines.get(4));
        }
    }

    @Test
    void whoRunsFuseProcessesHasToAnswer() throws IOException {
        Path socket = folder.resolve("fuse.sock");
        Optional<UnixEndpoint> endpoint = Optional.of(UnixEndpoint.parse("unix://" + socket));
        String silent = look(Optional.empty(), endpoint).get(2);
        assertTrue(silent.contains("failed") && silent.contains("siphon-fuse"), silent);
        try (ServerSocketChannel supervisor = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            supervisor.bind(UnixDomainSocketAddress.of(socket));
            String line = look(Optional.empty(), endpoint).get(2);
            assertTrue(line.contains("ok") && line.contains(socket + " answers"), line);
        }
    }

    @Test
    void aFolderThatIsNotThereIsNoKubelets() {
        String line = look(plugin(folder.resolve("nowhere"))).get(3);
        assertTrue(line.contains("failed") && line.contains("plugins_registry (below its --root-dir)"), line);
    }

    @Test
    void theStateDirectoryIsRootsAlone() {
        Path state = Path.of("/s");
        assertInstanceOf(CheckOutcome.Ok.class, HostChecks.judge(state, 0, "rwx------", true));
        assertInstanceOf(CheckOutcome.Failed.class, HostChecks.judge(state, 0, "rwx------", false));
        for (CheckOutcome open : List.of(
                HostChecks.judge(state, 0, "rwxr-xr-x", true), HostChecks.judge(state, 1000, "rwx------", true))) {
            assertTrue(open instanceof CheckOutcome.Failed failed
                    && failed.remedy().contains("chmod 0700 /s"));
        }
    }
}
