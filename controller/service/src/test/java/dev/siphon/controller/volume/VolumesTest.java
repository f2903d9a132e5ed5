package dev.siphon.controller.volume;

import static dev.siphon.controller.volume.World.GIB;
import static dev.siphon.controller.volume.World.request;
import static dev.siphon.controller.volume.World.sized;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.volume.VolumeClass.MutableParameters;
import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.controller.volume.Volumes.Volume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

final class VolumesTest {
    private static final VolumeId.Provisioned ELSEWHERE =
            new VolumeId.Provisioned("other", "fs", "a".repeat(21), "v".repeat(21));

    private final World world = new World();

    @Test
    void createTwiceReturnsTheSameVolume() {
        Volume first = world.domain.volumes().create(request("pvc-1"));
        Volume second = world.domain.volumes().create(request("pvc-1"));
        assertEquals(first, second);
        world.restart();
        assertEquals(first, world.domain.volumes().create(request("pvc-1")));
        assertEquals(1, world.ceph.everything().size());
    }

    @Test
    void namesAreAnAccountsOwn() {
        VolumeId.Provisioned mine = world.create(request("pvc-1"));
        VolumeId.Provisioned yours = world.create(request("pvc-1", Map.of("owner", "u2")));
        assertNotEquals(mine.group(), yours.group());
        assertNotEquals(mine.subvolume(), yours.subvolume(), "Ceph 18 names RADOS namespaces after subvolumes alone");
    }

    @Test
    void theContextTellsANodeWhatItNeeds() {
        Volume made = world.domain
                .volumes()
                .create(request(
                        "pvc-1",
                        Map.of("mountOptions", "noatime,rsize=4096", "mounter", "fuse", "containerUser", "root")));
        VolumeId.Provisioned id = (VolumeId.Provisioned) made.id();
        assertEquals(
                Map.of(
                        "monitors", "192.0.2.1",
                        "fsName", "fs",
                        "mountPath", "/volumes/" + id.group(),
                        "dataPath", id.subvolume(),
                        "mounter", "fuse",
                        "mountOptions", "noatime,rsize=4096",
                        "owner", "u1",
                        "containerUser", "0:0"),
                made.context().orElseThrow().toMap());
    }

    @Test
    void anExistingVolumeIsNeverResizedByCreate() {
        VolumeId.Provisioned id = world.create(request("pvc-1"));
        world.domain.volumes().expand(id, new CapacityRange(5 * GIB, 0));
        world.restart();
        assertEquals(5 * GIB, world.domain.volumes().create(request("pvc-1")).capacityBytes());
        assertEquals(5 * GIB, world.domain.volumes().get(id).capacityBytes());
    }

    @Test
    void whatWasModifiedIsNotChangedBackByALateRetryOfCreate() {
        VolumeRequest request = request("pvc-1", Map.of("quotaFiles", "7"));
        VolumeId.Provisioned id = world.create(request);
        assertEquals(id, world.create(request));
        for (long limit : List.of(9L, 0L)) {
            world.domain.volumes().modify(id, new MutableParameters(OptionalLong.of(limit), OptionalInt.empty()));
            world.restart();
            List<String> before = world.ceph.everything();
            assertThrows(DriverException.IncompatibleExisting.class, () -> world.create(request));
            assertEquals(limit, world.ceph.quotaFiles(id));
            assertEquals(before, world.ceph.everything());
        }
        VolumeRequest other = request("pvc-2");
        VolumeId.Provisioned second = world.create(other);
        world.domain.volumes().modify(second, new MutableParameters(OptionalLong.of(3), OptionalInt.of(0755)));
        assertEquals(second, world.create(other), "a request that wants neither fits");
        assertEquals(3, world.ceph.quotaFiles(second));
        assertThrows(
                DriverException.IncompatibleExisting.class,
                () -> world.create(new VolumeRequest(
                        "pvc-2",
                        CapacityRange.ANY,
                        other.parameters().with(new MutableParameters(OptionalLong.empty(), OptionalInt.of(0711))),
                        false,
                        other.source())));
    }

