package dev.siphon.e2e.isolation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonParser;
import csi.v1.CreateVolumeRequest;
import csi.v1.CreateVolumeResponse;
import csi.v1.ValidateVolumeCapabilitiesRequest;
import csi.v1.Volume;
import csi.v1.VolumeCapability;
import csi.v1.VolumeCapability.AccessMode.Mode;
import dev.siphon.e2e.driver.LeavesNothingBehind;
import dev.siphon.e2e.driver.NodeMounts;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.CephTree;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Lab;
import dev.siphon.e2e.lab.Project;
import io.grpc.Status.Code;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/// Datasets that an administrator declares with their readers: who gets them, what their keys open, and what is
/// left of them when they are taken away. Namespace `user-NAME` is account NAME's.
@ExtendWith(LeavesNothingBehind.class)
final class DatasetsIT {
    private static final Duration IN_STEP = Duration.ofSeconds(60);
    private static final VolumeCapability READING = Requests.mount(Mode.MULTI_NODE_READER_ONLY);
    private static final byte[] PICTURE = new byte[300_000];

    @TempDir
    private Path folder = Path.of("");

    /// Short, since it is part of ids.
    private final String top = "/datasets/" + UUID.randomUUID().toString().substring(0, 8);
    private String digest = "";

    @BeforeEach
    void pack() throws IOException {
        new Random(7).nextBytes(PICTURE);
        Path source = folder.resolve("source");
        Files.write(Files.createDirectories(source.resolve("class")).resolve("picture"), PICTURE);
        try (CephTree tree = CephTree.mount(Lab.here())) {
            Path place = Files.createDirectories(tree.at(top + "/mine"));
            Files.createDirectories(tree.at(top + "/open"));
            Path twin = Files.createDirectories(tree.at(top + "/twin"));
            String script = "import os, sys; os.setxattr(sys.argv[1], 'ceph.dir.layout.pool_namespace', b'mine')";
            Command.run("python3", "-c", script, place.toString());
            Command.run("python3", "-c", script, twin.toString());
            String said = Command.run(
                    Project.launcher().toString(),
                    "dataset",
                    "pack",
                    "--source",
                    source.toString(),
                    "--image",
                    place.resolve("image").toString());
            digest = JsonParser.parseString(said.lines().reduce("", (_, last) -> last))
                    .getAsJsonObject()
                    .get("digest")
                    .getAsString();
        }
    }

