package dev.siphon.controller.volume;

import static dev.siphon.controller.volume.World.GIB;
import static dev.siphon.controller.volume.World.filledFrom;
import static dev.siphon.controller.volume.World.readOnly;
import static dev.siphon.controller.volume.World.request;
import static dev.siphon.controller.volume.World.sized;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.volume.VolumeClass.MutableParameters;
import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.controller.volume.VolumeRequest.ContentSource;
import dev.siphon.controller.volume.VolumeRequest.ContentSource.FromSnapshot;
import dev.siphon.controller.volume.VolumeRequest.ContentSource.FromVolume;
import dev.siphon.controller.volume.Volumes.Volume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Volumes with content: clones, copies, and volumes that show a snapshot.
final class VolumePopulatorTest {
    private final World world = new World();
    private VolumeId.Provisioned source = World.unused();
    private SnapshotId snapshot = new SnapshotId(source, "s");

    @BeforeEach
    void haveASource() {
        source = world.volumeWithFile("source");
        snapshot = world.snapshot(source, "snap");
        world.ceph.write(source, "later", "not in the snapshot");
    }

    private VolumeRequest fromSnapshot(String name, Map<String, String> parameters) {
        return filledFrom(new FromSnapshot(snapshot), request(name, parameters));
    }

    private VolumeRequest fromVolume(String name, Map<String, String> parameters) {
        return filledFrom(new FromVolume(source), request(name, parameters));
    }

    private void assertNoTrace() {
        assertEquals(2, world.ceph.everything().size(), world.ceph.everything().toString());
    }

    @Test
    void aVolumeFromASnapshotHoldsWhatThatHolds() {
        VolumeRequest request = fromSnapshot("copy", Map.of());
        Volume made = world.domain.volumes().create(request);
        assertEquals(Map.of("file", "contents of source"), world.ceph.files(made.id()));
        assertEquals(made, world.domain.volumes().create(request));
        world.restart();
        assertEquals(made, world.domain.volumes().create(request));
        world.domain.volumes().delete(made.id());
        assertNoTrace();
    }

    @Test
    void aCloneOfAVolumeHoldsWhatThatHoldsAndLeavesNoSnapshotBehind() {
        VolumeRequest request = fromVolume("copy", Map.of());
        Volume made = world.domain.volumes().create(request);
        assertEquals(2, world.ceph.files(made.id()).size());
        assertEquals(made, world.domain.volumes().create(request));
        assertEquals(
                1,
                world.ceph.everything().stream()
                        .filter(each -> each.contains("@"))
                        .count());
        world.domain.volumes().delete(made.id());
        assertNoTrace();
    }

    @Test
    void aVolumeFromASnapshotCanBeLargerButNotSmaller() {
        VolumeRequest larger = sized(new CapacityRange(3 * GIB, 0), fromSnapshot("large", Map.of()));
        assertEquals(3 * GIB, world.domain.volumes().create(larger).capacityBytes());
        VolumeRequest unsized = sized(CapacityRange.ANY, fromSnapshot("same", Map.of()));
        assertEquals(GIB, world.domain.volumes().create(unsized).capacityBytes());
        for (CapacityRange small : List.of(new CapacityRange(GIB - 1, 0), new CapacityRange(0, GIB - 1))) {
            assertThrows(
                    DriverException.CapacityOutOfRange.class,
                    () -> world.create(sized(small, fromSnapshot("small", Map.of()))));
            assertThrows(
                    DriverException.CapacityOutOfRange.class,
                    () -> world.create(sized(small, fromVolume("small", Map.of()))));
        }
        assertEquals(4, world.ceph.everything().size(), "what was refused left nothing");
    }

    @Test
    void whatASnapshotNeedsIsItsSizeThenAndNotTheVolumesNow() {
        world.domain.volumes().expand(source, new CapacityRange(5 * GIB, 0));
        Volume made = world.domain.volumes().create(sized(CapacityRange.ANY, fromSnapshot("copy", Map.of())));
        assertEquals(GIB, made.capacityBytes());
    }

