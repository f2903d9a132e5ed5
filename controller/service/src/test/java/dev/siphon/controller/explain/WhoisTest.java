package dev.siphon.controller.explain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.identity.Account;
import dev.siphon.controller.key.DatasetIdentity;
import dev.siphon.controller.volume.CephNames;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetReplica;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// From each form of a clue to the same facts.
@Timeout(60)
final class WhoisTest {
    @TempDir
    private Path folder = Path.of("");

    @SuppressWarnings("NullAway.Init")
    private ExplainedWorld world;

    @SuppressWarnings("NullAway.Init")
    private VolumeId.Provisioned volume;

    @BeforeEach
    void mountAVolumeOfU1() {
        world = ExplainedWorld.in(folder);
        volume = world.create("pvc-1", "u1");
        world.bound("pvc-1", volume, "u1", "data");
        world.runningPod("u1", "train-0", "data");
        world.session(4305, ExplainedWorld.identity(volume), "node-a");
        var _ = world.create("other", "u2");
    }

    @AfterEach
    void end() {
        world.close();
    }

    private String everything() {
        return """
                account u1
                uid 10001
                group %1$s
                filesystem lab/fs
                path /volumes/%1$s
                volume %3$s
                path %4$s
                identity client.siphon.fs.%1$s.%2$s
                pv pvc-1 (Bound)
                claim u1/data
                pod u1/train-0 (Running) on node node-a
                session client.4305 of host node-a at 10.0.0.7""".formatted(volume.group(), volume.subvolume(), volume, dataPath());
    }

    private String dataPath() {
        return world.places()
                .ceph()
                .files()
                .dataDirectory(
                        volume.cluster(), volume.fileSystem(), "/volumes/" + volume.group() + "/" + volume.subvolume());
    }

    @Test
    void eachClueOfAVolumeLeadsToAllItsFacts() {
        for (String clue : List.of(
                volume.toString(),
                volume.subvolume(),
                "/volumes/" + volume.group() + "/" + volume.subvolume(),
                dataPath() + "/deep/file",
                "10.0.0.1:6789:" + dataPath(),
                "client." + ExplainedWorld.identity(volume),
                ExplainedWorld.identity(volume) + ".2",
                "client.4305",
                "pvc-1",
                "u1/data")) {
            assertEquals(everything(), world.whois(clue), clue);
        }
        assertEquals(List.of(), world.unanswered);
    }

    @Test
    void aPodLeadsToEachOfItsVolumes() {
        assertEquals("""
                pod u1/train-0 (Running) on node node-a
                claim u1/data

                """ + everything(), world.whois("u1/train-0"));
    }

    @Test
    void anAccountItsGroupAndItsUidLeadToAllItsVolumes() {
        VolumeId.Provisioned second = world.create("pvc-2", "u1");
        for (String clue : List.of("u1", volume.group(), "/volumes/" + volume.group(), "10001")) {
            String told = world.whois(clue);
            assertTrue(told.startsWith("account u1\nuid 10001\ngroup " + volume.group() + "\n"), told);
            assertTrue(told.contains("\n\nvolume " + volume + "\n"), told);
            assertTrue(told.contains("\n\nvolume " + second + "\n"), told);
            assertFalse(told.contains("u2"), told);
        }
    }

    @Test
    void theFilesOfAHomeAreThoseOfAllItsClaims() {
        VolumeId.Provisioned one = world.create("home-1", "u1", "kind", "home");
        VolumeId.Provisioned two = world.create("home-2", "u1", "kind", "home");
        world.bound("home-1", one, "u1", "home");
        world.bound("home-2", two, "u2", "home");

        String alias = world.whois("u1/home");
        String home = alias.lines()
                .filter(line -> line.startsWith("home "))
                .map(line -> line.substring("home ".length(), line.indexOf(',')))
                .findFirst()
                .orElseThrow();
        String told = world.whois(home);

        assertTrue(told.contains("\nclaim u1/home"), told);
        assertTrue(told.contains("\nclaim u2/home"), told);
    }

    @Test
    void anAccountThatLeftIsKnownByItsNote() {
        world.directory.remove("u1");
        world.directory.put(new Account(
                "u1", "id of a newcomer", 10_009, 10_009, java.util.Set.of("u1"), java.util.OptionalLong.empty()));

        assertTrue(
                world.whois(volume.toString()).startsWith("account u1 (no longer in the directory)\nuid 10001\n"),
                () -> world.whois(volume.toString()));
    }

