package dev.siphon.e2e.isolation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import csi.v1.Volume;
import csi.v1.VolumeCapability;
import csi.v1.VolumeCapability.AccessMode.Mode;
import dev.siphon.e2e.driver.LeavesNothingBehind;
import dev.siphon.e2e.driver.NodeMounts;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.lab.CephTree;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Lab;
import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/// Runs `siphon dataset seal` on a real file system: one command, which prints a dataset.
@ExtendWith(LeavesNothingBehind.class)
final class SealIT {
    private static final VolumeCapability READING = Requests.mount(Mode.MULTI_NODE_READER_ONLY);

    @TempDir
    private Path folder = Path.of("");

    /// Short, because ids contain it.
    private final String name = "u1/" + UUID.randomUUID().toString().substring(0, 8);
    private final String path = "/datasets/" + name.replace('/', '.');

    @BeforeEach
    void source() throws IOException {
        Files.writeString(
                Files.createDirectories(folder.resolve("source/class")).resolve("picture"), "seven");
        Files.writeString(Files.createDirectories(folder.resolve("other")).resolve("file"), "another");
    }

    @AfterEach
    void remove() throws IOException {
        try (CephTree tree = CephTree.mount(Lab.here())) {
            Path top = tree.at("/datasets");
            if (Files.exists(top)) {
                try (Stream<Path> all = Files.walk(top)) {
                    for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                        Files.delete(each);
                    }
                }
            }
        }
    }

    private Command.Result seal(Path mount, String called, String source, String... more) {
        List<String> words = new ArrayList<>(List.of(
                Project.launcher().toString(),
                "dataset",
                "seal",
                "--name=" + called,
                "--mount=" + mount,
                "--fs-name=" + Lab.here().fileSystem(),
                "--source=" + folder.resolve(source),
                "--reader=u1"));
        words.addAll(List.of(more));
        return Command.attempt(words.toArray(String[]::new));
    }

    /// Returns the printed object, after any other output.
    private static JsonObject object(Command.Result said) {
        assertEquals(0, said.exit(), said.output());
        return JsonParser.parseString(said.output().substring(said.output().indexOf("{\n")))
                .getAsJsonObject();
    }

    private static void refused(String why, Command.Result said) {
        assertEquals(1, said.exit(), said.output());
        assertTrue(said.output().contains(why), said.output());
    }

    @Test
    void whatItPrintsIsADatasetForItsReaders() throws IOException {
        JsonObject object;
        try (CephTree tree = CephTree.mount(Lab.here())) {
            object = object(seal(tree.at("/"), name, "source", "--reader=group:lab"));
            assertEquals(object, object(seal(tree.at("/"), name, "source", "--reader=group:lab")), "done again");
            refused("is not the image of this source", seal(tree.at("/"), name, "other"));
        }
        assertEquals("Dataset", object.get("kind").getAsString());
        assertEquals(
                name.replace('/', '.'),
                object.getAsJsonObject("metadata").get("name").getAsString());
        JsonObject declared = new JsonObject();
        declared.add(name, object.getAsJsonObject("spec"));
        Files.writeString(folder.resolve("datasets.json"), declared.toString());
        String grants = "--grants-file=" + folder.resolve("grants.json");
        try (KeyedDriver driver = KeyedDriver.start(
                List.of(
                        grants,
                        "--datasets-file=" + folder.resolve("datasets.json"),
                        "--namespace-owner=namespace-prefix:user-"),
                List.of(grants))) {
            Volume volume =
                    driver.volume(Requests.readOnly(Requests.volume("pvc-1", "nobody", Requests.GIB)).toBuilder()
                            .putParameters("dataset", name)
                            .putParameters("csi.storage.k8s.io/pvc/namespace", "user-u1")
                            .build());
            NodeMounts mounts = driver.mountsWith(volume, "pods");
            mounts.stage(volume, READING).get();
            Volume forPod = volume.toBuilder()
                    .putVolumeContext("csi.storage.k8s.io/pod.namespace", "user-u1")
                    .build();
            mounts.publish(forPod, READING, "pod").get();
            assertEquals("seven", Files.readString(mounts.target(volume, "pod").resolve("class/picture")));
        }
    }

    /// The source's owner tries to include what only root can read: by links to files and directories, at every
    /// part of a path, and by a device.
    @Test
    void noByteFromOutsideOfItsSourceIsInAnImage() throws IOException {
        String secret = "what only root may read ".repeat(100);
        Path outside = Files.createDirectories(folder.resolve("outside"));
        Files.writeString(outside.resolve("file"), secret);
        Path hostile = Files.createDirectories(folder.resolve("hostile"));
        Files.createSymbolicLink(hostile.resolve("absolute"), outside.resolve("file"));
        Files.createSymbolicLink(hostile.resolve("upwards"), Path.of("../outside/file"));
        Files.createSymbolicLink(hostile.resolve("directory"), outside);
        Files.createSymbolicLink(hostile.resolve("chain"), Path.of("directory/file"));
        Files.createSymbolicLink(hostile.resolve("root"), Path.of("/"));
        Files.createSymbolicLink(hostile.resolve("itself"), Path.of("/proc/self/environ"));
        Command.run("mknod", hostile.resolve("device").toString(), "c", "1", "5");
        Command.run("mkfifo", hostile.resolve("fifo").toString());
        try (CephTree tree = CephTree.mount(Lab.here())) {
            assertEquals(0, seal(tree.at("/"), name, "hostile").exit());
            Path image = tree.at(path).resolve("image");
            assertFalse(contains(image, secret.substring(0, 100)), "it is in the image");
            assertFalse(contains(image, "LAB_RUN="), "the packer's environment is in the image");
            // the control: the search finds it if it is there
            Files.writeString(hostile.resolve("inside"), secret);
            assertEquals(0, seal(tree.at("/"), name + "-control", "hostile").exit());
            assertTrue(contains(tree.at(path + "-control").resolve("image"), secret.substring(0, 100)));
        }
    }

    /// The MDS writes its journal when a client asks, or at each tick. With ticks of a minute, three packers that
    /// did not ask would hardly be lucky.
    @Test
    void anotherClientOpensANewImageWithoutWaitingForTheJournal() throws IOException {
        Command.run("ceph", "config", "set", "mds", "mds_tick_interval", "60");
        try (CephTree sealer = CephTree.mount(Lab.here());
                CephTree node = CephTree.mount(Lab.here())) {
            for (int i = 0; i < 3; i++) {
                assertEquals(0, seal(sealer.at("/"), name + i, "source").exit());
                long begun = System.nanoTime();
                for (String file : List.of("image.manifest", "image")) {
                    assertTrue(Files.readAllBytes(node.at(path + i).resolve(file)).length > 0);
                }
                Duration took = Duration.ofNanos(System.nanoTime() - begun);
                assertTrue(took.compareTo(Duration.ofSeconds(5)) < 0, "reading it took " + took);
            }
        } finally {
            Command.run("ceph", "config", "rm", "mds", "mds_tick_interval");
        }
    }

    private static boolean contains(Path file, String text) throws IOException {
        return Files.readString(file, StandardCharsets.ISO_8859_1).contains(text);
    }

    @Test
    void whatCannotBeSealedLeavesNothing() throws IOException {
        refused("there is no CephFS at " + folder, seal(folder, name, "source"));
        try (CephTree tree = CephTree.mount(Lab.here())) {
            refused("this dataset cannot be declared", seal(tree.at("/"), "u1/" + "n".repeat(60), "source"));
            refused("is not a dataset's name", seal(tree.at("/"), "No Name", "source"));
            refused("is not a SHA-256 digest", seal(tree.at("/"), name, "source", "--sha256=7"));
            assertFalse(Files.exists(tree.at(path)));
        }
    }

    /// The key is limited to the namespace and would open none of these files.
    @Test
    void filesThatAreInNoNamespaceAreNotJoined() throws IOException {
        try (CephTree tree = CephTree.mount(Lab.here())) {
            Files.writeString(Files.createDirectories(tree.at(path)).resolve("image"), "from before");
            refused("no pool namespace of its own", seal(tree.at("/"), name, "source"));
            assertEquals("from before", Files.readString(tree.at(path).resolve("image")));
        }
    }
}
