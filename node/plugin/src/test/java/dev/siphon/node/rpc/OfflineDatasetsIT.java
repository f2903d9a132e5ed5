package dev.siphon.node.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.NodePublishVolumeRequest;
import csi.v1.NodeUnpublishVolumeRequest;
import csi.v1.VolumeCapability;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.server.Deadlines;
import dev.siphon.node.device.AnyPlace;
import dev.siphon.node.grant.GrantsSource;
import dev.siphon.node.grant.NamespacePlaces;
import dev.siphon.node.grant.PublishCheck;
import dev.siphon.node.inline.Inline;
import dev.siphon.node.inline.InlineDatasets;
import dev.siphon.node.inline.InlineVolumes;
import dev.siphon.node.inline.OfflineDatasets;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.linux.Workplace;
import dev.siphon.node.mount.BlockingCalls;
import dev.siphon.node.mount.CephCredentials;
import dev.siphon.node.mount.CephCredentialsTest;
import dev.siphon.node.mount.Mounters;
import dev.siphon.node.mount.NodeVolumes;
import dev.siphon.node.mount.OpenedDatasets;
import dev.siphon.node.mount.OverlayMounter;
import dev.siphon.node.mount.TargetPath;
import dev.siphon.node.pod.Pod;
import dev.siphon.node.pod.PodHealth;
import dev.siphon.node.pod.PublishedPods;
import dev.siphon.node.replica.DatasetTrees;
import dev.siphon.node.replica.ErofsSelection;
import dev.siphon.node.replica.GpuProximity;
import dev.siphon.node.replica.ReplicaPlacement;
import dev.siphon.node.replica.ReplicaPolicy;
import dev.siphon.node.replica.ReplicaSettings;
import dev.siphon.node.replica.Replicas;
import dev.siphon.node.replica.TestDataset;
import dev.siphon.node.replica.cache.CacheDirectoryLimits;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Datasets of pods while the controller does not answer: real loop devices and EROFS, without Ceph.
class OfflineDatasetsIT {
    private static final String NAME = "u1/one";
    private static final String KEY = CephCredentialsTest.AES_KEY;
    private static final Duration LONG = Duration.ofSeconds(20);

    private final Workplace workplace = Workplace.create();
    private final BlockingCalls calls = new BlockingCalls();
    private final TestDataset dataset = TestDataset.create(workplace, "one", 20, 10_000);
    private final VolumeId.DatasetVolume volume =
            new VolumeId.DatasetVolume("lab", "fs", dataset.digest().beginning(), Optional.empty(), "/datasets/one");
    private final List<Duration> waits = new ArrayList<>();
    private long now;
    private Duration taken = Duration.ZERO;
    private final List<String> told = new ArrayList<>();
    private Optional<Supplier<DriverException>> refusal = Optional.empty();
    private boolean isSilent;
    private Grants grants = grants("user-u1");
    private final Replicas replicas = Replicas.start(
            new ReplicaSettings(
                    workplace.path("state/datasets"),
                    List.of(new CacheDirectoryLimits(workplace.path("cache"), 1 << 30, 100)),
                    ReplicaPlacement.mostFree(),
                    ReplicaPolicy.usual(),
                    GpuProximity.UNKNOWN,
                    ErofsSelection.ofThisNode()),
            new BackgroundTasks(),
            _ -> {});
    private final PublishedPods published = new PublishedPods(workplace.path("pods"));
    private final PodHealth pods = new PodHealth(
            published,
            (pod, event) -> {
                synchronized (told) {
                    told.add(event.reason());
                }
            },
            new PrometheusRegistry());
    private final NodeVolumes volumes = volumes();
    private final OfflineDatasets offline = offline(Duration.ofHours(24));
    private final InlineVolumeHandler handler = handler(offline);

    private Grants grants(String namespace) {
        return new Grants(
                Map.of(), Map.of("u1.one", new Grants.Shared(volume, false, new TreeSet<>(List.of(namespace)))));
    }

    private NodeVolumes volumes() {
        DatasetTrees trees = new DatasetTrees(replicas, workplace.path("state/datasets"), false);
        OverlayMounter mounter = new OverlayMounter(workplace.path("cluster"), Map.of("u", KEY));
        workplace.directory("state/mounts");
        return new NodeVolumes(
                workplace.path("state"),
                new Mounters(List.of(mounter, trees), (_, _) -> mounter),
                trees,
                new OpenedDatasets(workplace.path("opened"), Duration.ofHours(24), InstantSource.system()),
                calls,
                new NodeVolumes.Limits(Duration.ofSeconds(5), LONG));
    }

