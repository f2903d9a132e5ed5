package dev.siphon.e2e.isolation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import csi.v1.Volume;
import dev.siphon.e2e.driver.LeavesNothingBehind;
import dev.siphon.e2e.driver.NodeMounts;
import dev.siphon.e2e.isolation.KeyedDriver.Secrets;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Lab;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/// Runs `siphon key rotate` and `siphon key revoke` while a node has the volumes mounted.
@Timeout(300)
@ExtendWith(LeavesNothingBehind.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class KeyCommandsIT {
    private static final Duration SESSION_ENDS_WITHIN = Duration.ofSeconds(30);

    private final KeyedDriver driver = KeyedDriver.start();

    @AfterAll
    void end() {
        driver.close();
        assertEquals(List.of(), identities("client.siphon." + Lab.here().fileSystem() + "."));
    }

    @Test
    void aKeyIsReplacedWhileItsVolumeStaysMounted() throws IOException {
        Volume volume = driver.volume("rotated", "u1");
        Secrets first = driver.secrets(volume);
        NodeMounts old = driver.mountsWith(volume, "rotated-before");
        Path mounted = old.mount(volume);
        Files.writeString(mounted.resolve("file"), "before");

        Command.Result begun = driver.siphon("key", "rotate", volume.getVolumeId(), "--json");
        assertEquals(1, begun.exit(), begun.output());
        assertTrue(begun.output().contains("node-a"), begun.output());
        Secrets second = driver.secrets(volume);
        assertEquals(first.userId() + ".2", second.userId());
        assertNotEquals(first.key(), second.key());
        assertFalse(begun.output().contains(second.key()), "a key is printed");
        Files.writeString(mounted.resolve("file"), "while both are there");
        assertEquals(2, identities("client." + first.userId()).size());
        assertEquals(1, driver.siphon("key", "rotate", volume.getVolumeId()).exit(), "still in use");
        assertEquals(second, driver.secrets(volume), "nothing is minted before the first is gone");

        old.close();
        NodeMounts anew = driver.mountsWith(volume, "rotated-after");
        assertEquals("while both are there", Files.readString(anew.mount(volume).resolve("file")));
        Command.Result ended = driver.siphon("key", "rotate", volume.getVolumeId(), "--wait", "30", "--json");
        assertEquals(0, ended.exit(), ended.output());
        assertEquals(List.of("client." + second.userId()), identities("client." + first.userId()));
        assertEquals(
                "while both are there",
                Files.readString(anew.target(volume, "pod").resolve("file")));

        Command.Result all = driver.siphon("key", "rotate", "--all-older-than", "30", "--json");
        assertEquals(0, all.exit(), all.output());
        assertEquals("", all.output(), "the key is young");
    }

    @Test
    void deletingAVolumeRemovesEveryGenerationOfItsKey() {
        Volume volume = driver.volume("rotated-and-deleted", "u1");
        String first = "client." + driver.secrets(volume).userId();
        NodeMounts old = driver.mountsWith(volume, "deleted");
        old.mount(volume);
        assertEquals(1, driver.siphon("key", "rotate", volume.getVolumeId()).exit());
        old.close();
        assertEquals(2, identities(first).size());

        var _ = driver.controller()
                .controller()
                .deleteVolume(dev.siphon.e2e.driver.Requests.delete(volume.getVolumeId()));

        assertEquals(List.of(), identities(first));
        assertFalse(Files.exists(driver.keys().resolve(volume.getVolumeId() + ".json")));
    }

    @Test
    void aRevokedKeyIsRefusedByAllOfCephAndTheVolumeGetsAnother() throws IOException, KeyHolder.Refused {
        Volume volume = driver.volume("revoked", "u1");
        Volume beside = driver.volume("beside-revoked", "u1");
        KeyHolder thief = driver.finderOf(volume);
        NodeMounts mounts = driver.mountsWith(volume, "revoked");
        Path mounted = mounts.mount(volume);
        NodeMounts besides = driver.mountsWith(beside, "beside-revoked");
        Path spared = besides.mount(beside);
        String group = "/volumes/" + volume.getVolumeId().split(":", -1)[3];
        try (KeyHolder.Mounted held = thief.mount(group);
                FileChannel open = FileChannel.open(
                        mounted.resolve("file"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            write(open);
            String[] place = objects(thief);
            assertEquals(0, thief.tool("rados", place).exit(), "the key opens the volume's objects");

            Command.Result revoked = driver.siphon("key", "revoke", volume.getVolumeId(), "--json");

            assertEquals(0, revoked.exit(), revoked.output());
            JsonObject row = JsonParser.parseString(revoked.output()).getAsJsonObject();
            assertEquals(group, row.get("reached names of").getAsString());
            assertEquals(
                    place[1] + "/" + place[3], row.get("reached objects in").getAsString());
            assertTrue(row.get("ended at")
                    .getAsString()
                    .contains("node-a@" + Lab.here().address()));
            assertEquals("", row.get("still mounted at").getAsString());
            assertThrows(IOException.class, () -> write(open), "OSD and MDS, in a session that was open");
            assertThrows(IOException.class, () -> list(held.root()), "MDS");
            assertThrows(KeyHolder.Refused.class, () -> thief.mount(group), "mon");
            assertNotEquals(0, thief.tool("rados", place).exit(), "mon, before any OSD");
        } catch (IOException whatCouldNotBeWritten) {
            // close(2) reports the failed write once more
            assertFalse(whatCouldNotBeWritten.toString().isEmpty());
        }
        Files.writeString(spared.resolve("file"), "another key, another session");
        mounts.close();
        NodeMounts anew = driver.mountsWith(volume, "revoked-anew");
        Files.writeString(anew.mount(volume).resolve("file"), "with the new key");
    }

    @Test
    void whatANodeHasMountedIsRevokedAndNothingElse() throws IOException {
        Volume one = driver.volume("stolen-1", "u1");
        Volume two = driver.volume("stolen-2", "u2");
        Volume elsewhere = driver.volume("not-stolen", "u2");
        Secrets first = driver.secrets(one);
        Secrets spared = driver.secrets(elsewhere);
        Path mounted = driver.mountsWith(one, "stolen-1").mount(one);
        driver.mountsWith(two, "stolen-2").mount(two);

        // the state left by an earlier run that was killed before it evicted the sessions
        assertEquals(1, driver.siphon("key", "rotate", one.getVolumeId()).exit());
        var removed = KeyHolder.admin().tool("ceph", "auth", "rm", "client." + first.userId());
        assertEquals(0, removed.exit(), removed.output());
        Secrets second = driver.secrets(one);

        Command.Result revoked = driver.siphon("key", "revoke", "--node", "node-a", "--json");

        assertEquals(0, revoked.exit(), revoked.output());
        assertTrue(revoked.output().contains(one.getVolumeId()), revoked.output());
        assertTrue(revoked.output().contains(two.getVolumeId()), revoked.output());
        assertFalse(revoked.output().contains(elsewhere.getVolumeId()), revoked.output());
        assertThrows(IOException.class, () -> Files.writeString(mounted.resolve("file"), "x"));
        assertEquals(spared, driver.secrets(elsewhere));
        assertEquals(second, driver.secrets(one), "what was done is not done again");
        assertTrue(driver.secrets(two).userId().endsWith(".2"));
        Await.until(
                "no session of the node is left",
                SESSION_ENDS_WITHIN,
                () -> driver.siphon("key", "revoke", "--node", "node-a", "--json")
                        .output()
                        .contains("no session with the key of a volume is at"));
    }

    @Test
    void whoeverMakesTheMgrWaitIsEndedWithoutIt() throws IOException, KeyHolder.Refused {
        Volume volume = driver.volume("held", "u1");
        Secrets first = driver.secrets(volume);
        KeyHolder thief = driver.finderOf(volume);
        try (HeldGroup held = HeldGroup.by(thief, volume.getVolumeId().split(":", -1)[3])) {
            assertTrue(held.isHeld());
            Command.Result revoked = driver.siphon("key", "revoke", volume.getVolumeId(), "--json");
            assertEquals(0, revoked.exit(), revoked.output());
        }
        assertEquals(first.userId() + ".2", driver.secrets(volume).userId());
        assertEquals(1, identities("client." + first.userId()).size());
    }

    @Test
    void aKeyThatWasThereBeforeIsNotGivenAgain() {
        Volume volume = driver.volume("generations", "u1");
        Secrets first = driver.secrets(volume);
        assertEquals(
                0,
                driver.siphon("key", "revoke", volume.getVolumeId(), "--json").exit());
        Secrets second = driver.secrets(volume);
        assertEquals(first.userId() + ".2", second.userId());
        // the state left by a run that was killed before it stored its key
        String third = "client." + first.userId() + ".3";
        Command.Result left = KeyHolder.admin().tool("ceph", "auth", "get-or-create-key", third);
        assertEquals(0, left.exit(), left.output());

        var _ = driver.siphon("key", "rotate", volume.getVolumeId());
        var _ = driver.siphon("key", "rotate", volume.getVolumeId());

        Secrets now = driver.secrets(volume);
        assertNotEquals(first.userId() + ".3", now.userId());
        assertFalse(left.output().contains(now.key()), now.userId());
        assertEquals(List.of("client." + now.userId()), identities("client." + first.userId()));
    }

    /// Killed after it removed the identity: only the volume still shows what that one was allowed.
    @Test
    void aRevocationThatWasKilledIsFinishedByARepeat() throws IOException {
        Volume volume = driver.volume("killed", "u1");
        Secrets first = driver.secrets(volume);
        var removed = KeyHolder.admin().tool("ceph", "auth", "rm", "client." + first.userId());
        assertEquals(0, removed.exit(), removed.output());

        Command.Result repeated = driver.siphon("key", "revoke", volume.getVolumeId(), "--json");

        assertEquals(0, repeated.exit(), repeated.output());
        assertEquals(first.userId() + ".2", driver.secrets(volume).userId());
        Path mounted = driver.mountsWith(volume, "killed").mount(volume);
        Files.writeString(mounted.resolve("file"), "with the new key");
    }

    @Test
    void aNodeThatNobodyIsAtIsNoStolenOneAndWhoIsThereIsTold() {
        Volume volume = driver.volume("at-a-node", "u1");
        Secrets secrets = driver.secrets(volume);
        driver.mountsWith(volume, "at-a-node").mount(volume);
        for (String typo : List.of("node-b", "NODE-A", "node-a.example", "192.0.2.1")) {
            Command.Result revoked = driver.siphon("key", "revoke", "--node", typo, "--json");
            assertEquals(1, revoked.exit(), typo);
            assertTrue(revoked.output().contains("node-a@" + Lab.here().address()), revoked.output());
            assertTrue(revoked.output().contains("siphon key revoke VOLUME"), revoked.output());
        }
        for (String none : List.of("999.999.1.1", "10.213.027.002")) {
            assertEquals(2, driver.siphon("key", "revoke", "--node", none).exit(), none);
        }
        assertEquals(secrets, driver.secrets(volume));
    }

    @Test
    void theAddressOfADaemonOrOfAnyControllerIsNotBlocked() throws KeyHolder.Refused {
        Command.Result refused;
        try (KeyHolder.Mounted _ = KeyHolder.admin().mount("/")) {
            refused = driver.siphon(
                    "key", "revoke", "--node", "node-a@" + Lab.here().address(), "--block-address", "1");
        }
        assertEquals(1, refused.exit(), refused.output());
        for (String daemon :
                List.of("mon.a", "mgr.a", "osd.0", "mds.a", "client.siphon-key-commands", "client.admin")) {
            assertTrue(refused.output().contains(daemon), refused.output());
        }
        String blocked =
                KeyHolder.admin().tool("ceph", "osd", "blocklist", "ls").output();
        assertFalse(blocked.contains(Lab.here().address() + ":0/0 "), blocked);
    }

    @Test
    void whatHasNoKeyIsNotTakenForRevokedAndTheOthersAreDone() {
        Volume volume = driver.volume("one-of-two", "u1");
        String typo = volume.getVolumeId().replaceFirst(".$", "0");
        Command.Result revoked = driver.siphon("key", "revoke", typo, volume.getVolumeId(), "--json");
        assertEquals(1, revoked.exit(), revoked.output());
        assertTrue(revoked.output().contains(typo + ": volume " + typo + " has no key"), revoked.output());
        assertTrue(driver.secrets(volume).userId().endsWith(".2"), "the other one");
        assertEquals(1, driver.siphon("key", "rotate", typo).exit());
    }

    @Test
    void anAddressIsBlockedForWhateverComesFromThere() {
        Command.Result revoked =
                driver.siphon("key", "revoke", "--node", "node-z@192.0.2.77", "--block-address", "1", "--json");
        assertEquals(1, revoked.exit(), "no volume is mounted there");
        assertTrue(revoked.output().contains("its address is blocked anyway"), revoked.output());
        String blocked =
                KeyHolder.admin().tool("ceph", "osd", "blocklist", "ls").output();
        assertTrue(blocked.contains("192.0.2.77:0/0 "), blocked);
        KeyHolder.admin().tool("ceph", "osd", "blocklist", "rm", "192.0.2.77");
        assertEquals(
                2,
                driver.siphon("key", "revoke", "--node", "node-z", "--block-address", "1")
                        .exit(),
                "a name is no address");
    }

    /// Writes a byte and syncs it.
    static void write(FileChannel open) throws IOException {
        var _ = open.write(ByteBuffer.wrap(new byte[] {1}));
        open.force(true);
    }

    private static void list(Path folder) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            all.forEach(each -> assertTrue(each.startsWith(folder)));
        }
    }

    /// Returns the arguments with which `rados` lists the objects that a key opens.
    static String[] objects(KeyHolder holder) {
        String caps = KeyHolder.admin()
                .tool("ceph", "auth", "get", "client." + holder.userId())
                .output();
        String pool = caps.replaceAll("(?s).*pool=([^ ]+) namespace=.*", "$1");
        String namespace = caps.replaceAll("(?s).* namespace=([^\" ]+).*", "$1");
        return new String[] {"--pool", pool, "--namespace", namespace, "ls"};
    }

    private static List<String> identities(String prefix) {
        return Arrays.stream(
                        KeyHolder.admin().tool("ceph", "auth", "ls").output().split("\n", -1))
                .filter(line -> line.startsWith(prefix))
                .toList();
    }
}
