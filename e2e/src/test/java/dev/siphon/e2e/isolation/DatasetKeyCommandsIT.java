package dev.siphon.e2e.isolation;

import static dev.siphon.e2e.isolation.DeclaredDatasets.READING;
import static dev.siphon.e2e.isolation.DeclaredDatasets.forPodOf;
import static dev.siphon.e2e.isolation.DeclaredDatasets.request;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.Volume;
import dev.siphon.e2e.driver.LeavesNothingBehind;
import dev.siphon.e2e.driver.NodeMounts;
import dev.siphon.e2e.isolation.KeyedDriver.Secrets;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Command;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/// Runs `siphon key revoke` for keys of mounted datasets.
@Timeout(180)
@ExtendWith(LeavesNothingBehind.class)
final class DatasetKeyCommandsIT {
    private static final Duration SESSION_ENDS_WITHIN = Duration.ofSeconds(30);
    private static final String MANIFEST = "image.manifest";

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

    /// Creates a node's identity for the dataset, as a cluster's controller does.
    ///
    /// @return the key
    private String mintFor(KeyHolder shared, String node) {
        String caps = KeyHolder.admin()
                .tool("ceph", "auth", "get", "client." + shared.userId())
                .output();
        String userId = shared.userId() + ".1." + node;
        Command.Result minted = KeyHolder.admin()
                .tool(
                        "ceph",
                        "auth",
                        "get-or-create-key",
                        "client." + userId,
                        "mon",
                        cap(caps, "mon"),
                        "mds",
                        cap(caps, "mds"),
                        "osd",
                        cap(caps, "osd"));
        assertEquals(0, minted.exit(), minted.output());
        return minted.output().lines().reduce("", (_, last) -> last).strip();
    }

    private static String cap(String caps, String service) {
        return caps.replaceAll("(?s).*caps " + service + " = \"([^\"]*)\".*", "$1");
    }

    private String read(KeyHolder.Mounted mounted, String file) throws IOException {
        return Long.toString(Files.readAllBytes(mounted.root().resolve(file)).length);
    }

    @Test
    void aLeakedKeyIsRefusedAndVolumesGetAnother() throws IOException, KeyHolder.Refused {
        try (KeyedDriver driver = datasets.startForKeyCommands()) {
            Volume volume = driver.volume(request("pvc-1", "u1/mine", "user-u1"));
            Secrets stolen = driver.secrets(volume);
            KeyHolder thief = driver.finderOf(volume);
            try (KeyHolder.Mounted held = thief.mount(datasets.path("mine"))) {
                assertNotEquals("0", read(held, MANIFEST));

                Command.Result revoked = driver.siphon("key", "revoke", volume.getVolumeId(), "--json");

                assertEquals(0, revoked.exit(), revoked.output());
                assertTrue(revoked.output().contains(datasets.path("mine")), revoked.output());
                assertTrue(revoked.output().contains("client." + stolen.userId()), revoked.output());
                assertThrows(IOException.class, () -> read(held, "image"), "in a session that was open");
            }
            assertThrows(KeyHolder.Refused.class, () -> thief.mount(datasets.path("mine")), "mon");
            Secrets now = driver.secrets(volume);
            assertNotEquals(stolen.key(), now.key());
            assertFalse(revokedTwice(driver, volume).contains(now.key()), "a key is printed");
            NodeMounts reader = driver.mountsWith(volume, "reader");
            reader.stage(volume, READING).get();
            reader.publish(forPodOf("user-u1", volume), READING, "pod").get();
            assertArrayEquals(
                    datasets.picture(),
                    Files.readAllBytes(reader.target(volume, "pod").resolve("class/picture")));
        }
    }

    private static String revokedTwice(KeyedDriver driver, Volume volume) {
        Command.Result again = driver.siphon("key", "revoke", volume.getVolumeId());
        assertEquals(0, again.exit(), again.output());
        return again.output();
    }

    @Test
    void aStolenNodesKeysAreRevokedWhetherOrNotItHasSessions() throws IOException, KeyHolder.Refused {
        try (KeyedDriver driver = datasets.startForKeyCommands()) {
            KeyHolder shared = driver.finderOf(driver.volume(request("pvc-1", "u1/mine", "user-u1")));
            KeyHolder thief =
                    KeyHolder.with(shared.userId() + ".1.node-x.example", mintFor(shared, "node-x.example"), folder);
            KeyHolder other =
                    KeyHolder.with(shared.userId() + ".1.node-y.example", mintFor(shared, "node-y.example"), folder);
            try (KeyHolder.Mounted held = thief.mount(datasets.path("mine"));
                    KeyHolder.Mounted elsewhere = other.mount(datasets.path("mine"))) {
                assertNotEquals("0", read(held, MANIFEST));

                Command.Result revoked = driver.siphon("key", "revoke", "--node", "node-x.example", "--json");

                assertEquals(0, revoked.exit(), revoked.output());
                assertTrue(revoked.output().contains("client." + thief.userId()), revoked.output());
                assertFalse(revoked.output().contains("node-y"), revoked.output());
                assertThrows(IOException.class, () -> read(held, "image"));
                assertNotEquals("0", read(elsewhere, "image"));
            }
            assertThrows(KeyHolder.Refused.class, () -> thief.mount(datasets.path("mine")));
            shared.mount(datasets.path("mine")).close();
            assertEquals(
                    1,
                    driver.siphon("key", "revoke", "--node", "node-x.example").exit(),
                    "it has none any more");
            for (KeyHolder each : List.of(thief, other)) {
                boolean isThere = KeyHolder.admin()
                                .tool("ceph", "auth", "get", "client." + each.userId())
                                .exit()
                        == 0;
                assertEquals(each.equals(other), isThere, each.userId());
            }
            KeyHolder.admin().tool("ceph", "auth", "rm", "client." + other.userId());
        }
    }

    @Test
    void aNameNeedsWhoeverKnowsNames() {
        try (KeyedDriver driver = datasets.startForKeyCommands()) {
            Command.Result byName = driver.siphon("key", "revoke", "dataset:u1/mine");
            assertEquals(2, byName.exit(), byName.output());
            assertTrue(byName.output().contains("--kubernetes-namespace"), byName.output());
            assertEquals(2, driver.siphon("key", "rotate", "dataset:U1").exit());
        }
    }

    @Test
    void aKeyIsReplacedWhenNobodyUsesIt() throws IOException, KeyHolder.Refused {
        try (KeyedDriver driver = datasets.startForKeyCommands()) {
            Volume volume = driver.volume(request("pvc-1", "u1/mine", "user-u1"));
            KeyHolder old = driver.finderOf(volume);
            Secrets before = driver.secrets(volume);
            try (KeyHolder.Mounted held = old.mount(datasets.path("mine"))) {
                assertNotEquals("0", read(held, MANIFEST));
                Command.Result used = driver.siphon("key", "rotate", volume.getVolumeId());
                assertEquals(1, used.exit(), used.output());
                assertTrue(used.output().contains("client." + before.userId()), used.output());
                assertNotEquals("0", read(held, "image"));
                assertEquals(before, driver.secrets(volume));
            }
            Await.until(
                    "the session has ended",
                    SESSION_ENDS_WITHIN,
                    () -> driver.siphon("key", "rotate", volume.getVolumeId()).exit() == 0);
            assertNotEquals(before, driver.secrets(volume));
            driver.finderOf(volume).mount(datasets.path("mine")).close();
            assertThrows(KeyHolder.Refused.class, () -> old.mount(datasets.path("mine")));
        }
    }
}