    @AfterEach
    void remove() throws IOException {
        try (CephTree tree = CephTree.mount(Lab.here());
                Stream<Path> all = Files.walk(tree.at(top))) {
            for (Path path : all.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
            Files.delete(tree.at("/datasets"));
        }
    }

    /// Declares `mine` for these readers; and `open`, whose directory has no RADOS namespace.
    private void declare(String... readers) throws IOException {
        String names = String.join(
                ",", List.of(readers).stream().map(each -> '"' + each + '"').toList());
        Files.writeString(
                folder.resolve("datasets.json"),
                "{\"u1/mine\":" + spec("mine", names) + ",\"open\":" + spec("open", "\"*\"") + "}");
    }

    private String spec(String name, String readers) {
        return "{\"fsName\":\"%s\",\"path\":\"%s/%s\",\"digest\":\"%s\",\"readers\":[%s]}"
                .formatted(Lab.here().fileSystem(), top, name, digest, readers);
    }

    private KeyedDriver start() {
        String grants = "--grants-file=" + folder.resolve("grants.json");
        return KeyedDriver.start(
                List.of(
                        grants,
                        "--datasets-file=" + folder.resolve("datasets.json"),
                        "--namespace-owner=namespace-prefix:user-"),
                List.of(grants));
    }

    private static CreateVolumeRequest request(String name, String dataset, String namespace) {
        return Requests.readOnly(Requests.volume(name, "nobody", Requests.GIB)).toBuilder()
                .putParameters("dataset", dataset)
                .putParameters("csi.storage.k8s.io/pvc/namespace", namespace)
                .build();
    }

    private static Outcome<CreateVolumeResponse> create(KeyedDriver driver, CreateVolumeRequest request) {
        return Outcome.of(() -> driver.controller().controller().createVolume(request));
    }

    private static Volume forPodOf(String namespace, Volume volume) {
        return volume.toBuilder()
                .putVolumeContext("csi.storage.k8s.io/pod.namespace", namespace)
                .build();
    }

    @Test
    void readersReadItAndOthersDoNot() throws IOException {
        declare("u1");
        try (KeyedDriver driver = start()) {
            Volume volume = driver.volume(request("pvc-1", "u1/mine", "user-u1"));
            assertEquals(
                    volume,
                    create(driver, request("pvc-1", "u1/mine", "user-u1")).get().getVolume(),
                    "a retry");
            assertEquals(
                    Code.PERMISSION_DENIED,
                    create(driver, request("pvc-2", "u1/mine", "user-u2")).code());
            assertEquals(
                    Code.NOT_FOUND,
                    create(driver, request("pvc-2", "u1/none", "user-u1")).code());
            CreateVolumeRequest writing = request("pvc-2", "u1/mine", "user-u1").toBuilder()
                    .clearVolumeCapabilities()
                    .addVolumeCapabilities(Requests.shared())
                    .build();
            assertEquals(Code.INVALID_ARGUMENT, create(driver, writing).code());
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
            Outcome<?> unsafe = create(driver, request("pvc-2", "open", "user-u1"));
            assertEquals(Code.FAILED_PRECONDITION, unsafe.code());
            assertTrue(unsafe.message().contains("ceph.dir.layout.pool_namespace"), unsafe.message());

            NodeMounts mounts = driver.mountsWith(volume, "pods");
            mounts.stage(volume, READING).get();
            mounts.publish(forPodOf("user-u1", volume), READING, "mine").get();
            assertArrayEquals(
                    PICTURE, Files.readAllBytes(mounts.target(volume, "mine").resolve("class/picture")));
            Outcome<?> others = mounts.publish(forPodOf("user-u2", volume), READING, "other");
            assertEquals(Code.PERMISSION_DENIED, others.code(), others.message());
        }
    }

    @Test
    void aReaderWhoIsTakenAwayGetsItNoMore() throws IOException {
        declare("u1", "u2");
        try (KeyedDriver driver = start()) {
            Volume volume = driver.volume(request("pvc-1", "u1/mine", "user-u2"));
            NodeMounts mounts = driver.mountsWith(volume, "pods");
            mounts.stage(volume, READING).get();
            Volume ofU2 = forPodOf("user-u2", volume);
            mounts.publish(ofU2, READING, "running").get();
            declare("u1");
            Await.until(
                    "the grant is taken back",
                    IN_STEP,
                    () -> mounts.publish(ofU2, READING, "late").code() == Code.PERMISSION_DENIED);
            assertArrayEquals(
                    PICTURE, Files.readAllBytes(mounts.target(volume, "running").resolve("class/picture")));
            assertEquals(
                    Code.PERMISSION_DENIED,
                    create(driver, request("pvc-2", "u1/mine", "user-u2")).code());
        }
    }

    @Test
    void itsKeyReadsItAloneAndGoesWithIt() throws IOException {
        declare("u1", "u2");
        try (KeyedDriver driver = start()) {
            Volume volume = driver.volume(request("pvc-1", "u1/mine", "user-u1"));
            Volume second = driver.volume(request("pvc-2", "u1/mine", "user-u2"));
            assertNotEquals(volume.getVolumeId(), second.getVolumeId());
            KeyedDriver.Secrets secrets = driver.secrets(volume);
            assertEquals(secrets, driver.secrets(second), "one dataset, one key");
            KeyHolder finder = driver.finderOf(volume);
            try (KeyHolder.Mounted mine = finder.mount(top + "/mine")) {
                assertTrue(Files.size(mine.root().resolve("image")) > PICTURE.length);
                assertThrows(
                        IOException.class, () -> Files.writeString(mine.root().resolve("new"), "x"));
                assertThrows(IOException.class, () -> Files.delete(mine.root().resolve("image")));
            } catch (KeyHolder.Refused refused) {
                throw new AssertionError("the key does not open the dataset", refused);
            }
            assertThrows(
                    KeyHolder.Refused.class, () -> finder.mount(top + "/open").close());
            assertThrows(KeyHolder.Refused.class, () -> finder.mount("/").close());
            String pool =
                    KeyHolder.admin().tool("ceph", "fs", "ls", "--format=json").output();
            String data = JsonParser.parseString(pool.substring(pool.indexOf('[')))
                    .getAsJsonArray()
                    .get(0)
                    .getAsJsonObject()
                    .getAsJsonArray("data_pools")
                    .get(0)
                    .getAsString();
            assertEquals(
                    0,
                    finder.tool("rados", "-p", data, "-N", "mine", "stat", anObject(data))
                            .exit());
            assertNotEquals(
                    0,
                    finder.tool("rados", "-p", data, "-N", "mine", "rm", anObject(data))
                            .exit());
            assertNotEquals(0, finder.tool("rados", "-p", data, "ls").exit());

            driver.controller().controller().deleteVolume(Requests.delete(second.getVolumeId()));
            assertFalse(Files.exists(driver.keys().resolve(second.getVolumeId().replace("/", "%2F") + ".json")));
            assertEquals(secrets, driver.secrets(volume), "the other's key stays");

            Files.writeString(folder.resolve("datasets.json"), "{}");
            Path grants = folder.resolve("grants.json");
            Await.until("nobody is granted it", IN_STEP, () -> !text(grants).contains("user-u1"));
            assertEquals(0, isMinted(secrets.userId()), "its volume lives on with it");
            driver.controller().controller().deleteVolume(Requests.delete(volume.getVolumeId()));
            Await.until("its key is gone", IN_STEP, () -> isMinted(secrets.userId()) != 0);
            Await.until("it is forgotten", IN_STEP, () -> !text(grants).contains(digest.substring(0, 40)));
        }
    }

    @Test
    void datasetsOfOneRadosNamespaceGetNoKey() throws IOException {
        Files.writeString(
                folder.resolve("datasets.json"),
                "{\"mine\":" + spec("mine", "\"u1\"") + ",\"twin\":" + spec("twin", "\"*\"") + "}");
        try (KeyedDriver driver = start()) {
            Outcome<CreateVolumeResponse> mine = create(driver, request("pvc-1", "mine", "user-u1"));
            Outcome<?> twin = create(driver, request("pvc-2", "twin", "user-u2"));
            assertEquals(Code.FAILED_PRECONDITION, twin.code(), twin.message());
            assertTrue(twin.message().contains("RADOS namespace mine"), twin.message());
            if (mine.code() == Code.OK) {
                driver.controller()
                        .controller()
                        .deleteVolume(Requests.delete(mine.get().getVolume().getVolumeId()));
            }
            Files.writeString(folder.resolve("datasets.json"), "{}");
            Path grants = folder.resolve("grants.json");
            Await.until("it is forgotten", IN_STEP, () -> !text(grants).contains(digest.substring(0, 40)));
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

    private static String anObject(String pool) {
        return KeyHolder.admin()
                .tool("rados", "-p", pool, "-N", "mine", "ls")
                .output()
                .lines()
                .filter(line -> line.matches("[0-9a-f]+\\.[0-9a-f]+"))
                .findFirst()
                .orElseThrow();
    }
}
