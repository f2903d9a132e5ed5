package dev.siphon.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.siphon.node.linux.KernelLog;
import dev.siphon.node.linux.Workplace;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Where a volume's key must not appear, during a mount and afterwards.
class NodeSecretsIT {
    private static final long MIB = 1 << 20;

    private final Workplace workplace = Workplace.create();
    private final NodeProcess node = NodeProcess.start(workplace.directory("node"), "--mount-timeout=5");
    private final Path staging = workplace.directory("staging");

    @AfterEach
    void leaveNothing() {
        node.close();
        workplace.close();
    }

    @Test
    void theKeyIsInNoArgumentEnvironmentLogOrFile() throws Exception {
        Lab.Volume volume = Lab.createVolume(Lab.createGroup(64 * MIB), 32 * MIB);
        String key = volume.secrets().getOrDefault("userKey", "");
        KernelLog kernel = KernelLog.fromNow();
        KeyWatch watch = new KeyWatch(key);

        for (int i = 0; i < 3; i++) {
            node.stub().nodeStageVolume(Requests.stage(volume, staging));
            assertEquals(List.of(), watch.seen());
            assertFalse(Files.readString(Path.of("/proc/self/mountinfo")).contains(key), "in the mount table");
            node.stub().nodeUnstageVolume(Requests.unstage(volume, staging));
        }
        refusedWithoutKey(volume, key);
        watch.close();
        assertEquals(List.of(), watch.seen());
        assertFalse(node.log().contains(key), "in the log");
        assertFalse(String.join("\n", kernel.said()).contains(key.substring(0, 20)), "in the kernel's log");
        kernel.close();
        assertEquals(List.of(), filesWith(key));
    }

    /// Makes staging fail in many ways, and checks that no error contains the key.
    private void refusedWithoutKey(Lab.Volume volume, String key) {
        Map<String, String> stranger = new HashMap<>(volume.secrets());
        stranger.put("userID", "stranger");
        Map<String, String> swapped = new HashMap<>(volume.secrets());
        swapped.put("userID", key);
        Map<String, String> malformed = new HashMap<>(volume.secrets());
        malformed.put("userKey", key + "=");
        List<Lab.Volume> attempts = List.of(
                new Lab.Volume(volume.id(), volume.path(), volume.context(), stranger),
                new Lab.Volume(volume.id(), volume.path(), volume.context(), swapped),
                new Lab.Volume(volume.id(), volume.path(), volume.context(), malformed),
                volume.with(Map.of("dataPath", "none")),
                volume.with(Map.of("mountPath", "/volumes/none")),
                volume.with(Map.of("monitors", "127.0.0.1:9")),
                volume.with(Map.of("mountOptions", "name=other")));
        for (Lab.Volume attempt : attempts) {
            StatusRuntimeException e = assertThrows(
                    StatusRuntimeException.class, () -> node.stub().nodeStageVolume(Requests.stage(attempt, staging)));
            assertFalse(String.valueOf(e.getMessage()).contains(key.substring(0, 20)), "in a message");
        }
    }

    private List<Path> filesWith(String key) throws IOException {
        try (Stream<Path> files = Files.walk(workplace.path("node"))) {
            return files.filter(Files::isRegularFile)
                    .filter(file -> KeyWatch.holds(file, key))
                    .toList();
        }
    }
}
