package dev.siphon.e2e.isolation;

import static dev.siphon.e2e.isolation.DeclaredDatasets.READING;
import static dev.siphon.e2e.isolation.DeclaredDatasets.forPodOf;
import static dev.siphon.e2e.isolation.DeclaredDatasets.provision;
import static dev.siphon.e2e.isolation.DeclaredDatasets.request;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.CreateVolumeRequest;
import csi.v1.CreateVolumeResponse;
import csi.v1.ValidateVolumeCapabilitiesRequest;
import csi.v1.Volume;
import dev.siphon.e2e.driver.LeavesNothingBehind;
import dev.siphon.e2e.driver.NodeMounts;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Command;
import io.grpc.Status.Code;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/// Datasets that an administrator declares with their readers: who gets them, what their keys open, and what
/// remains after their removal. Namespace `user-NAME` belongs to account NAME.
@ExtendWith(LeavesNothingBehind.class)
final class DatasetsIT {
    private static final Duration IN_STEP = Duration.ofSeconds(60);

    @TempDir
    private Path folder = Path.of("");

    private DeclaredDatasets datasets;

    @BeforeEach
    void pack() throws IOException {
        datasets = new DeclaredDatasets(folder);
    }

    @AfterEach
    void remove() throws IOException {
        datasets.close();
    }

    /// A stranger's mount of `/` is logged like one by the controller, and later: the log is complete when it
    /// appears.
    @Test
    void theControllerMountsNothingThatItsCapsDoNotReach() throws IOException {
        datasets.declare("u1");
        long before = deniedRoots();
        try (KeyedDriver driver = datasets.start()) {
            Volume dataset = driver.volume(request("pvc-1", "u1/mine", "user-u1"));
            assertThrows(KeyHolder.Refused.class, () -> driver.finderOf(dataset).mount("/"));
            Await.until("Ceph's log shows the stranger", IN_STEP, () -> deniedRoots() > before);
            assertEquals(before + 1, deniedRoots());
        }
    }

    private static long deniedRoots() {
        return Command.run("ceph", "log", "last", "10000", "debug", "cluster")
                .lines()
                .filter(line -> line.contains("non-allowable root '/'"))
                .count();
    }

    @Test
    void readersReadItAndOthersDoNot() throws IOException {
        datasets.declare("u1");
        try (KeyedDriver driver = datasets.start()) {
            Volume volume = driver.volume(request("pvc-1", "u1/mine", "user-u1"));
            assertEquals(
                    volume,
                    provision(driver, request("pvc-1", "u1/mine", "user-u1"))
                            .get()
                            .getVolume(),
                    "a retry");
            assertEquals(
                    Code.PERMISSION_DENIED,
                    provision(driver, request("pvc-2", "u1/mine", "user-u2")).code());
            assertEquals(
                    Code.NOT_FOUND,
                    provision(driver, request("pvc-2", "u1/none", "user-u1")).code());
            CreateVolumeRequest writing = request("pvc-2", "u1/mine", "user-u1").toBuilder()
                    .clearVolumeCapabilities()
                    .addVolumeCapabilities(Requests.shared())
                    .build();
            assertEquals(Code.INVALID_ARGUMENT, provision(driver, writing).code());
            var both = ValidateVolumeCapabilitiesRequest.newBuilder()
                    .setVolumeId(volume.getVolumeId())
                    .addVolumeCapabilities(READING);
            assertTrue(driver.controller()
                    .controller()
                    .validateVolumeCapabilities(both.build())
                    .hasConfirmed());
            assertFalse(driver.controller()
                    .controller()
                    .validateVolumeCapabilities(
                            both.addVolumeCapabilities(Requests.shared()).build())
                    .hasConfirmed());
            Outcome<?> unsafe = provision(driver, request("pvc-2", "open", "user-u1"));
            assertEquals(Code.FAILED_PRECONDITION, unsafe.code());
            assertTrue(unsafe.message().contains("ceph.dir.layout.pool_namespace"), unsafe.message());

            NodeMounts mounts = driver.mountsWith(volume, "pods");
            mounts.stage(volume, READING).get();
            mounts.publish(forPodOf("user-u1", volume), READING, "mine").get();
            assertArrayEquals(
                    datasets.picture(),
                    Files.readAllBytes(mounts.target(volume, "mine").resolve("class/picture")));
            Outcome<?> others = mounts.publish(forPodOf("user-u2", volume), READING, "other");
            assertEquals(Code.PERMISSION_DENIED, others.code(), others.message());
        }
    }

