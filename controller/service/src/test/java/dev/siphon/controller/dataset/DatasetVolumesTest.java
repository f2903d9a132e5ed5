package dev.siphon.controller.dataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.identity.Account;
import dev.siphon.controller.volume.CephNames;
import dev.siphon.controller.volume.VolumeRequest;
import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.controller.volume.Volumes.Volume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class DatasetVolumesTest {
    @TempDir
    private Path folder = Path.of("");

    private DatasetsWorld outside = new DatasetsWorld(folder, false);
    private DatasetsWorld kubernetes = new DatasetsWorld(folder, true);

    @BeforeEach
    void declare() {
        outside = new DatasetsWorld(folder, false);
        kubernetes = new DatasetsWorld(folder, true);
        outside.declare(Map.of("u1/mine", List.of("u1"), "vision", List.of("group:vision"), "all", List.of("*")));
        kubernetes.kubernetes.annotate("user-u1", Map.of());
        kubernetes.kubernetes.annotate("team", Map.of("siphon.dev/owners", "u3, u1"));
    }

    private static Volume made(DatasetsWorld world, String namespace, String dataset) {
        DatasetVolumes volumes = world.volumes();
        return volumes.create(volumes.check(DatasetsWorld.request(namespace, Map.of()), dataset));
    }

    @ParameterizedTest(name = "namespace {0} reads {1}")
    @CsvSource({"user-u1, u1.mine", "user-u2, vision", "user-u3, all", "whoever, all", "'', all"})
    void readersGetAVolume(String namespace, String dataset) {
        Volume volume = made(outside, namespace, dataset);
        VolumeId.DatasetVolume id = (VolumeId.DatasetVolume) volume.id();
        assertEquals("/datasets/" + dataset.replace('.', '-'), id.path());
        assertTrue(id.claim().isPresent());
        VolumeContext context = volume.context().orElseThrow();
        assertTrue(context.readOnly());
        assertEquals(context, VolumeContext.fromMap(id, context.toMap()));
        assertEquals(5000, volume.capacityBytes());
        assertEquals(volume, made(outside, namespace, dataset), "a retry");
    }

    @ParameterizedTest(name = "namespace {0} reads {1}")
    @CsvSource({"user-u2, u1.mine", "user-u1, vision", "user-u3, vision", "u1, u1.mine", "user-, u1.mine"})
    void othersGetNone(String namespace, String dataset) {
        String said = assertThrows(DriverException.AccessDenied.class, () -> made(outside, namespace, dataset))
                .getMessage();
        assertTrue(said.contains("is no reader of dataset " + dataset), said);
    }

    @Test
    void aFrozenAccountGetsNoneFromTheMomentThatItIsFrozen() {
        var _ = made(outside, "user-u1", "u1.mine");
        outside.freezeUnseen("u1", true);
        String said = assertThrows(DriverException.InUse.class, () -> made(outside, "user-u1", "u1.mine"))
                .getMessage();
        assertTrue(said.contains("account \"u1\"") && said.contains("is frozen"), said);
        assertThrows(DriverException.AccessDenied.class, () -> made(outside, "user-u2", "u1.mine"));
        assertEquals(
                "/datasets/all",
                ((VolumeId.DatasetVolume) made(outside, "user-u1", "all").id()).path());
        outside.freezeUnseen("u1", false);
        var _ = made(outside, "user-u1", "u1.mine");
    }

    @Test
    void anotherAccountOfAReadersNameGetsNone() {
        String first = CephNames.group("id-1");
        outside.seen.put("u1.mine", new ReaderIds(Map.of("u1", first), Set.of()));
        var _ = made(outside, "user-u1", "u1.mine");
        outside.directory.put(new Account("u1", "id-9", 10_001, 10_001, Set.of("u1"), OptionalLong.empty()));
        String said = assertThrows(DriverException.AccessDenied.class, () -> made(outside, "user-u1", "u1.mine"))
                .getMessage();
        assertTrue(said.contains("meant another one when it became a reader of dataset u1.mine"), said);
        var _ = made(outside, "user-u1", "all");
        outside.seen.clear();
        var _ = made(outside, "user-u1", "u1.mine");
    }

    @Test
    void aNamespaceStandsForWhomItsAnnotationLists() {
        assertEquals(
                "/datasets/u1-mine",
                ((VolumeId.DatasetVolume) made(kubernetes, "team", "u1.mine").id()).path());
        assertThrows(DriverException.NotFound.class, () -> made(kubernetes, "gone", "u1.mine"));
    }

    @Test
    void theVolumesOfTwoClaimsAreTwo() {
        VolumeRequest first = DatasetsWorld.request("user-u1", Map.of());
        VolumeRequest second = new VolumeRequest("pvc-2", first.capacity(), first.parameters(), true, Optional.empty());
        DatasetVolumes volumes = outside.volumes();
        assertNotEquals(
                volumes.check(first, "all").id(), volumes.check(second, "all").id());
    }

    @Test
    void whatIsAskedForWrongIsRefused() {
        DatasetVolumes volumes = outside.volumes();
        VolumeRequest good = DatasetsWorld.request("user-u1", Map.of());
        VolumeRequest writing = new VolumeRequest("pvc-1", good.capacity(), good.parameters(), false, Optional.empty());
        assertThrows(DriverException.InvalidRequest.class, () -> volumes.check(writing, "all"));
        VolumeRequest small =
                new VolumeRequest("pvc-1", new CapacityRange(0, 4999), good.parameters(), true, Optional.empty());
        assertThrows(DriverException.CapacityOutOfRange.class, () -> volumes.check(small, "all"));
        assertThrows(DriverException.NotFound.class, () -> volumes.check(good, "none"));
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> volumes.check(DatasetsWorld.request("", Map.of()), "u1.mine"));
    }

    @Test
    void whatIsDeclaredWrongIsSaidToWhoAsksForIt() {
        outside.write(
                "{\"all\":{\"fsName\":\"cephfs\"},\"far\":{\"cluster\":\"far\",\"fsName\":\"cephfs\",\"path\":\"/d\","
                        + "\"digest\":\"" + DatasetsWorld.DIGEST + "\",\"readers\":[\"*\"]}}");
        assertThrows(DriverException.InUse.class, () -> made(outside, "user-u1", "all"));
        assertThrows(DriverException.InUse.class, () -> made(outside, "user-u1", "far"));
        outside.write("[]");
        assertThrows(DriverException.BackendUnavailable.class, () -> made(outside, "user-u1", "all"));
    }

    @Test
    void theClassOrTheClaimNamesTheDataset() {
        VolumeRequest byClass = DatasetsWorld.request("user-u1", Map.of("dataset", "u1/mine"));
        VolumeRequest bare = DatasetsWorld.request("user-u1", Map.of());
        assertEquals(Optional.of("u1.mine"), outside.volumes().wanted(byClass));
        assertEquals(Optional.empty(), outside.volumes().wanted(bare));
        assertThrows(DriverException.NotFound.class, () -> kubernetes.volumes().wanted(bare));
        kubernetes.kubernetes.make("user-u1", "data", Map.of("siphon.dev/dataset", "all"));
        assertEquals(Optional.of("all"), kubernetes.volumes().wanted(bare));
        assertThrows(
                DriverException.InvalidRequest.class, () -> kubernetes.volumes().wanted(byClass));
    }

    private DatasetVolumes.Opened openClaimed(VolumeId.DatasetVolume volume, String namespace, String... names) {
        return outside.volumes()
                .openClaimed(volume, List.of(names), new DatasetVolumes.AskingPod(namespace, "csi-1", "node-1"));
    }

    @Test
    void aPodsNodeGetsTheKeyOfItsClaimsDataset() {
        MintedKeys minted = new MintedKeys();
        outside.keys = Optional.of(minted.keys(outside.files()));
        VolumeId.DatasetVolume volume =
                (VolumeId.DatasetVolume) made(outside, "user-u1", "u1.mine").id();
        DatasetVolumes.Opened opened = openClaimed(volume, "user-u1", "gone", "vision", "u1.mine");
        assertEquals(volume, opened.volume());
        assertTrue(opened.key().userId().endsWith(".1.node-1"), opened.key().userId());
        assertThrows(DriverException.AccessDenied.class, () -> openClaimed(volume, "user-u2", "u1.mine"));
        assertThrows(DriverException.NotFound.class, () -> openClaimed(volume, "user-u1", "vision"));
        outside.declare(Map.of("u1/mine", List.of("u2")));
        assertThrows(DriverException.AccessDenied.class, () -> openClaimed(volume, "user-u1", "u1.mine"));
        outside.declare(Map.of());
        assertThrows(DriverException.NotFound.class, () -> openClaimed(volume, "user-u1", "u1.mine"));
    }

    @Test
    void aClaimsVolumeHasAKeyWhileANodeDoesNotAsk() {
        MintedKeys minted = new MintedKeys();
        DatasetVolumes.Keys keys = minted.keys(outside.files());
        outside.keys = Optional.of(keys);
        minted.nodesAsk = true;
        VolumeId.DatasetVolume volume =
                (VolumeId.DatasetVolume) made(outside, "user-u1", "u1.mine").id();
        assertEquals(Map.of(volume, Optional.empty()), minted.kept);
        assertEquals(List.of(), minted.startingWith("lab", ""), "nobody has a key");
        SecretKeysForOldNodes claims = new SecretKeysForOldNodes(keys);
        claims.reconcile();
        assertEquals(Map.of(volume, Optional.empty()), minted.kept);
        minted.nodesAsk = false;
        claims.reconcile();
        assertTrue(minted.kept.getOrDefault(volume, Optional.empty()).isPresent(), "a version of before is put back");
        minted.nodesAsk = true;
        var _ = made(outside, "user-u1", "u1.mine");
        assertEquals(Map.of(volume, Optional.empty()), minted.kept, "a retry");
    }
}
