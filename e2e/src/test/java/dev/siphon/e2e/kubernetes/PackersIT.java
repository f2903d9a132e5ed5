package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonParser;
import dev.siphon.e2e.lab.Command;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// What the controller may create to pack snapshots, and what its token must not allow.
@Tag("kubernetes")
@AloneOnCluster
final class PackersIT {
    private static final Cluster CLUSTER = Cluster.here();

    @BeforeAll
    static void addSnapshots() {
        SnapshotController.addTo(Installation.in(CLUSTER), CLUSTER);
    }

    @Test
    void theControllerLacksNothingForThem() {
        Command.Result said = Installation.in(CLUSTER).siphon("check", "controller", "--account", "u1", "--json");

        assertEquals(0, said.exit(), said::output);
    }

    @Test
    void theControllerMayMakeAPacker() {
        Command.Result made = PackerJob.real(CLUSTER).tryCreate(CLUSTER);

        assertEquals(0, made.exit(), made::output);
    }

    @Test
    void andWhatReadsItsImageBack() {
        Command.Result made = PackerJob.check(CLUSTER).tryCreate(CLUSTER);

        assertEquals(0, made.exit(), made::output);
    }

    @ParameterizedTest
    @EnumSource
    void itMayMakeNoOtherJob(PackerJob.Forgery forgery) {
        assertRefused("siphon-packers", PackerJob.forged(CLUSTER, forgery).tryCreate(CLUSTER));
    }

    @Test
    void norAVolumeOfANodesPath() {
        PackerJob volume = new PackerJob(JsonParser.parseString("""
                {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "root"},
                 "spec": {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/"}}}""").getAsJsonObject());

        assertRefused("PersistentVolumes of cephfs.siphon.dev alone", volume.tryCreate(CLUSTER));
    }

    private static void assertRefused(String why, Command.Result result) {
        assertNotEquals(0, result.exit(), result::output);
        assertTrue(result.output().contains(why), result::output);
    }
}
