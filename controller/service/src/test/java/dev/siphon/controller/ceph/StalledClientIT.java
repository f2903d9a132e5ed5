package dev.siphon.controller.ceph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.controller.ceph.rados.CephConnection;
import dev.siphon.controller.key.ClientSession;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.controller.volume.Subvolumes;
import dev.siphon.controller.volume.Subvolumes.SubvolumeSpec;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A client that does not release its capabilities blocks only its own account, although the mgr has one thread for
/// all commands.
@Timeout(180)
class StalledClientIT {
    private static final SubvolumeSpec SPEC =
            new SubvolumeSpec(OptionalLong.of(64L << 20), 0, 0, 0755, Optional.empty());

    /// Time limit for ABORTED: 2 s for the client, and a margin for the machine.
    private static final Duration REFUSED = Duration.ofSeconds(3);

    private static final Duration AT_ONCE = Duration.ofMillis(500);
    private static final Duration SERVED = Duration.ofSeconds(5);

    private final VolumeId.Provisioned volume = group("one").volume("v1");
    private final VolumeId.Provisioned sibling = SubvolumeGroup.of(volume).volume("v2");
    private final VolumeId.Provisioned other = group("two").volume("v1");
    private final CephConnection connection =
            new CephConnection(CephLab.access(), CallLimits.DEFAULT, CephLab.PATIENT, CephLab.metrics());
    private CephAdapter adapter = CephLab.adapter();
    private String data = "";

    @TempDir
    private Path folder = Path.of("/");

    private Path keyring = Path.of("/");

    private static SubvolumeGroup group(String account) {
        return new SubvolumeGroup(
                "lab",
                CephLab.fileSystem(),
                "st-" + account + "-" + UUID.randomUUID().toString().substring(0, 8));
    }

    private Subvolumes subvolumes() {
        return adapter.ports().subvolumes();
    }

    @BeforeEach
    void makeVolumes() {
        for (VolumeId.Provisioned each : List.of(volume, other)) {
            subvolumes().createGroup(SubvolumeGroup.of(each), OptionalLong.empty(), Optional.empty());
            subvolumes().create(each, SPEC);
        }
        data = subvolumes().find(volume).orElseThrow().dataPath().orElseThrow();
        keyring = folder.resolve("keyring");
    }

    @AfterEach
    void close() {
        adapter.clientSessions().end("lab", sessions());
        adapter.close();
        connection.close();
    }

    /// Mounts with the key of one volume, as a node does, and works in it. No controller shares capabilities with
    /// this client yet.
    private FuseMount pod() throws IOException {
        String group = SubvolumeGroup.of(volume).path();
        adapter.close();
        String identity = "pod." + SubvolumeGroup.of(volume).name();
        Files.writeString(
                keyring,
                CephLab.keyring(
                        connection,
                        "client." + identity,
                        "allow r fsname=" + volume.fileSystem() + " path=" + group + ", allow rw fsname="
                                + volume.fileSystem() + " path=" + data));
        FuseMount pod = FuseMount.mountAs("pod", "--id", identity, "--keyring", keyring.toString(), "-r", group);
        Path own = pod.at(data.substring(group.length()));
        Files.writeString(Files.createDirectory(own.resolve("d")).resolve("f"), "text");
        try (var files = Files.list(own)) {
            assertEquals(1, files.count());
        }
        adapter = CephLab.adapter();
        return pod;
    }

    private List<ClientSession> sessions() {
        return adapter.clientSessions().all("lab", CephLab.fileSystem()).stream()
                .filter(each -> each.host().equals("pod"))
                .toList();
    }

    private void endSession() {
        List<ClientSession> dead = sessions();
        assertEquals(1, dead.size());
        adapter.clientSessions().end("lab", dead);
    }

    private static void isRefusedWithin(Duration limit, Executable call) {
        long began = System.nanoTime();
        String words =
                assertThrows(DriverException.OperationPending.class, call).getMessage();
        assertTrue(System.nanoTime() - began < limit.toNanos(), "refused too late");
        assertTrue(words.contains("/volumes/st-one-"), words);
        assertTrue(words.contains("session_timeout"), words);
        assertTrue(words.contains("retry"), words);
    }

    private void othersAreServed() {
        long began = System.nanoTime();
        VolumeId.Provisioned another = SubvolumeGroup.of(other).volume("another");
        subvolumes().create(another, SPEC);
        assertTrue(subvolumes().find(another).isPresent());
        subvolumes().remove(another);
        assertTrue(System.nanoTime() - began < SERVED.toNanos(), "others are held up");
    }