    @Test
    void aVolumeOfWhichTheLimitOfFilesIsMissingIsFinishedByARetry() {
        VolumeRequest request = request("pvc-1", Map.of("quotaFiles", "7", "mode", "0750"));
        world.restart((call, make) -> {
            if (call.method().equals("setQuotaFiles")) {
                throw new DriverException.BackendUnavailable("the controller dies here");
            }
            return make.get();
        });
        assertThrows(DriverException.BackendUnavailable.class, () -> world.create(request));
        world.restart();
        VolumeId.Provisioned id = world.create(request);
        assertEquals(7, world.ceph.quotaFiles(id));
        assertTrue(world.ceph.everything().getFirst().contains(" 750 "));
    }

    @Test
    void whatDoesNotFitTheExistingVolumeIsRefused() {
        world.create(request("pvc-1"));
        List<VolumeRequest> others = List.of(
                sized(new CapacityRange(2 * GIB, 0), request("pvc-1")),
                sized(new CapacityRange(1, GIB - 1), request("pvc-1")),
                request("pvc-1", Map.of("uid", "7")),
                request("pvc-1", Map.of("gid", "7")),
                request("pvc-1", Map.of("dataPool", "fast")));
        for (VolumeRequest other : others) {
            assertThrows(
                    DriverException.IncompatibleExisting.class,
                    () -> world.domain.volumes().create(other),
                    other.toString());
        }
        assertEquals(GIB, world.domain.volumes().create(request("pvc-1")).capacityBytes());
    }

    @Test
    void aVolumeHasTheOwnerThatTheClassSaysAndTheModeThatTheAttributesSay() {
        VolumeRequest request =
                request("pvc-1", Map.of("uid", "4294967294", "gid", "20", "mode", "0750", "quotaFiles", "7"));
        VolumeId.Provisioned id = world.create(new VolumeRequest(
                request.name(),
                request.capacity(),
                request.parameters().with(new MutableParameters(OptionalLong.empty(), OptionalInt.of(0711))),
                false,
                request.source()));
        assertTrue(
                world.ceph.everything().getFirst().contains(" -2:20 711 "),
                world.ceph.everything().toString());
        assertEquals(7, world.ceph.quotaFiles(id));
    }

    @Test
    void withoutAWishAVolumeHasOneGibibyte() {
        assertEquals(GIB, capacityOf("none", CapacityRange.ANY));
        assertEquals(1000, capacityOf("small", new CapacityRange(0, 1000)));
        assertEquals(GIB, capacityOf("limit", new CapacityRange(0, 9 * GIB)));
    }

    private long capacityOf(String name, CapacityRange range) {
        return world.domain.volumes().create(sized(range, request(name))).capacityBytes();
    }

    @Test
    void classesThatNameWhatIsNotThereAreRefusedByField() {
        Map<String, String> wrong =
                Map.of("cluster", "other", "fsName", "other", "dataPool", "other", "owner", "nobody-here");
        wrong.forEach((name, value) -> {
            var refused = assertThrows(
                    DriverException.InvalidRequest.class,
                    () -> world.create(request("pvc-1", Map.of(name, value))),
                    name);
            assertTrue(String.valueOf(refused.getMessage()).contains("parameter " + name), refused.getMessage());
        });
        var ownerless = new VolumeRequest(
                "pvc-1", CapacityRange.ANY, ClassParameters.parse(Map.of()), false, java.util.Optional.empty());
        assertThrows(DriverException.InvalidRequest.class, () -> world.create(ownerless));
        assertEquals(List.of(), world.ceph.everything());
    }

    @Test
    void nobodyInAContainerIsMadeRoot() {
        for (String id : List.of("uid", "gid")) {
            var refused = assertThrows(
                    DriverException.InvalidRequest.class,
                    () -> world.create(request("pvc-1", Map.of("containerUser", "1000", id, "0"))));
            assertTrue(refused.getMessage().contains("parameter containerUser"), refused.getMessage());
        }
        assertEquals(List.of(), world.ceph.everything());
    }

    @Test
    void aGroupThatSomebodyRemovedIsMadeAgain() {
        VolumeId.Provisioned id = world.create(request("pvc-1"));
        world.domain.volumes().delete(id);
        world.ceph.removeGroup(id.group());
        assertEquals(id, world.create(request("pvc-1")));
    }

