package dev.siphon.e2e.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.CapacityRange;
import csi.v1.ControllerExpandVolumeRequest;
import csi.v1.CreateVolumeRequest;
import csi.v1.DeleteVolumeRequest;
import csi.v1.Volume;
import dev.siphon.csi.VolumeId;
import dev.siphon.e2e.driver.LeavesNothingBehind;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.driver.Requests;
import io.grpc.Status.Code;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// Homes: one per account, whatever comes and goes.
@ExtendWith(LeavesNothingBehind.class)
final class HomesIT {
    private static final int U1 = 10001;

    @Test
    void severalVolumesOfOneAccountAreOneHomeThatStays() {
        try (Setup setup = Setup.start()) {
            Volume first = setup.volume(home("pvc-1", Requests.GIB));
            setup.atEnd(() -> deleteHome(setup, first));
            setup.atEnd(() -> setup.delete(first));
            Volume second = setup.volume(home("pvc-2", 2 * Requests.GIB));
            assertNotEquals(first.getVolumeId(), second.getVolumeId());
            assertEquals(first.getVolumeContextMap(), second.getVolumeContextMap());
            Path here = setup.mounts().mount(first);
            Contents.write(U1, here);
            Map<String, String> written = Contents.read(here);
            assertEquals(written, Contents.read(setup.mounts().mount(second)));

            unmount(setup, first);
            unmount(setup, second);
            setup.delete(first);
            setup.delete(second);
            Volume third = setup.volume(home("pvc-3", Requests.GIB));

            assertEquals(2 * Requests.GIB, third.getCapacityBytes());
            assertEquals(written, Contents.read(setup.mounts().mount(third)));
            unmount(setup, third);
            setup.delete(third);
        }
    }

    @Test
    void aHomeGrowsAndIsRemovedOnlyOnPurpose() {
        try (Setup setup = Setup.start()) {
            Volume door = setup.volume(home("pvc-1", Requests.GIB));
            setup.atEnd(() -> deleteHome(setup, door));
            setup.atEnd(() -> setup.delete(door));
            String home = homeOf(door);
            var grown = setup.controller()
                    .controller()
                    .controllerExpandVolume(ControllerExpandVolumeRequest.newBuilder()
                            .setVolumeId(door.getVolumeId())
                            .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(3 * Requests.GIB))
                            .build());
            assertEquals(3 * Requests.GIB, grown.getCapacityBytes());

            assertEquals(
                    Code.FAILED_PRECONDITION,
                    delete(setup, Requests.delete(home)).code());
            Outcome<?> used = delete(setup, deletion(home));
            assertEquals(Code.FAILED_PRECONDITION, used.code());
            assertTrue(used.message().contains(door.getVolumeId()), used.message());
            Outcome<?> snapshot = Outcome.of(() ->
                    setup.controller().controller().createSnapshot(Requests.snapshot("of-a-door", door.getVolumeId())));
            assertEquals(Code.INVALID_ARGUMENT, snapshot.code());
        }
    }

    private static CreateVolumeRequest home(String name, long bytes) {
        return Requests.volume(name, "u1", bytes).toBuilder()
                .putParameters("kind", "home")
                .build();
    }

    private static void unmount(Setup setup, Volume volume) {
        setup.mounts().unpublish(volume, "pod");
        setup.mounts().unstage(volume);
    }

    private static String homeOf(Volume door) {
        if (!(VolumeId.parse(door.getVolumeId()) instanceof VolumeId.Provisioned id)) {
            throw new AssertionError(door.getVolumeId());
        }
        return new VolumeId.Provisioned(
                        id.cluster(), id.fileSystem(), id.group(), door.getVolumeContextOrThrow("dataPath"))
                .toString();
    }

    private static DeleteVolumeRequest deletion(String home) {
        return Requests.delete(home).toBuilder().putSecrets("deleteHome", home).build();
    }

    private static void deleteHome(Setup setup, Volume door) {
        delete(setup, deletion(homeOf(door))).get();
    }

    private static Outcome<?> delete(Setup setup, DeleteVolumeRequest request) {
        return Outcome.of(() -> setup.controller().controller().deleteVolume(request));
    }
}