    private void nothingIsLeft() {
        subvolumes().create(sibling, SPEC);
        subvolumes().remove(sibling);
        subvolumes().remove(volume);
        assertEquals(Optional.of(List.of()), subvolumes().list(SubvolumeGroup.of(volume)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"KILL", "STOP"})
    void theAccountOfAClientThatIsGoneIsRefusedAndOthersAreServed(String signal) throws IOException {
        try (FuseMount pod = pod()) {
            pod.signal(signal);
            isRefusedWithin(REFUSED, () -> subvolumes().create(sibling, SPEC));
            othersAreServed();
            isRefusedWithin(AT_ONCE, () -> subvolumes().create(sibling, SPEC));
            isRefusedWithin(AT_ONCE, () -> subvolumes().remove(volume));
            isRefusedWithin(AT_ONCE, () -> subvolumes().find(volume));
            isRefusedWithin(AT_ONCE, () -> subvolumes().list(SubvolumeGroup.of(volume)));
            othersAreServed();
            endSession();
            CephLab.await(SERVED, () -> isServed(() -> subvolumes().list(SubvolumeGroup.of(volume))));
            if (signal.equals("STOP")) {
                pod.signal("CONT");
            }
        }
        nothingIsLeft();
    }

    private static boolean isServed(Runnable call) {
        try {
            call.run();
            return true;
        } catch (DriverException.OperationPending notYet) {
            return false;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"remove", "resize", "note", "snapshot", "find", "list"})
    void noCommandAboutItsVolumesHoldsUpOthers(String command) throws IOException {
        try (FuseMount pod = pod()) {
            pod.signal("KILL");
            long began = System.nanoTime();
            var _ = isServed(() -> {
                switch (command) {
                    case "remove" -> subvolumes().remove(volume);
                    case "resize" -> subvolumes().resize(volume, 128L << 20);
                    case "note" -> subvolumes().setNote(volume, "siphon.test", "x");
                    case "snapshot" -> subvolumes().createSnapshot(new SnapshotId(volume, "s"));
                    case "find" -> subvolumes().find(volume);
                    default -> subvolumes().list(SubvolumeGroup.of(volume));
                }
            });
            assertTrue(System.nanoTime() - began < REFUSED.toNanos(), "neither served nor refused");
            othersAreServed();
            endSession();
        }
    }

    /// Creating a volume made the client release the group's entries. Its capabilities on its own volume still
    /// block the volume's deletion.
    @Test
    void aClientThatHoldsItsOwnVolumeAloneHoldsUpNobodyElse() throws IOException {
        try (FuseMount pod = pod()) {
            subvolumes().create(sibling, SPEC);
            pod.signal("KILL");
            subvolumes().remove(sibling);
            isRefusedWithin(REFUSED, () -> subvolumes().remove(volume));
            othersAreServed();
            endSession();
            CephLab.await(SERVED, () -> isServed(() -> subvolumes().list(SubvolumeGroup.of(volume))));
        }
        nothingIsLeft();
    }

    /// No other client has read these directories recently, so the MDS gave this one exclusive capabilities. Then
    /// readers block too.
    @Test
    void theMgrDoesNotLookAtWhatAClientThatIsGoneHasAlone() throws IOException {
        CephLab.daemon("sig", "TERM", "mgr");
        CephLab.daemon("start", "mgr");
        try (FuseMount pod = pod()) {
            pod.signal("KILL");
            isRefusedWithin(REFUSED, () -> subvolumes().find(volume));
            othersAreServed();
            endSession();
            CephLab.await(SERVED, () -> isServed(() -> subvolumes().find(volume)));
        }
        nothingIsLeft();
    }

    /// In this case no client is to blame.
    @Test
    void anMdsThatAnswersNobodyIsNotTakenForAClient() {
        try (CephAdapter hurried = CephLab.adapter(() -> Duration.ofSeconds(4))) {
            hurried.ports().subvolumes().create(sibling, SPEC);
            CephLab.daemon("sig", "STOP", "mds");
            try {
                assertThrows(
                        DriverException.DeadlinePassed.class,
                        () -> hurried.ports().subvolumes().remove(sibling));
            } finally {
                CephLab.daemon("sig", "CONT", "mds");
            }
            CephLab.await(
                    SERVED, () -> isServed(() -> hurried.ports().subvolumes().remove(sibling)));
        }
        nothingIsLeft();
    }

    @Test
    void noMoreThan64AccountsWait() {
        PrometheusRegistry metrics = new PrometheusRegistry();
        try (CephAdapter asked = CephLab.adapter(() -> Duration.ofSeconds(30), metrics)) {
            assertTrue(asked.ports().subvolumes().find(other).isPresent());
            List<CompletableFuture<Optional<List<String>>>> waiting = new ArrayList<>();
            CephLab.daemon("sig", "STOP", "mds");
            try {
                for (int i = 0; i < 64; i++) {
                    waiting.add(inBackground(() -> asked.ports().subvolumes().list(group("nobody"))));
                }
                CephLab.await(SERVED, () -> probesInFlight(metrics) == 64);
                String words = assertThrows(
                                DriverException.BackendUnavailable.class,
                                () -> asked.ports().subvolumes().list(group("last")))
                        .getMessage();
                assertTrue(words.contains("the directories of 64 accounts wait"), words);
            } finally {
                CephLab.daemon("sig", "CONT", "mds");
            }
            waiting.forEach(each -> assertEquals(Optional.empty(), each.join()));
            assertEquals(0, probesInFlight(metrics));
            assertEquals(Optional.empty(), asked.ports().subvolumes().list(group("last")));
        }
        nothingIsLeft();
    }

    private static <T> CompletableFuture<T> inBackground(Supplier<T> call) {
        return CompletableFuture.supplyAsync(call, task -> Thread.ofVirtual().start(task));
    }

    private static double probesInFlight(PrometheusRegistry metrics) {
        return metrics.scrape(name -> name.equals("siphon_ceph_probes_in_flight")).stream()
                .map(GaugeSnapshot.class::cast)
                .flatMap(gauge -> gauge.getDataPoints().stream())
                .mapToDouble(GaugeSnapshot.GaugeDataPointSnapshot::getValue)
                .sum();
    }
}