    @Test
    void whatADeadMgrLeftIsMadeAnew() {
        VolumeId.Provisioned id = world.create(request("pvc-1"));
        world.domain.volumes().delete(id);
        world.ceph.breakSubvolume(id);
        world.restart();
        assertEquals(id, world.create(request("pvc-1")));
        assertEquals(GIB, world.domain.volumes().get(id).capacityBytes());
    }

    @Test
    void aBrokenVolumeWithFilesIsLeftToPeople() {
        VolumeId.Provisioned id = world.volumeWithFile("pvc-1");
        world.ceph.breakSubvolume(id);
        world.restart();
        assertThrows(DriverException.BackendFault.class, () -> world.create(request("pvc-1")));
        assertFalse(world.ceph.files(id).isEmpty());
    }

    @Test
    void deleteMayBeRepeatedAndLeavesNothing() {
        VolumeId.Provisioned id = world.create(request("pvc-1"));
        for (int i = 0; i < 2; i++) {
            world.domain.volumes().delete(id);
            assertEquals(List.of(), world.ceph.everything());
            assertThrows(
                    DriverException.NotFound.class, () -> world.domain.volumes().get(id));
        }
    }

    @Test
    void aDeletedVolumesSnapshotsStayAndItsNameCanBeUsedAgain() {
        VolumeId.Provisioned id = world.volumeWithFile("pvc-1");
        SnapshotId snapshot = world.snapshot(id, "snap-1");
        world.domain.volumes().delete(id);
        assertTrue(world.domain.snapshots().find(snapshot).isPresent());
        assertEquals(id, world.create(request("pvc-1")));
        assertEquals(Map.of(), world.ceph.files(id), "it is empty, whatever the one before held");
        world.domain.volumes().delete(id);
        world.domain.snapshots().delete(snapshot);
        assertEquals(List.of(), world.ceph.everything());
    }

    @Test
    void anAccountThatWasFrozenBeforeItsFirstVolumeGetsNone() {
        VolumeRequest large = sized(new CapacityRange(2 * GIB, 0), request("pvc-1", Map.of("allowance", "1Gi")));
        assertThrows(DriverException.QuotaExhausted.class, () -> world.create(large));
        // another process marks the account, in a group that it makes
        SubvolumeGroup group =
                new SubvolumeGroup(InMemoryCeph.CLUSTER, InMemoryCeph.FILE_SYSTEM, CephNames.group("id-1"));
        world.ceph.ports().subvolumes().createGroup(group, OptionalLong.empty(), Optional.empty());
        world.ceph
                .ports()
                .files()
                .setNote(group.cluster(), group.fileSystem(), group.path(), AccountFreeze.NOTE, "now");
        world.ceph
                .ports()
                .files()
                .setNote(group.cluster(), group.fileSystem(), group.path(), AccountNote.NAME, "10001 u1");
        String said = assertThrows(DriverException.InUse.class, () -> world.create(request("pvc-1")))
                .getMessage();
        assertTrue(said.contains("account \"u1\"") && said.contains("siphon user offboard u1 --unfreeze"), said);
        assertEquals(List.of(), world.ceph.everything());
    }

    @Test
    void whatCannotBeSureToBeGoneIsNotDeleted() {
        assertThrows(DriverException.InUse.class, () -> world.domain.volumes().delete(ELSEWHERE));
        var fixed = new VolumeId.Static("lab", "fs", "/data");
        world.ceph.directory("/data", OptionalLong.empty());
        assertThrows(DriverException.InUse.class, () -> world.domain.volumes().delete(fixed));
    }

    @Test
    void expandGrowsAndNeverShrinks() {
        VolumeId.Provisioned id = world.create(request("pvc-1"));
        assertEquals(3 * GIB, world.domain.volumes().expand(id, new CapacityRange(3 * GIB, 0)));
        assertEquals(3 * GIB, world.domain.volumes().expand(id, new CapacityRange(3 * GIB, 3 * GIB)));
        assertEquals(3 * GIB, world.domain.volumes().expand(id, new CapacityRange(GIB, 0)));
        assertThrows(
                DriverException.CapacityOutOfRange.class,
                () -> world.domain.volumes().expand(id, new CapacityRange(0, 2 * GIB)));
        assertEquals(3 * GIB, world.domain.volumes().get(id).capacityBytes());
        assertThrows(
                DriverException.NotFound.class,
                () -> world.domain
                        .volumes()
                        .expand(
                                new VolumeId.Provisioned("lab", "fs", id.group(), "v".repeat(21)),
                                new CapacityRange(GIB, 0)));
    }