    private InlineDatasets.Reply answer(String name, Pod pod, String asked, Duration limit) {
        waits.add(limit);
        now += taken.toNanos();
        refusal.ifPresent(why -> {
            throw why.get();
        });
        if (isSilent) {
            return new InlineDatasets.Reply.Unanswered(new DriverException.BackendUnavailable("nobody answers"), true);
        }
        return new InlineDatasets.Reply.Answered(new InlineDatasets.Opened(
                volume,
                VolumeContext.fromMap(volume, Map.of("monitors", "10.0.0.1:3300")),
                CephCredentials.fromSecrets(Map.of("userID", "u", "userKey", KEY))));
    }

    private OfflineDatasets offline(Duration offlineFor) {
        GrantsSource source = _ -> new GrantsSource.KnownGrants(grants, Optional.empty());
        return new OfflineDatasets(
                workplace.path("offline"),
                offlineFor,
                new PublishCheck(Optional.of(source), NamespacePlaces.NONE, Optional.of("siphon")),
                volumes,
                this::answer,
                published,
                pods,
                new PrometheusRegistry(),
                () -> now);
    }

    private InlineVolumeHandler handler(OfflineDatasets how) {
        return new InlineVolumeHandler(
                volumes,
                new Inline(new InlineVolumes(workplace.path("inline")), this::answer, how),
                AnyPlace.of(pods, calls),
                new Deadlines(LONG));
    }

    @BeforeEach
    void readThenLoseTheController() throws IOException {
        Path place = workplace.directory("cluster/fs/datasets/one");
        for (String file : List.of("image", "image.manifest")) {
            Files.copy(dataset.image().image().resolveSibling(file), place.resolve(file));
        }
        publish(handler, 1);
        Path image = workplace.path("cache").resolve(dataset.digest().hex()).resolve("image");
        long end = System.nanoTime() + LONG.toNanos();
        while (!Files.exists(image)
                || !replicas.list()
                        .getFirst()
                        .attached()
                        .orElseThrow()
                        .place()
                        .cache()
                        .isPresent()) {
            assertTrue(System.nanoTime() < end, () -> "no replica: " + replicas.list());
            Thread.onSpinWait();
        }
        unpublish(1);
        assertFalse(isImageMounted());
        isSilent = true;
        waits.clear();
    }

    @AfterEach
    void leaveNothing() {
        replicas.close();
        workplace.close();
        calls.close();
    }

    private TargetPath target(int pod) {
        return TargetPath.parse(
                "target_path",
                workplace.directory("pod-" + pod).resolve("mount").toString());
    }

    private static String name(int pod) {
        return "csi-" + "%064d".formatted(pod);
    }

    private void publish(InlineVolumeHandler by, int pod) {
        VolumeCapability.Builder capability = VolumeCapability.newBuilder();
        capability.getMountBuilder();
        capability.getAccessModeBuilder().setMode(VolumeCapability.AccessMode.Mode.SINGLE_NODE_WRITER);
        NodePublishVolumeRequest request = NodePublishVolumeRequest.newBuilder()
                .setVolumeId(name(pod))
                .setVolumeCapability(capability)
                .putVolumeContext("csi.storage.k8s.io/ephemeral", "true")
                .putVolumeContext(Pod.NAME, "train")
                .putVolumeContext(Pod.NAMESPACE, "user-u1")
                .putVolumeContext(Pod.UID, "uid-" + pod)
                .putVolumeContext("dataset", NAME)
                .build();
        by.publish(request, target(pod));
        pods.published(target(pod), Pod.ofContext(request.getVolumeContextMap()));
    }

    private void unpublish(int pod) {
        handler.ends(target(pod));
        assertTrue(handler.unpublish(
                NodeUnpublishVolumeRequest.newBuilder().setVolumeId(name(pod)).build(), target(pod)));
    }

    private boolean isImageMounted() {
        return MountTable.read()
                .at(workplace.path("state/images").resolve(volume.digest()).toString())
                .isPresent();
    }

    private boolean isRight(int pod) {
        return dataset.isRight(Path.of(target(pod).text()));
    }

    private long recorded() throws IOException {
        try (var files = Files.list(workplace.path("offline"))) {
            return files.count();
        }
    }