    @Test
    void aRenamedAccountHasItsPresentName() {
        world.directory.remove("u1");
        world.directory.put(
                new Account("new", "id of u1", 10_001, 10_001, java.util.Set.of(), java.util.OptionalLong.empty()));

        assertTrue(world.whois(volume.group()).startsWith("account new\n"), () -> world.whois(volume.group()));
    }

    @Test
    void aSilentDirectoryHidesNothingElse() {
        world.directory.down(true);

        String told = world.whois(volume.toString());

        assertTrue(told.startsWith("account u1 (as last noted: the directory does not answer)\nuid 10001\n"), told);
        assertTrue(told.contains("\nclaim u1/data\n"), told);
    }

    @Test
    void whatCannotBeReadIsReportedAndTheRestShown() {
        world.deniesSessions = true;

        String told = world.whois(volume.toString());

        assertEquals(everything().replaceFirst("\nsession .*", ""), told);
        assertEquals(List.of("sessions of file system fs of cluster lab: no right to list sessions"), world.unanswered);
    }

    @Test
    void aDeletedVolumeLeadsToItsAccount() {
        world.remove(volume);

        String told = world.whois(volume.toString());

        assertTrue(told.startsWith("account u1\n"), told);
        assertTrue(told.contains(", which has no files: the volume was deleted"), told);
    }

    @Test
    void aReleasedVolumeNamesItsDeletedClaim() {
        VolumeId.Provisioned kept = world.create("pvc-3", "u1");
        world.persistentVolume("pvc-3", kept, "u1", "gone", "Released");

        String told = world.whois("pvc-3");

        assertTrue(told.contains("\npv pvc-3 (Released)\nclaim u1/gone (deleted)"), told);
    }

    @Test
    void aClaimWithoutVolumeSaysSo() {
        world.claim("u1", "huge", "Pending", "");

        assertTrue(world.whois("u1/huge").startsWith("claim u1/huge (Pending)\nvolume none yet"));
    }

    @Test
    void aDatasetIsFoundByNamePathDigestAndIdentity() {
        VolumeId.DatasetVolume dataset = world.dataset("u1.digits");
        world.bound("pvc-d", dataset.forUse("0123456789av"), "u2", "digits");
        world.runningPod("u2", "reader", "digits");
        world.pod("u1", "named", "", ExplainedWorld.ofDataset("u1/digits"), "{\"phase\": \"Pending\"}");
        world.replica("u1.digits", dataset, "node-b", DatasetReplica.Report.filling(43, 1, "/mnt/nvme0"));
        String expected = """
                dataset u1.digits
                readers group:vision u1
                filesystem lab/fs
                path /datasets/u1.digits
                digest %s
                pv pvc-d (Bound)
                claim u2/digits
                pod u1/named (Pending), on no node yet
                pod u2/reader (Running) on node node-a
                replica 43 %% on node node-b""".formatted(ExplainedWorld.DIGEST);

        for (String clue : List.of(
                "u1.digits",
                "u1/digits",
                dataset.toString(),
                "/datasets/u1.digits/image",
                "siphon:" + ExplainedWorld.DIGEST.substring(0, 12) + ":any",
                "u2/digits",
                "pvc-d")) {
            assertEquals(expected, world.whois(clue), clue);
        }
        String userId = new DatasetIdentity(
                        "fs",
                        CephNames.dataset(dataset),
                        Optional.of(CephNames.owner("x")),
                        Optional.of(new DatasetIdentity.AtNode("node-a", 1)))
                .userId();
        assertEquals(
                expected + "\nidentity client." + userId + "\nnode node-a, which reads the dataset by it",
                world.whois("client." + userId));
    }

    @Test
    void aClientThatIsNobodysIsNamed() {
        world.session(7, "admin", "laptop");

        assertEquals(
                "identity client.admin, which belongs to no volume\nsession client.7 of host laptop at 10.0.0.7",
                world.whois("client.7"));
    }

    @Test
    void whatIsNotKnownIsNotFound() {
        for (String clue :
                List.of("nobody", "u1/nothing", "client.99", "99", "a" + "0".repeat(20), "/volumes/nobodys/x")) {
            assertThrows(DriverException.NotFound.class, () -> world.whois(clue), clue);
        }
    }
}