    @Test
    void aStaticVolumeInsideAnAccountsGroupIsNotExpanded() {
        VolumeId.Provisioned volume = world.create(request("a"));
        SubvolumeGroup group = SubvolumeGroup.of(volume);
        world.ceph.ports().files().setQuotaBytes(group.cluster(), group.fileSystem(), group.path(), GIB);
        for (String path : List.of(group.path(), group.path() + "/" + volume.subvolume())) {
            var inside = new VolumeId.Static(group.cluster(), group.fileSystem(), path);
            assertThrows(
                    DriverException.InUse.class,
                    () -> world.domain.volumes().expand(inside, new CapacityRange(2 * GIB, 0)),
                    path);
        }
        assertEquals(
                OptionalLong.of(GIB),
                world.ceph.ports().files().quotaBytes(group.cluster(), group.fileSystem(), group.path()));
    }

    @Test
    void aStaticVolumeIsExpandedWhereItHasAQuota() {
        world.ceph.directory("/with", OptionalLong.of(GIB));
        world.ceph.directory("/without", OptionalLong.empty());
        var with = new VolumeId.Static("lab", "fs", "/with");
        var without = new VolumeId.Static("lab", "fs", "/without");
        var missing = new VolumeId.Static("lab", "fs", "/missing");
        CapacityRange range = new CapacityRange(2 * GIB, 0);
        assertEquals(2 * GIB, world.domain.volumes().expand(with, range));
        assertEquals(2 * GIB, world.domain.volumes().get(with).capacityBytes());
        assertEquals(0, world.domain.volumes().get(without).capacityBytes());
        assertThrows(DriverException.InUse.class, () -> world.domain.volumes().expand(without, range));
        assertThrows(
                DriverException.NotFound.class, () -> world.domain.volumes().expand(missing, range));
    }

    @Test
    void modifyChangesWhatAnAttributesClassMayChange() {
        VolumeId.Provisioned id = world.create(request("pvc-1"));
        MutableParameters changes = new MutableParameters(OptionalLong.of(9), OptionalInt.of(0755));
        for (int i = 0; i < 2; i++) {
            world.domain.volumes().modify(id, changes);
            assertEquals(9, world.ceph.quotaFiles(id));
            assertTrue(world.ceph.everything().getFirst().contains(" 755 "));
        }
        world.domain.volumes().modify(id, new MutableParameters(OptionalLong.of(0), OptionalInt.empty()));
        assertEquals(0, world.ceph.quotaFiles(id));
        assertTrue(world.ceph.everything().getFirst().contains(" 755 "), "only what is named changes");
    }

    @Test
    void aVolumeMayBeGoneWhoseRemovalWasNotAnswered() {
        VolumeId.Provisioned id = world.create(request("pvc-1"));
        world.restart((call, make) -> {
            Object answer = make.get();
            if (call.method().equals("remove")) {
                throw new DriverException.DeadlinePassed("remove was not answered");
            }
            return answer;
        });
        assertThrows(
                DriverException.DeadlinePassed.class,
                () -> world.domain.volumes().delete(id));
        assertEquals(java.util.Set.of(id), world.leaving);
        world.restart();
        world.domain.volumes().delete(id);
        assertEquals(java.util.Set.of(), world.leaving);
    }

    @Test
    void aRetryKeepsTheFilesOfAVolumeThatItsOwnerShut() {
        VolumeId.Provisioned id = world.volumeWithFile("pvc-1");
        world.domain.volumes().modify(id, new MutableParameters(OptionalLong.empty(), OptionalInt.of(01000)));
        var before = world.ceph.everything();
        assertEquals(id, world.create(request("pvc-1")));
        world.domain.volumes().modify(id, new MutableParameters(OptionalLong.empty(), OptionalInt.of(01000)));
        assertEquals(before, world.ceph.everything());
    }
}
