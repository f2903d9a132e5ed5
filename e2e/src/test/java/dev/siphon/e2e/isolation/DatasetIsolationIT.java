package dev.siphon.e2e.isolation;

import static dev.siphon.e2e.isolation.DeclaredDatasets.READING;
import static dev.siphon.e2e.isolation.DeclaredDatasets.forPodOf;
import static dev.siphon.e2e.isolation.DeclaredDatasets.request;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import csi.v1.Volume;
import dev.siphon.e2e.driver.LeavesNothingBehind;
import dev.siphon.e2e.driver.NodeMounts;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.isolation.Verdict.By;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Command;
import io.grpc.Status.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/// Tries every way to a dataset's bytes except the readers' own: other keys, Ceph's tools, another volume's id, the
/// node's cache and devices. Each attempt has a control by an allowed identity, which succeeds.
@ExtendWith(LeavesNothingBehind.class)
final class DatasetIsolationIT {
    private static final Duration FILLED_WITHIN = Duration.ofSeconds(60);

    @TempDir
    private Path folder = Path.of("");

    private DeclaredDatasets datasets;

    @BeforeEach
    void pack() throws IOException {
        datasets = new DeclaredDatasets(folder);
        datasets.declare("u1");
    }

    @AfterEach
    void remove() throws IOException {
        datasets.close();
    }

    private static Verdict rados(KeyHolder who, String... words) {
        List<String> all = new ArrayList<>(List.of("--pool", DeclaredDatasets.pool(), "--namespace", "mine"));
        all.addAll(List.of(words));
        Command.Result said = who.tool("rados", all.toArray(String[]::new));
        return Verdict.of(By.OSD, said.exit(), said.output());
    }

    private static Verdict file(KeyHolder who, String mounted, String file) {
        return FileAttempt.of(who, mounted, root -> {
            var _ = Files.readAllBytes(root.resolve(file));
        });
    }

    private static void assertRefused(
            String what, KeyHolder may, List<KeyHolder> attackers, Function<KeyHolder, Verdict> attempt) {
        assertInstanceOf(Verdict.Done.class, attempt.apply(may), what + ", by who may");
        for (KeyHolder each : attackers) {
            assertInstanceOf(Verdict.Refused.class, attempt.apply(each), what + ", by " + each.userId());
        }
    }

    /// Includes the key of a reader's volume: a key that a pod of u1 finds opens nothing else that u1 may read.
    @Test
    void noVolumesKeyOpensItsFilesOrItsObjects() throws IOException {
        try (KeyedDriver driver = datasets.start()) {
            KeyHolder reader = driver.finderOf(driver.volume(request("pvc-1", "u1/mine", "user-u1")));
            List<KeyHolder> attackers = List.of(
                    driver.finderOf(driver.volume("plain", "u1")), driver.finderOf(driver.volume("plain", "u2")));
            String object = DeclaredDatasets.anObject();
            assertRefused("reading the image", reader, attackers, who -> file(who, datasets.path("mine"), "image"));
            assertRefused("reading an object", reader, attackers, who -> rados(who, "get", object, "/dev/null"));
            assertRefused("listing its objects", reader, attackers, who -> rados(who, "ls"));
            List<KeyHolder> all = new ArrayList<>(attackers);
            all.add(reader);
            KeyHolder admin = KeyHolder.admin();
            assertRefused(
                    "all datasets",
                    admin,
                    all,
                    who -> file(who, "/datasets", datasets.path("mine").substring("/datasets/".length()) + "/image"));
            assertRefused(
                    "everything",
                    admin,
                    all,
                    who -> file(who, "/", datasets.path("mine").substring(1) + "/image"));
            assertRefused("writing an object", admin, all, who -> rados(who, "put", "attack", "/proc/version"));
            assertRefused("removing an object", admin, all, who -> rados(who, "rm", "attack"));
        }
    }

    /// Also on a node that has attached the dataset for a reader's pod; a dataset is attached only once.
    @Test
    void itsIdWithAnothersKeyIsNoWayToIt() throws IOException {
        try (KeyedDriver driver = datasets.start()) {
            Volume dataset = driver.volume(request("pvc-1", "u1/mine", "user-u1"));
            NodeMounts thief = driver.mountsWith(driver.volume("plain", "u2"), "thief");
            assertRefused("with nobody's beside it", thief.stage(dataset, READING));

            NodeMounts reader = driver.mountsWith(dataset, "reader");
            reader.stage(dataset, READING).get();
            reader.publish(forPodOf("user-u1", dataset), READING, "pod").get();
            assertArrayEquals(
                    datasets.picture(),
                    Files.readAllBytes(reader.target(dataset, "pod").resolve("class/picture")));
            assertRefused("with a reader's beside it", thief.stage(dataset, READING));
            assertRefused(
                    "where a reader has it staged", reader.publish(forPodOf("user-u2", dataset), READING, "stranger"));
            driver.mountsWith(dataset, "second").stage(dataset, READING).get();
        }
    }

    private static void assertRefused(String what, Outcome<?> outcome) {
        assertEquals(Code.PERMISSION_DENIED, outcome.code(), () -> what + ": " + outcome.message());
    }

    @Test
    void theNodesCacheAndDevicesAreNoAccounts() throws IOException {
        Path cache = Files.createTempDirectory("siphon-cache-");
        // the refusal must come from the node's own permissions
        Files.setPosixFilePermissions(cache, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path own = cache.resolve("own");
        try (KeyedDriver driver = datasets.start("--cache-dir=" + own + "=1Gi")) {
            Volume dataset = driver.volume(request("pvc-1", "u1/mine", "user-u1"));
            NodeMounts mounts = driver.mountsWith(dataset, "pods");
            mounts.stage(dataset, READING).get();
            mounts.publish(forPodOf("user-u1", dataset), READING, "pod").get();
            Await.until("a replica", FILLED_WITHIN, () -> !found(own, "image").isEmpty());
            String replica = found(own, "image").lines().findFirst().orElseThrow();
            String device = Command.run(
                            "findmnt",
                            "-no",
                            "SOURCE",
                            "-T",
                            mounts.target(dataset, "pod").toString())
                    .strip();
            assertEquals("/dev/loop", device.replaceAll("[0-9]+$", ""));

            assertRootAlone("the replica", "head -c 4096 \"$1\" | grep -q .", replica);
            assertRootAlone("names of what is cached", "ls \"$1\"/*", own.toString());
            assertRootAlone("the loop device", "head -c 4096 \"$1\" | grep -q .", device);
            assertRootAlone("what loop devices are made by", "exec 3<>\"$1\"", "/dev/loop-control");
        } finally {
            Command.run("rm", "-rf", cache.toString());
        }
    }

    private static String found(Path below, String name) {
        return Command.attempt("find", below.toString(), "-name", name).output();
    }

    /// root succeeds; account u2 on the node's host does not.
    private static void assertRootAlone(String what, String script, String path) {
        Command.Result control = Command.attempt("bash", "-o", "pipefail", "-c", script, "bash", path);
        assertEquals(0, control.exit(), () -> what + ", by root: " + control.output());
        Command.Result attempt = Command.attempt(
                "setpriv",
                "--reuid=10002",
                "--regid=10002",
                "--clear-groups",
                "bash",
                "-o",
                "pipefail",
                "-c",
                script,
                "bash",
                path);
        assertNotEquals(0, attempt.exit(), () -> what + ": " + attempt.output());
    }
}
