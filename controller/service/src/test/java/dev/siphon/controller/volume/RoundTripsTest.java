package dev.siphon.controller.volume;

import static dev.siphon.controller.volume.World.GIB;
import static dev.siphon.controller.volume.World.filledFrom;
import static dev.siphon.controller.volume.World.readOnly;
import static dev.siphon.controller.volume.World.request;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.controller.volume.VolumeClass.MutableParameters;
import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.controller.volume.VolumeRequest.ClaimAccessMode;
import dev.siphon.controller.volume.VolumeRequest.ContentSource;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The calls to Ceph of each operation; each method call of a port is one round trip.
final class RoundTripsTest {
    private final World world = new World();
    private final List<String> calls = new ArrayList<>();
    private VolumeId.Provisioned volume = World.unused();

    @BeforeEach
    void startAfterAVolume() {
        volume = world.volumeWithFile("pvc-1");
        start();
    }

    private void start() {
        world.restart((call, make) -> {
            // the client caches a group's notes as long as nobody changes them
            if (!call.method().equals("note")) {
                calls.add(call.method());
            }
            return make.get();
        });
    }

    private void assertCalls(Runnable operation, String... expected) {
        calls.clear();
        operation.run();
        assertEquals(List.of(expected), calls);
    }

    @Test
    void createVolume() {
        assertCalls(
                () -> world.create(request("a", Map.of("owner", "u2"))), "list", "createGroup", "setNote", "create");
        assertCalls(() -> world.create(request("b", Map.of("owner", "u2"))), "create");
        assertCalls(() -> world.create(request("c", Map.of("owner", "u2"))), "create");
        assertCalls(() -> world.create(request("b", Map.of("owner", "u2"))), "find");
        start();
        assertCalls(() -> world.create(request("b", Map.of("owner", "u2"))), "list", "find");
        assertCalls(
                () -> world.create(request("d", Map.of("owner", "u2", "quotaFiles", "5"))),
                "create",
                "find",
                "setQuotaFiles",
                "setMode");
        assertCalls(() -> world.create(request("d", Map.of("owner", "u2", "quotaFiles", "5"))), "find", "quotaFiles");
        assertCalls(() -> world.create(request("e", Map.of("owner", "u2", "mode", "0755"))), "create");
    }

    @Test
    void theNumberOfVolumesDoesNotMatter() {
        world.create(request("first"));
        for (int i = 0; i < 500; i++) {
            String name = "many-" + i;
            assertCalls(() -> world.create(request(name)), "create");
        }
        assertCalls(() -> world.domain.volumes().delete(volume), "flatten", "remove");
    }

    @Test
    void changesOfOneVolume() {
        assertCalls(() -> world.domain.volumes().get(volume), "find");
        assertCalls(
                () -> world.domain.volumes().expand(volume, new CapacityRange(2 * GIB, 0)),
                "find",
                "holdings",
                "resize");
        assertCalls(() -> world.domain.volumes().expand(volume, new CapacityRange(3 * GIB, 0)), "find", "resize");
        assertCalls(() -> world.domain.volumes().expand(volume, new CapacityRange(3 * GIB, 0)), "find");
        assertCalls(
                () -> world.domain
                        .volumes()
                        .modify(volume, new MutableParameters(OptionalLong.of(3), OptionalInt.of(0711))),
                "find",
                "setQuotaFiles",
                "setMode");
        assertCalls(() -> world.domain.health().of(volume), "find");
        assertCalls(() -> world.domain.volumes().delete(volume), "flatten", "remove");
        assertCalls(() -> world.domain.volumes().delete(volume), "flatten", "remove");
    }

    @Test
    void snapshots() {
        assertCalls(
                () -> world.snapshot(volume, "snap"),
                "find",
                "holdings",
                "createSnapshot",
                "findSnapshot",
                "dataDirectory",
                "quotaBytes",
                "takenAt");
        SnapshotId snapshot = world.snapshot(volume, "snap");
        assertCalls(
                () -> world.domain.snapshots().find(snapshot),
                "findSnapshot",
                "dataDirectory",
                "quotaBytes",
                "takenAt");
        assertCalls(() -> world.domain.snapshots().delete(snapshot), "list", "removeSnapshot");
        assertCalls(() -> world.domain.snapshots().delete(snapshot), "removeSnapshot");
    }

    @Test
    void groupsOfSnapshots() {
        VolumeId.Provisioned other = world.create(request("pvc-2"));
        List<VolumeId> both = List.of(volume, other);
        assertCalls(
                () -> world.domain.groupSnapshots().create("group", both),
                "findSnapshot",
                "findSnapshot",
                "find",
                "find",
                "acquire",
                "createSnapshot",
                "createSnapshot",
                "release",
                "findSnapshot",
                "dataDirectory",
                "quotaBytes",
                "takenAt",
                "findSnapshot",
                "dataDirectory",
                "quotaBytes",
                "takenAt");
        var group = world.domain.groupSnapshots().create("group", both);
        List<SnapshotId> ids = group.snapshots().stream().map(SnapshotView::id).toList();
        assertCalls(
                () -> world.domain.groupSnapshots().delete(group.id(), ids),
                "findSnapshot",
                "findSnapshot",
                "removeSnapshot",
                "removeSnapshot");
    }

    @Test
    void volumesWithContents() {
        SnapshotId snapshot = world.snapshot(volume, "snap");
        world.ceph.clonesTake(0);
        assertCalls(
                () -> world.create(filledFrom(new ContentSource.FromSnapshot(snapshot), request("copy"))),
                "list",
                "find",
                "findSnapshot",
                "dataDirectory",
                "quotaBytes",
                "startClone",
                "cloneProgress",
                "findSnapshot",
                "resize",
                "setNote");
        assertCalls(
                () -> world.create(filledFrom(new ContentSource.FromSnapshot(snapshot), request("copy"))),
                "find",
                "notes");
        assertCalls(
                () -> world.create(filledFrom(new ContentSource.FromVolume(volume), request("clone"))),
                "find",
                "createSnapshot",
                "startClone",
                "cloneProgress",
                "findSnapshot",
                "resize",
                "setNote",
                "removeSnapshot");
        assertCalls(
                () -> world.create(readOnly(filledFrom(new ContentSource.FromSnapshot(snapshot), request("view")))),
                "find",
                "findSnapshot",
                "dataDirectory",
                "quotaBytes",
                "create");
    }

    @Test
    void attachments() {
        String node = "node-1@192.0.2.1";
        assertCalls(
                () -> world.domain.attachments().attach(volume, node, ClaimAccessMode.SINGLE_NODE_WRITER, false),
                "notes",
                "setNote");
        assertCalls(() -> world.domain.attachments().nodes(volume), "notes");
        assertCalls(() -> world.domain.attachments().nodes(volume));
        assertCalls(() -> world.domain.attachments().detach(volume, Optional.of(node)), "notes", "fence", "removeNote");
    }

    @Test
    void lists() {
        world.create(request("pvc-2"));
        start();
        assertCalls(() -> world.domain.listings().volumes(0, ""), "groups", "list", "find", "find");
        assertCalls(() -> world.domain.listings().volumes(0, ""), "groups");
        assertCalls(() -> world.domain.listings().snapshots(0, "", Optional.of(volume)), "snapshots");
        assertCalls(() -> world.domain.health().list(0, ""), "groups", "find", "find");
        assertCalls(() -> world.domain.capacities().available(ClassParameters.parse(Map.of())), "availableBytes");
    }
}