    @Test
    void aPodReadsTheReplicaUntilTheImageIsBack() throws IOException {
        publish(handler, 2);
        publish(handler, 3);
        assertTrue(isRight(2));
        assertTrue(isRight(3));
        assertFalse(isImageMounted());
        offline.reopen();
        assertEquals(2, recorded());
        isSilent = false;
        offline.reopen();
        assertTrue(isImageMounted());
        assertEquals(0, recorded());
        assertTrue(isRight(2));
        unpublish(2);
        unpublish(3);
        assertFalse(isImageMounted());
    }

    @Test
    void afterASilenceOthersWaitBrieflyForAMinute() {
        taken = Duration.ofSeconds(20);
        publish(handler, 2);
        publish(handler, 3);
        publish(handler, 4);
        publish(handler, 5);
        publish(handler, 6);
        isSilent = false;
        publish(handler, 7);
        publish(handler, 8);
        Duration brief = Duration.ofSeconds(3);
        assertEquals(
                List.of(false, true, true, true, false, true, false),
                waits.stream().map(brief::equals).toList());
        IntStream.rangeClosed(2, 8).forEach(this::unpublish);
    }

    /// The controller answers, and the image cannot be read.
    @Test
    void whoIsAllowedAndCannotMountReadsTheReplica() throws IOException {
        isSilent = false;
        Path manifest = workplace.path("cluster/fs/datasets/one/image.manifest");
        Files.move(manifest, workplace.path("gone"));
        Files.createDirectory(manifest);
        publish(handler, 2);
        assertTrue(isRight(2));
        assertEquals(1, recorded());
        Files.delete(manifest);
        Files.move(workplace.path("gone"), manifest);
        offline.reopen();
        assertTrue(isImageMounted());
        unpublish(2);
    }

    @Test
    void aVolumesIdIsNoName() {
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> offline.readable(
                        volume.toString(),
                        new Pod("user-u1", "train", "uid"),
                        new DriverException.BackendUnavailable("x")));
    }

    @Test
    void aDamagedRecordHoldsUpNobody() throws IOException {
        publish(handler, 2);
        Files.writeString(workplace.path("offline").resolve("0"), "target\nname\ndataset\nvolume\n");
        Files.write(workplace.path("offline").resolve("1"), new byte[] {(byte) 0xff, '\n'});
        isSilent = false;
        offline.reopen();
        assertTrue(isImageMounted());
        assertEquals(0, recorded());
        unpublish(2);
    }

    @Test
    void aRefusalForNowIsTriedAgain() throws IOException {
        publish(handler, 2);
        refusal = Optional.of(() -> new DriverException.QuotaExhausted("too many keys"));
        offline.reopen();
        assertEquals(1, recorded());
        refusal = Optional.of(() -> new DriverException.AccessDenied("no reader"));
        offline.reopen();
        assertEquals(0, recorded());
        unpublish(2);
    }

    @Test
    void anotherRunMountsTheImage() throws IOException {
        publish(handler, 2);
        isSilent = false;
        offline(Duration.ofHours(24)).reopen();
        assertTrue(isImageMounted());
        assertEquals(0, recorded());
        unpublish(2);
    }

    @Test
    void aPodThatEndsIsForgotten() throws IOException {
        publish(handler, 2);
        unpublish(2);
        assertEquals(0, recorded());
    }

    @Test
    void whoIsNotPublishedIsRefused() {
        grants = grants("user-u2");
        assertThrows(DriverException.AccessDenied.class, () -> publish(handler, 2));
        assertFalse(MountTable.read().at(target(2).text()).isPresent());
    }

    @Test
    void whomTheControllerRefusesIsRefused() {
        refusal = Optional.of(() -> new DriverException.AccessDenied("no reader"));
        assertThrows(DriverException.AccessDenied.class, () -> publish(handler, 2));
    }

    @Test
    void anAdministratorForbidsIt() {
        InlineVolumeHandler never = handler(offline(Duration.ZERO));
        DriverException away = assertThrows(DriverException.BackendUnavailable.class, () -> publish(never, 2));
        assertEquals("nobody answers", away.getMessage());
    }

    @Test
    void anotherDatasetWasNotOpenedHere() {
        VolumeId.DatasetVolume elsewhere =
                new VolumeId.DatasetVolume("lab", "fs", volume.digest(), Optional.empty(), "/datasets/other");
        grants = new Grants(Map.of(), Map.of("u1.one", new Grants.Shared(elsewhere, true, new TreeSet<>())));
        DriverException away = assertThrows(DriverException.BackendUnavailable.class, () -> publish(handler, 2));
        assertTrue(String.valueOf(away.getMessage()).contains("has not opened the dataset within 24h"), away::toString);
    }
}