    @Test
    void aReaderWhoIsTakenAwayGetsItNoMore() throws IOException {
        datasets.declare("u1", "u2");
        try (KeyedDriver driver = datasets.start()) {
            Volume volume = driver.volume(request("pvc-1", "u1/mine", "user-u2"));
            NodeMounts mounts = driver.mountsWith(volume, "pods");
            mounts.stage(volume, READING).get();
            Volume ofU2 = forPodOf("user-u2", volume);
            mounts.publish(ofU2, READING, "running").get();
            datasets.declare("u1");
            Await.until(
                    "the grant is taken back",
                    IN_STEP,
                    () -> mounts.publish(ofU2, READING, "late").code() == Code.PERMISSION_DENIED);
            assertArrayEquals(
                    datasets.picture(),
                    Files.readAllBytes(mounts.target(volume, "running").resolve("class/picture")));
            assertEquals(
                    Code.PERMISSION_DENIED,
                    provision(driver, request("pvc-2", "u1/mine", "user-u2")).code());
        }
    }

    @Test
    void itsKeyReadsItAloneAndGoesWithIt() throws IOException {
        datasets.declare("u1", "u2");
        try (KeyedDriver driver = datasets.start()) {
            Volume volume = driver.volume(request("pvc-1", "u1/mine", "user-u1"));
            Volume second = driver.volume(request("pvc-2", "u1/mine", "user-u2"));
            assertNotEquals(volume.getVolumeId(), second.getVolumeId());
            KeyedDriver.Secrets secrets = driver.secrets(volume);
            assertEquals(secrets, driver.secrets(second), "one dataset, one key");
            KeyHolder finder = driver.finderOf(volume);
            try (KeyHolder.Mounted mine = finder.mount(datasets.path("mine"))) {
                assertTrue(Files.size(mine.root().resolve("image")) > datasets.picture().length);
                assertThrows(
                        IOException.class, () -> Files.writeString(mine.root().resolve("new"), "x"));
                assertThrows(IOException.class, () -> Files.delete(mine.root().resolve("image")));
            } catch (KeyHolder.Refused refused) {
                throw new AssertionError("the key does not open the dataset", refused);
            }
            assertThrows(
                    KeyHolder.Refused.class,
                    () -> finder.mount(datasets.path("open")).close());
            assertThrows(KeyHolder.Refused.class, () -> finder.mount("/").close());
            String data = DeclaredDatasets.pool();
            assertEquals(
                    0,
                    finder.tool("rados", "-p", data, "-N", "mine", "stat", DeclaredDatasets.anObject())
                            .exit());
            assertNotEquals(
                    0,
                    finder.tool("rados", "-p", data, "-N", "mine", "rm", DeclaredDatasets.anObject())
                            .exit());
            assertNotEquals(0, finder.tool("rados", "-p", data, "ls").exit());

            driver.controller().controller().deleteVolume(Requests.delete(second.getVolumeId()));
            assertFalse(Files.exists(driver.keys().resolve(second.getVolumeId().replace("/", "%2F") + ".json")));
            assertEquals(secrets, driver.secrets(volume), "the other's key stays");

            datasets.declareNone();
            Path grants = datasets.grants();
            Await.until("nobody is granted it", IN_STEP, () -> !text(grants).contains("user-u1"));
            assertEquals(0, isMinted(secrets.userId()), "its volume lives on with it");
            driver.controller().controller().deleteVolume(Requests.delete(volume.getVolumeId()));
            Await.until("its key is gone", IN_STEP, () -> isMinted(secrets.userId()) != 0);
            Await.until("it is forgotten", IN_STEP, () -> !text(grants).contains(datasets.digestBeginning()));
        }
    }

    @Test
    void datasetsOfOneRadosNamespaceGetNoKey() throws IOException {
        datasets.declareTwins();
        try (KeyedDriver driver = datasets.start()) {
            Outcome<CreateVolumeResponse> mine = provision(driver, request("pvc-1", "mine", "user-u1"));
            Outcome<?> twin = provision(driver, request("pvc-2", "twin", "user-u2"));
            assertEquals(Code.FAILED_PRECONDITION, twin.code(), twin.message());
            assertTrue(twin.message().contains("RADOS namespace mine"), twin.message());
            if (mine.code() == Code.OK) {
                driver.controller()
                        .controller()
                        .deleteVolume(Requests.delete(mine.get().getVolume().getVolumeId()));
            }
            datasets.declareNone();
            Path grants = datasets.grants();
            Await.until("it is forgotten", IN_STEP, () -> !text(grants).contains(datasets.digestBeginning()));
        }
    }

    private static int isMinted(String userId) {
        return KeyHolder.admin().tool("ceph", "auth", "get", "client." + userId).exit();
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
