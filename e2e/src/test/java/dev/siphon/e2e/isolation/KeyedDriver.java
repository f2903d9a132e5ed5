package dev.siphon.e2e.isolation;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import csi.v1.CreateVolumeRequest;
import csi.v1.Volume;
import dev.siphon.e2e.driver.CsiClient;
import dev.siphon.e2e.driver.DriverFolder;
import dev.siphon.e2e.driver.NodeMounts;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.driver.ServedProcess;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Lab;
import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// A controller that creates a key for each volume, a node, and one test's volumes. Its identity has exactly the
/// caps that `siphon ceph-caps` prints.
final class KeyedDriver implements AutoCloseable {
    private static final Duration FOLLOWS_WITHIN = Duration.ofSeconds(30);

    private final DriverFolder folder;
    private final Path keys;
    private final ServedProcess controllerProcess;
    private final ServedProcess nodeProcess;
    private final CsiClient controller;
    private final CsiClient node;
    private final Deque<Runnable> undo = new ArrayDeque<>();

    private KeyedDriver(DriverFolder folder, Path keys, List<String> controllerFlags, List<String> nodeFlags) {
        this.folder = folder;
        this.keys = keys;
        List<String> flags = new ArrayList<>(List.of("--key-dir=" + keys));
        flags.addAll(controllerFlags);
        this.controllerProcess = folder.controller(flags.toArray(String[]::new));
        this.nodeProcess = folder.node("node-a", nodeFlags.toArray(String[]::new));
        this.controller = CsiClient.to(controllerProcess.endpoint());
        this.node = CsiClient.to(nodeProcess.endpoint());
    }

    /// Starts both processes. The accounts are those of a [DriverFolder], and `u1_b`.
    static KeyedDriver start() {
        return start("siphon-key-commands", List.of("--key-commands"), List.of(), List.of());
    }

    /// Does the same with more flags, and without the caps for key commands.
    static KeyedDriver start(List<String> controllerFlags, List<String> nodeFlags) {
        return start("siphon-plain", List.of(), controllerFlags, nodeFlags);
    }

    /// Does the same with more flags, and with the caps for key commands.
    static KeyedDriver startForKeyCommands(List<String> controllerFlags, List<String> nodeFlags) {
        return start("siphon-key-commands", List.of("--key-commands"), controllerFlags, nodeFlags);
    }

    private static KeyedDriver start(
            String user, List<String> caps, List<String> controllerFlags, List<String> nodeFlags) {
        DriverFolder folder = DriverFolder.create();
        try {
            Path keys = Files.createDirectory(
                    folder.file("keys"),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            Files.writeString(folder.file("passwd"), "u1_b:x:10100:10100::/:/bin/false\n", StandardOpenOption.APPEND);
            Files.writeString(folder.file("group"), "u1_b:x:10100:\n", StandardOpenOption.APPEND);
            makeIdentity(folder, user, caps);
            return new KeyedDriver(folder, keys, controllerFlags, nodeFlags);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void makeIdentity(DriverFolder folder, String user, List<String> caps) throws IOException {
        Path clusters = folder.file("clusters.json");
        Files.writeString(clusters, """
                {"clusters": [{"id": "lab", "monitors": ["%s"], "user": "%s", "keyringFile": "%s"}]}
                """.formatted(Lab.here().monitors(), user, folder.file("controller.keyring")));
        List<String> words = new ArrayList<>(List.of(
                Project.launcher().toString(),
                "ceph-caps",
                "--clusters=" + clusters,
                "--fs=" + Lab.here().fileSystem()));
        words.addAll(caps);
        String script = Command.run(words.toArray(String[]::new));
        Command.run("bash", "-euc", script);
    }

    /// Creates a volume, waits for its key, and deletes it at the end.
    Volume volume(String name, String owner) {
        return volume(Requests.volume(name, owner, Requests.GIB));
    }

    Volume volume(CreateVolumeRequest request) {
        Volume made = controller.controller().createVolume(request).getVolume();
        undo.push(() -> controller.controller().deleteVolume(Requests.delete(made.getVolumeId())));
        Await.until("the key of " + made.getVolumeId(), FOLLOWS_WITHIN, () -> Files.exists(keyFile(made)));
        return made;
    }

    private Path keyFile(Volume volume) {
        return keys.resolve(volume.getVolumeId().replace("/", "%2F") + ".json");
    }

    /// A volume's identity and its key.
    record Secrets(String userId, String key) {
        /// Returns the secrets of NodeStageVolume.
        Map<String, String> toMap() {
            return Map.of("userID", userId, "userKey", key);
        }
    }

    /// Returns a volume's current secrets of NodeStageVolume.
    Secrets secrets(Volume volume) {
        try {
            JsonObject json =
                    JsonParser.parseString(Files.readString(keyFile(volume))).getAsJsonObject();
            return new Secrets(
                    json.get("userID").getAsString(), json.get("userKey").getAsString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Returns all fields of the controller's Secret, as an orchestrator passes them to a node.
    Map<String, String> wholeSecrets(Volume volume) {
        try {
            Map<String, String> all = new HashMap<>();
            JsonParser.parseString(Files.readString(keyFile(volume)))
                    .getAsJsonObject()
                    .asMap()
                    .forEach((name, value) -> all.put(name, value.getAsString()));
            return all;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Returns an attacker with the volume's current key.
    KeyHolder finderOf(Volume volume) {
        Secrets secrets = secrets(volume);
        return KeyHolder.with(secrets.userId(), secrets.key(), folder.file("."));
    }

    /// Returns a node's mounts with one volume's key, in a Secret that an attacker wrote.
    ///
    /// @param place a folder name, different for each
    NodeMounts mountsWith(Volume key, String place) {
        return mounts(secrets(key).toMap(), place);
    }

    /// Does the same with the Secret that the controller wrote.
    NodeMounts mountsWithSecretOf(Volume volume, String place) {
        return mounts(wholeSecrets(volume), place);
    }

    private NodeMounts mounts(Map<String, String> secrets, String place) {
        NodeMounts mounts = new NodeMounts(node, folder.file(place), secrets);
        undo.push(mounts::close);
        return mounts;
    }

    /// Runs `siphon` with the flags for cluster, keys and accounts.
    Command.Result siphon(String... words) {
        List<String> command = new ArrayList<>(List.of(Project.launcher().toString()));
        command.addAll(List.of(words));
        command.addAll(List.of(
                "--clusters=" + folder.file("clusters.json"),
                "--key-dir=" + keys,
                "--directory-passwd=" + folder.file("passwd"),
                "--directory-group=" + folder.file("group")));
        return Command.attempt(command.toArray(String[]::new));
    }

    /// Runs `body` at the end, before anything created earlier is removed.
    void atEnd(Runnable body) {
        undo.push(body);
    }

    CsiClient controller() {
        return controller;
    }

    CsiClient node() {
        return node;
    }

    ServedProcess nodeProcess() {
        return nodeProcess;
    }

    DriverFolder folder() {
        return folder;
    }

    Path keys() {
        return keys;
    }

    @Override
    public void close() {
        try (folder;
                controllerProcess;
                nodeProcess;
                controller;
                node) {
            while (!undo.isEmpty()) {
                undo.pop().run();
            }
        }
    }
}