    @Test
    void acrossAccountsPoolsAndOwnersContentsAreCopiedAndNotCloned() {
        List<Map<String, String>> elsewhere = List.of(
                Map.of("owner", "u2", "copyAcrossAccounts", "true"),
                Map.of("dataPool", "fast"),
                Map.of("uid", "77"),
                Map.of("gid", "77"));
        for (Map<String, String> parameters : elsewhere) {
            for (VolumeRequest request : List.of(fromSnapshot("copy", parameters), fromVolume("copy2", parameters))) {
                Volume made = world.domain.volumes().create(request);
                assertEquals("contents of source", world.ceph.files(made.id()).get("file"));
                assertEquals(made, world.domain.volumes().create(request));
                assertTrue(
                        world.ceph
                                .ports()
                                .subvolumes()
                                .cloneProgress((VolumeId.Provisioned) made.id())
                                .isEmpty(),
                        parameters.toString());
                world.domain.volumes().delete(made.id());
            }
        }
        assertNoTrace();
    }

    @Test
    void aCloneThatOutlastsTheCallerIsPendingAndFinishedByARetry() {
        world.ceph.clonesTake(1000);
        world.timeLeft.set(Duration.ofSeconds(1));
        VolumeRequest request = fromVolume("copy", Map.of());
        var pending = assertThrows(DriverException.OperationPending.class, () -> world.create(request));
        assertTrue(String.valueOf(pending.getMessage()).contains("7%"), pending.getMessage());
        assertThrows(DriverException.OperationPending.class, () -> world.create(request));
        world.restart();
        assertThrows(DriverException.OperationPending.class, () -> world.create(request));
        assertTrue(
                world.domain.listings().volumes(0, "").entries().stream()
                        .noneMatch(volume -> volume.id().toString().contains(":c")),
                "a half-made volume is none");
        world.ceph.endClones();
        VolumeId.Provisioned made = world.create(request);
        assertEquals(2, world.ceph.files(made).size());
        assertEquals(3, world.ceph.everything().size());
    }

