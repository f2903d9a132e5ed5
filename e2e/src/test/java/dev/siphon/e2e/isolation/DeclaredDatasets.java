package dev.siphon.e2e.isolation;

import com.google.gson.JsonParser;
import csi.v1.CreateVolumeRequest;
import csi.v1.CreateVolumeResponse;
import csi.v1.Volume;
import csi.v1.VolumeCapability;
import csi.v1.VolumeCapability.AccessMode.Mode;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.lab.CephTree;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Lab;
import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.stream.Stream;

/// Datasets on the lab's CephFS and their declarations: `u1/mine` with an image, `twin` in the same RADOS
/// namespace, and `open`, whose directory has no namespace. Closing removes all of them.
final class DeclaredDatasets implements AutoCloseable {
    static final VolumeCapability READING = Requests.mount(Mode.MULTI_NODE_READER_ONLY);

    private final Path folder;

    /// Short, because ids contain it.
    private final String top = "/datasets/" + UUID.randomUUID().toString().substring(0, 8);

    private final byte[] picture = new byte[300_000];
    private final String digest;

    /// Packs an image with the file `class/picture`.
    ///
    /// @param folder for the administrator's files
    DeclaredDatasets(Path folder) throws IOException {
        this.folder = folder;
        new Random(7).nextBytes(picture);
        Path source = folder.resolve("source");
        Files.write(Files.createDirectories(source.resolve("class")).resolve("picture"), picture);
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
            this.digest = JsonParser.parseString(said.lines().reduce("", (_, last) -> last))
                    .getAsJsonObject()
                    .get("digest")
                    .getAsString();
        }
    }

    /// Returns the content of the image's file.
    byte[] picture() {
        return picture.clone();
    }

    /// Returns a dataset's directory on CephFS.
    String path(String name) {
        return top + "/" + name;
    }

    /// Returns the part of the digest by which volume ids name the image.
    String digestBeginning() {
        return digest.substring(0, 40);
    }

    /// Returns the controller's file of grants.
    Path grants() {
        return folder.resolve("grants.json");
    }

    /// Declares `u1/mine` for these readers, and `open` for everybody.
    void declare(String... readers) throws IOException {
        String names = String.join(
                ",", List.of(readers).stream().map(each -> '"' + each + '"').toList());
        write("{\"u1/mine\":" + spec("mine", names) + ",\"open\":" + spec("open", "\"*\"") + "}");
    }

    /// Declares two datasets in one RADOS namespace.
    void declareTwins() throws IOException {
        write("{\"mine\":" + spec("mine", "\"u1\"") + ",\"twin\":" + spec("twin", "\"*\"") + "}");
    }

    /// Removes all declarations.
    void declareNone() throws IOException {
        write("{}");
    }

    private void write(String declared) throws IOException {
        Files.writeString(folder.resolve("datasets.json"), declared);
    }

    private String spec(String name, String readers) {
        return "{\"fsName\":\"%s\",\"path\":\"%s\",\"digest\":\"%s\",\"readers\":[%s]}"
                .formatted(Lab.here().fileSystem(), path(name), digest, readers);
    }

    /// Starts a driver with these declarations. Namespace `user-NAME` belongs to account NAME.
    KeyedDriver start(String... nodeFlags) {
        String flag = "--grants-file=" + grants();
        List<String> ofNode = new ArrayList<>(List.of(flag));
        ofNode.addAll(List.of(nodeFlags));
        return KeyedDriver.start(controllerFlags(), ofNode);
    }

    /// Does the same with an identity that also serves `siphon key revoke`.
    KeyedDriver startForKeyCommands() {
        return KeyedDriver.startForKeyCommands(controllerFlags(), List.of("--grants-file=" + grants()));
    }

    private List<String> controllerFlags() {
        return List.of(
                "--grants-file=" + grants(),
                "--datasets-file=" + folder.resolve("datasets.json"),
                "--namespace-owner=namespace-prefix:user-");
    }

    /// Returns a provisioner's request for a claim whose class names a dataset.
    static CreateVolumeRequest request(String name, String dataset, String namespace) {
        return Requests.readOnly(Requests.volume(name, "nobody", Requests.GIB)).toBuilder()
                .putParameters("dataset", dataset)
                .putParameters("csi.storage.k8s.io/pvc/namespace", namespace)
                .build();
    }

    /// Calls CreateVolume.
    static Outcome<CreateVolumeResponse> provision(KeyedDriver driver, CreateVolumeRequest request) {
        return Outcome.of(() -> driver.controller().controller().createVolume(request));
    }

    /// Returns the volume as a kubelet publishes it for a pod of that namespace.
    static Volume forPodOf(String namespace, Volume volume) {
        return volume.toBuilder()
                .putVolumeContext("csi.storage.k8s.io/pod.namespace", namespace)
                .build();
    }

    /// Returns the data pool of the lab's file system.
    static String pool() {
        String said =
                KeyHolder.admin().tool("ceph", "fs", "ls", "--format=json").output();
        return JsonParser.parseString(said.substring(said.indexOf('[')))
                .getAsJsonArray()
                .get(0)
                .getAsJsonObject()
                .getAsJsonArray("data_pools")
                .get(0)
                .getAsString();
    }

    /// Returns one of the objects in the image's RADOS namespace.
    static String anObject() {
        return KeyHolder.admin()
                .tool("rados", "-p", pool(), "-N", "mine", "ls")
                .output()
                .lines()
                .filter(line -> line.matches("[0-9a-f]+\\.[0-9a-f]+"))
                .findFirst()
                .orElseThrow();
    }

    @Override
    public void close() throws IOException {
        try (CephTree tree = CephTree.mount(Lab.here());
                Stream<Path> all = Files.walk(tree.at(top))) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
            Files.delete(tree.at("/datasets"));
        }
    }
}
