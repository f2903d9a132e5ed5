package dev.siphon.e2e.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.CapacityRange;
import csi.v1.ControllerExpandVolumeRequest;
import csi.v1.NodeGetVolumeStatsRequest;
import csi.v1.Volume;
import csi.v1.VolumeCapability;
import csi.v1.VolumeCapability.AccessMode.Mode;
import csi.v1.VolumeUsage;
import dev.siphon.e2e.driver.LeavesNothingBehind;
import dev.siphon.e2e.driver.NodeMounts;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.CephTree;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Lab;
import io.grpc.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// Volumes with data: their owners, their quotas, and concurrent use.
@ExtendWith(LeavesNothingBehind.class)
final class VolumeLifecycleIT {
    private static final int U1 = 10001;
    private static final int U2 = 10002;
    private static final Duration QUOTA_SEEN = Duration.ofSeconds(30);
    private static final Pattern KEY = Pattern.compile("key = (\\S+)");

    @Test
    void eachAccountHasItsOwn() {
        try (Setup setup = Setup.start()) {
            Path first = setup.mounts().mount(setup.volume("mine", "u1", Requests.GIB));
            Path second = setup.mounts().mount(setup.volume("mine", "u2", Requests.GIB));

            Contents.write(U1, first);

            assertEquals(Set.of("10001:10001"), Contents.owners(first));
            assertEquals(Set.of("10002:10002"), Contents.owners(second));
            assertNotEquals(0, Contents.as(U2, first, "ls").exit());
            assertNotEquals(0, Contents.as(U2, first, "cat dir/sub/small").exit());
            assertEquals(0, Contents.as(U2, second, "printf x > own").exit());
        }
    }

    @Test
    void expandUnderWriteEndsTheQuotaErrors() {
        try (Setup setup = Setup.start()) {
            long small = 32 * Requests.MIB;
            long large = 256 * Requests.MIB;
            Volume volume = setup.volume("grows", "u1", small);
            Path mounted = setup.mounts().mount(volume);
            Await.until(
                    "a write over quota is refused",
                    QUOTA_SEEN,
                    () -> Contents.as(
                                    U1,
                                    mounted,
                                    "dd if=/dev/zero of=full bs=1M count=16 oflag=append conv=notrunc,fsync")
                            .output()
                            .contains("quota exceeded"));

            var expanded = setup.controller()
                    .controller()
                    .controllerExpandVolume(ControllerExpandVolumeRequest.newBuilder()
                            .setVolumeId(volume.getVolumeId())
                            .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(large))
                            .setVolumeCapability(Requests.shared())
                            .build());

            assertEquals(large, expanded.getCapacityBytes());
            Await.until(
                    "writes go on",
                    QUOTA_SEEN,
                    () -> Contents.as(U1, mounted, "dd if=/dev/zero of=more bs=1M count=8 conv=fsync")
                                    .exit()
                            == 0);
            assertEquals(large, bytes(setup, volume, mounted).getTotal());
        }
    }

    @Test
    void staticVolumeHasStatsAndGrows() throws IOException {
        try (CephTree tree = CephTree.mount(Lab.here())) {
            Path made = Files.createDirectories(tree.at("/by-hand/data"));
            tree.setQuotaBytes("/by-hand/data", 64 * Requests.MIB);
            try (Setup setup = Setup.start();
                    NodeMounts mounts =
                            new NodeMounts(setup.node(), setup.folder().file("static"), administrator())) {
                Volume volume = Volume.newBuilder()
                        .setVolumeId("static:lab:" + Lab.here().fileSystem() + ":/by-hand/data")
                        .putVolumeContext("monitors", Lab.here().monitors())
                        .build();
                Path mounted = mounts.mount(volume);
                Files.writeString(mounted.resolve("seen"), "by both");
                assertEquals("by both", Files.readString(made.resolve("seen")));
                assertEquals(64 * Requests.MIB, bytes(setup, volume, mounted).getTotal());

                var expanded = setup.controller()
                        .controller()
                        .controllerExpandVolume(ControllerExpandVolumeRequest.newBuilder()
                                .setVolumeId(volume.getVolumeId())
                                .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(128 * Requests.MIB))
                                .build());

                assertEquals(128 * Requests.MIB, expanded.getCapacityBytes());
                Await.until(
                        "the node sees it",
                        QUOTA_SEEN,
                        () -> bytes(setup, volume, mounted).getTotal() == 128 * Requests.MIB);
                Outcome<?> deleted = Outcome.of(
                        () -> setup.controller().controller().deleteVolume(Requests.delete(volume.getVolumeId())));
                assertEquals(Status.Code.FAILED_PRECONDITION, deleted.code(), deleted.message());
                assertTrue(Files.exists(made.resolve("seen")));
            }
            Command.run("rm", "-r", tree.at("/by-hand").toString());
        }
    }

    @Test
    void singleWriterIsPublishedOnce() {
        try (Setup setup = Setup.start()) {
            VolumeCapability single = Requests.mount(Mode.SINGLE_NODE_SINGLE_WRITER);
            Volume volume = setup.volume(Requests.volume("single", "u1", Requests.GIB).toBuilder()
                    .clearVolumeCapabilities()
                    .addVolumeCapabilities(single)
                    .build());
            NodeMounts mounts = setup.mounts();
            mounts.stage(volume, single).get();
            mounts.publish(volume, single, "first").get();
            mounts.publish(volume, single, "first").get();

            Outcome<?> second = mounts.publish(volume, single, "second");

            assertEquals(Status.Code.FAILED_PRECONDITION, second.code(), second.message());
            assertFalse(Files.exists(mounts.target(volume, "second")));
            mounts.unpublish(volume, "first");
            mounts.publish(volume, single, "second").get();
        }
    }

    @Test
    void deletedVolumeIsGoneAndItsNameIsFree() {
        try (Setup setup = Setup.start()) {
            Volume volume = setup.volume("again", "u1", Requests.GIB);
            Path mounted = setup.mounts().mount(volume);
            Contents.write(U1, mounted);
            setup.mounts().unpublish(volume, "pod");
            setup.mounts().unstage(volume);
            setup.delete(volume);
            setup.delete(volume);

            Volume again = setup.volume("again", "u1", 2 * Requests.GIB);

            assertEquals(volume.getVolumeId(), again.getVolumeId());
            assertEquals(Map.of(), Contents.read(setup.mounts().mount(again)));
        }
    }

    /// Returns the bytes in the reply to NodeGetVolumeStats.
    private static VolumeUsage bytes(Setup setup, Volume volume, Path mounted) {
        return setup
                .node()
                .node()
                .nodeGetVolumeStats(NodeGetVolumeStatsRequest.newBuilder()
                        .setVolumeId(volume.getVolumeId())
                        .setVolumePath(mounted.toString())
                        .build())
                .getUsageList()
                .stream()
                .filter(usage -> usage.getUnit() == VolumeUsage.Unit.BYTES)
                .findFirst()
                .orElseThrow();
    }

    /// Returns the key of the lab's administrator, which opens paths outside of volumes.
    private static Map<String, String> administrator() throws IOException {
        var key = KEY.matcher(Files.readString(Lab.here().keyring()));
        assertTrue(key.find());
        return Map.of("userID", "admin", "userKey", key.group(1));
    }
}