    /// Waiting for a clone occupies a worker of the provisioner, which creates everybody's volumes.
    @Test
    void anAccountHasSoManyClonesAtWorkAndNoMore() throws Exception {
        world.ceph.clonesTake(1000);
        try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
            List<CompletableFuture<VolumeId.Provisioned>> all = IntStream.rangeClosed(
                            0, VolumePopulator.CLONES_OF_AN_ACCOUNT)
                    .mapToObj(i -> CompletableFuture.supplyAsync(
                            () -> world.create(fromSnapshot("copy" + i, Map.of())), callers))
                    .toList();
            var tooMany = assertThrows(
                    ExecutionException.class,
                    () -> CompletableFuture.anyOf(all.toArray(CompletableFuture[]::new))
                            .get(20, TimeUnit.SECONDS));
            assertInstanceOf(DriverException.OperationPending.class, tooMany.getCause());
            assertTrue(String.valueOf(tooMany.getMessage()).contains("others of its account"), tooMany.getMessage());
            assertEquals(1, all.stream().filter(CompletableFuture::isDone).count());
            world.ceph.clonesTake(0);
            world.ceph.endClones();
            for (CompletableFuture<VolumeId.Provisioned> each : all) {
                if (!each.isCompletedExceptionally()) {
                    assertEquals(
                            1, world.ceph.files(each.get(20, TimeUnit.SECONDS)).size());
                }
            }
        }
        IntStream.rangeClosed(0, VolumePopulator.CLONES_OF_AN_ACCOUNT)
                .forEach(i -> world.create(fromSnapshot("copy" + i, Map.of())));
    }

    @Test
    void aFailedCloneIsRemovedAndMadeAnew() {
        world.ceph.clonesTake(1000);
        world.timeLeft.set(Duration.ofSeconds(1));
        VolumeRequest request = fromSnapshot("copy", Map.of());
        assertThrows(DriverException.OperationPending.class, () -> world.create(request));
        VolumeId.Provisioned half = cloning();
        // as after a restart of the controller
        world.keys.add(half);
        world.ceph.failClones();
        world.ceph.clonesTake(1000);
        assertThrows(DriverException.OperationPending.class, () -> world.create(request));
        assertFalse(world.keys.contains(half), "its key opens the directory of the one that failed");
        world.ceph.failClones();
        world.ceph.clonesTake(0);
        VolumeId.Provisioned made = world.create(request);
        assertEquals(1, world.ceph.files(made).size());
        assertEquals(half, made);
        assertTrue(world.keys.contains(made));
    }

    @Test
    void aFailedCloneOfAVolumeTakesItsSnapshotAlongWhenTheNameIsUsedOtherwise() {
        world.ceph.clonesTake(1000);
        world.timeLeft.set(Duration.ofSeconds(1));
        assertThrows(DriverException.OperationPending.class, () -> world.create(fromVolume("copy", Map.of())));
        world.ceph.failClones();
        world.restart();
        VolumeId.Provisioned made = world.create(request("copy"));
        world.domain.volumes().delete(made);
        assertNoTrace();
    }

    @Test
    void aVolumeThatIsBeingFilledCanBeDeleted() {
        world.ceph.clonesTake(1000);
        world.timeLeft.set(Duration.ofSeconds(1));
        assertThrows(DriverException.OperationPending.class, () -> world.create(fromSnapshot("copy", Map.of())));
        world.domain.volumes().delete(cloning());
        assertNoTrace();
    }

    /// Returns the target volume of a running clone.
    private VolumeId.Provisioned cloning() {
        String half = world.ceph.everything().stream()
                .filter(each -> each.contains("cloning"))
                .findFirst()
                .orElseThrow();
        return SubvolumeGroup.of(source).volume(half.substring(half.indexOf('/') + 1, half.indexOf(' ')));
    }

    @Test
    void aCopyThatOutlastsTheCallerGoesOnAndARetryFindsItDone() {
        world.ceph.holdCopies();
        world.timeLeft.set(Duration.ofSeconds(1));
        VolumeRequest request = fromSnapshot("copy", Map.of("owner", "u2", "copyAcrossAccounts", "true"));
        var pending = assertThrows(DriverException.OperationPending.class, () -> world.create(request));
        assertTrue(String.valueOf(pending.getMessage()).contains("1 entries"), pending.getMessage());
        assertThrows(
                DriverException.InUse.class,
                () -> world.domain.snapshots().delete(snapshot),
                "what is being copied stays");
        assertEquals(1, world.domain.listings().volumes(0, "").entries().size(), "a half-made volume is none");
        world.ceph.endCopies();
        VolumeId.Provisioned made = world.create(request);
        assertEquals(Map.of("file", "contents of source"), world.ceph.files(made));
        world.domain.snapshots().delete(snapshot);
    }

    @Test
    void aCopyThatIsContinuedGetsTheSizeOfTheLastRequest() {
        world.ceph.holdCopies();
        world.timeLeft.set(Duration.ofSeconds(1));
        VolumeRequest first = fromSnapshot("copy", Map.of("dataPool", "fast"));
        assertThrows(DriverException.OperationPending.class, () -> world.create(first));
        world.ceph.endCopies();
        VolumeRequest larger = sized(new CapacityRange(3 * GIB, 0), first);
        VolumeId.Provisioned made = world.create(larger);
        assertEquals(3 * GIB, world.domain.volumes().get(made).capacityBytes());
        assertEquals(made, world.create(larger));
    }

    @Test
    void aSourceThatIsGoneTakesWhatWasBegunAlong() {
        world.ceph.clonesTake(1000);
        world.timeLeft.set(Duration.ofSeconds(1));
        VolumeRequest request = fromVolume("copy", Map.of());
        assertThrows(DriverException.OperationPending.class, () -> world.create(request));
        world.domain.volumes().delete(source);
        assertThrows(DriverException.NotFound.class, () -> world.create(request));
        world.domain.snapshots().delete(snapshot);
        assertEquals(List.of(), world.ceph.everything());
    }

    @Test
    void anotherSourceUnderTheSameNameIsRefused() {
        world.create(fromSnapshot("copy", Map.of()));
        assertThrows(DriverException.IncompatibleExisting.class, () -> world.create(fromVolume("copy", Map.of())));
        assertThrows(DriverException.IncompatibleExisting.class, () -> world.create(request("copy")));
        world.create(request("plain"));
        assertThrows(DriverException.IncompatibleExisting.class, () -> world.create(fromSnapshot("plain", Map.of())));
    }

    @Test
    void aSourceThatIsNotThereIsNotFoundAndLeavesNothing() {
        SnapshotId missing = new SnapshotId(source, "s".repeat(21));
        VolumeId.Provisioned gone = SubvolumeGroup.of(source).volume("v".repeat(21));
        for (ContentSource from : List.of(new FromSnapshot(missing), new FromVolume(gone))) {
            for (String owner : List.of("u1", "u2")) {
                assertThrows(
                        DriverException.NotFound.class,
                        () -> world.create(filledFrom(from, request("copy", Map.of("owner", owner)))));
            }
        }
        assertNoTrace();
    }

    @Test
    void aReadOnlyVolumeFromASnapshotIsThatSnapshotAndKeepsIt() {
        VolumeRequest request = readOnly(fromSnapshot("view", Map.of()));
        Volume view = world.domain.volumes().create(request);
        assertEquals(
                source.subvolume() + "/.snap/" + snapshot.name(),
                view.context().orElseThrow().dataPath().orElseThrow());
        assertTrue(view.context().orElseThrow().readOnly());
        assertEquals(view, world.domain.volumes().create(request));
        world.domain.volumes().delete(source);
        for (int restarts = 0; restarts < 2; restarts++) {
            assertThrows(
                    DriverException.InUse.class, () -> world.domain.snapshots().delete(snapshot));
            world.restart();
        }
        world.domain.volumes().delete(view.id());
        world.domain.snapshots().delete(snapshot);
        assertEquals(List.of(), world.ceph.everything());
    }

    @Test
    void whatBelongsToAnotherAccountIsCopiedOnlyWhereTheClassSaysSo() {
        for (String value : List.of("", "false")) {
            Map<String, String> parameters =
                    value.isEmpty() ? Map.of("owner", "u2") : Map.of("owner", "u2", "copyAcrossAccounts", value);
            for (VolumeRequest request : List.of(fromSnapshot("no", parameters), fromVolume("no", parameters))) {
                assertThrows(DriverException.AccessDenied.class, () -> world.create(request), request.toString());
            }
        }
        assertNoTrace();
    }

    @Test
    void aReadOnlyVolumeOfAnotherAccountIsACopy() {
        VolumeRequest request = readOnly(fromSnapshot("view", Map.of("owner", "u2", "copyAcrossAccounts", "true")));
        Volume made = world.domain.volumes().create(request);
        assertFalse(made.context().orElseThrow().readOnly());
        assertEquals(1, world.ceph.files(made.id()).size());
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> world.create(readOnly(fromSnapshot(
                        "no", Map.of("owner", "u2", "snapshotBacked", "true", "copyAcrossAccounts", "true")))));
    }

    @Test
    void snapshotBackingIsAskedForOrForbiddenByTheClass() {
        VolumeRequest copy = readOnly(fromSnapshot("copy", Map.of("snapshotBacked", "false")));
        assertFalse(world.domain.volumes().create(copy).context().orElseThrow().readOnly());
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> world.create(fromSnapshot("written", Map.of("snapshotBacked", "true"))));
    }

    @Test
    void aVolumeThatIsASnapshotCannotBeGrownChangedClonedOrSnapshotted() {
        VolumeId.Provisioned view = world.create(readOnly(fromSnapshot("view", Map.of())));
        assertEquals(GIB, world.domain.volumes().expand(view, new CapacityRange(GIB, 0)));
        assertThrows(
                DriverException.CapacityOutOfRange.class,
                () -> world.domain.volumes().expand(view, new CapacityRange(2 * GIB, 0)));
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> world.domain.volumes().modify(view, MutableParameters.NOTHING));
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> world.domain.snapshots().create(view, "snap-2"));
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> world.create(filledFrom(new FromVolume(view), request("clone"))));
    }

    @Test
    void twoViewsOfTwoSnapshotsUnderOneNameAreNotTheSame() {
        SnapshotId second = world.snapshot(source, "snap-2");
        world.create(readOnly(fromSnapshot("view", Map.of())));
        assertThrows(
                DriverException.IncompatibleExisting.class,
                () -> world.create(readOnly(filledFrom(new FromSnapshot(second), request("view")))));
    }
}
