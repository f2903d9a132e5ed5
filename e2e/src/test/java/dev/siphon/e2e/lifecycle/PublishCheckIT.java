package dev.siphon.e2e.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.CreateVolumeRequest;
import csi.v1.Volume;
import dev.siphon.e2e.driver.LeavesNothingBehind;
import dev.siphon.e2e.driver.NodeMounts;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Lab;
import io.grpc.Status.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/// Pods of one namespace try to use another account's volumes; the node enforces the controller's grants.
@ExtendWith(LeavesNothingBehind.class)
final class PublishCheckIT {
    private static final String POD_NAMESPACE = "csi.storage.k8s.io/pod.namespace";

    @Test
    void onlyNamespacesOfTheAccountMayUseItsVolumes(@TempDir Path shared) {
        List<String> flag = List.of("--grants-file=" + shared.resolve("grants.json"));
        try (Setup setup = Setup.start(flag, flag)) {
            Volume first = setup.volume(volume("of-u1", "user-u1"));
            Volume second = setup.volume(volume("of-u2", "user-u2"));
            setup.mounts().stage(first, Requests.shared()).get();
            setup.mounts().stage(second, Requests.shared()).get();

            assertEquals(Code.OK, publish(setup, first, "user-u1", "u1-own"));
            assertEquals(Code.OK, publish(setup, second, "user-u2", "u2-own"));
            assertEquals(Code.PERMISSION_DENIED, publish(setup, second, "user-u1", "u1-at-u2"));
            assertEquals(Code.PERMISSION_DENIED, publish(setup, first, "user-u2", "u2-at-u1"));
            assertEquals(Code.PERMISSION_DENIED, publish(setup, first, "user-u", "neither"));
            assertEquals(Code.OK, outcome(setup, first, first, "other-orchestrator"));
        }
    }

    @Test
    void whatAPersonWritesIntoAVolumeByHandIsCheckedToo(@TempDir Path shared) {
        List<String> flag = List.of("--grants-file=" + shared.resolve("grants.json"));
        try (Setup setup = Setup.start(flag, flag)) {
            Volume first = setup.volume(volume("of-u1", "user-u1"));
            Volume second = setup.volume(volume("of-u2", "user-u2"));
            String path = second.getVolumeContextOrThrow("mountPath");
            Volume fixed = Volume.newBuilder()
                    .setVolumeId("static:lab:" + Lab.here().fileSystem() + ":" + path)
                    .putVolumeContext("monitors", Lab.here().monitors())
                    .build();
            setup.mounts().stage(fixed, Requests.shared()).get();
            assertEquals(Code.PERMISSION_DENIED, publish(setup, fixed, "user-u1", "u1-at-static"));
            assertEquals(Code.OK, publish(setup, fixed, "user-u2", "u2-static"));

            setup.mounts().stage(first, Requests.shared()).get();
            Volume forged = first.toBuilder()
                    .putVolumeContext("mountPath", path)
                    .putVolumeContext("dataPath", second.getVolumeContextOrThrow("dataPath"))
                    .build();
            assertEquals(Code.PERMISSION_DENIED, publish(setup, forged, "user-u1", "u1-forged"));

            // two PVs of one id share a staging path: the other PV would show what the forged one stages
            setup.mounts().unstage(first);
            assertEquals(
                    Code.PERMISSION_DENIED,
                    setup.mounts().stage(forged, Requests.shared()).code());
        }
    }

    @Test
    void grantsOutliveTheControllerAndTheirFile(@TempDir Path shared) throws IOException {
        Path file = shared.resolve("grants.json");
        List<String> flag = List.of("--grants-file=" + file);
        try (Setup setup = Setup.start(flag, flag)) {
            Volume volume = setup.volume(volume("of-u1", "user-u1"));
            setup.mounts().stage(volume, Requests.shared()).get();
            Files.delete(file);
            assertEquals(Code.UNAVAILABLE, publish(setup, volume, "user-u1", "without-file"));
            setup.restartController(flag);
            Await.until(
                    "the file is back",
                    Duration.ofSeconds(30),
                    () -> publish(setup, volume, "user-u1", "again") == Code.OK);
            assertEquals(Code.PERMISSION_DENIED, publish(setup, volume, "user-u2", "still-not"));
            assertTrue(Files.readString(file).contains("\"user-u1\""));
        }
    }

    private static CreateVolumeRequest volume(String name, String namespace) {
        return Requests.volume(name, "unused", Requests.GIB).toBuilder()
                .putParameters("owner", "namespace-prefix:user-")
                .putParameters("csi.storage.k8s.io/pvc/namespace", namespace)
                .build();
    }

    private static Code publish(Setup setup, Volume volume, String namespace, String pod) {
        return outcome(
                setup,
                volume,
                volume.toBuilder().putVolumeContext(POD_NAMESPACE, namespace).build(),
                pod);
    }

    private static Code outcome(Setup setup, Volume volume, Volume asPublished, String pod) {
        NodeMounts mounts = setup.mounts();
        Outcome<?> outcome = mounts.publish(asPublished, Requests.shared(), pod);
        if (outcome.code() == Code.OK) {
            mounts.unpublish(volume, pod);
        }
        return outcome.code();
    }
}
