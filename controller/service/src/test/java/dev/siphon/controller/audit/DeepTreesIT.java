package dev.siphon.controller.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.ceph.CephLab;
import dev.siphon.controller.ceph.FuseMount;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.volume.Subvolumes.SubvolumeSpec;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// One account deletes volumes with deep directory chains; others are not affected.
class DeepTreesIT {
    /// A purge takes a time that grows with the square of the depth; so does the journaling of a new chain.
    private static final int LEVELS = 1_250;

    /// The mgr purges this many trees in parallel.
    private static final int TREES = 4;

    /// How long new chains may keep the MDS busy.
    private static final Duration RETRIES = Duration.ofMinutes(3);

    @Test
    @Timeout(900)
    void chainsInRemovedVolumesKeepNobodyWaiting(@TempDir Path folder) throws Exception {
        try (AuditedCluster cluster = new AuditedCluster(folder)) {
            List<VolumeId.Provisioned> deep = new ArrayList<>();
            for (int i = 0; i < TREES; i++) {
                // without a quota: with one, the chain alone keeps the MDS busy for minutes
                deep.add(cluster.group("u1").volume("deep-" + i));
            }
            VolumeId.Provisioned first = cluster.create("first", "u1");
            int uid = cluster.firstUid;
            deep.forEach(volume -> cluster.adapter
                    .ports()
                    .subvolumes()
                    .create(volume, new SubvolumeSpec(OptionalLong.empty(), uid, uid, 0700, Optional.empty())));
            List<VolumeId.Provisioned> empty = List.of(cluster.create("a", "u2"), cluster.create("b", "u2"));
            makeChains(cluster, deep);

            deep.forEach(volume -> CephLab.await(RETRIES, () -> isDeleted(cluster, volume)));
            Set<String> ofOne = trash(cluster);
            empty.forEach(cluster.domain.volumes()::delete);
            Set<String> ofTheOther = trash(cluster);
            ofTheOther.removeAll(ofOne);

            cluster.accounts.put(
                    "u3",
                    new Account(
                            "u3",
                            "u3 of " + folder,
                            cluster.firstUid + 2,
                            cluster.firstUid + 2,
                            Set.of(),
                            OptionalLong.empty()));
            long began = System.nanoTime();
            VolumeId.Provisioned made = cluster.create("new", "u3");
            Duration took = Duration.ofNanos(System.nanoTime() - began);
            assertTrue(took.toSeconds() < 5, "CreateVolume of another account took " + took);

            CephLab.await(Duration.ofMinutes(1), () -> trash(cluster).stream().noneMatch(ofTheOther::contains));
            CephLab.await(Duration.ofMinutes(3), () -> trash(cluster).isEmpty());
            cluster.domain.volumes().delete(made);
            cluster.domain.volumes().delete(first);
        }
    }

    /// Retries like a sidecar: the MDS may not respond until it has journaled four new chains.
    private static boolean isDeleted(AuditedCluster cluster, VolumeId.Provisioned volume) {
        try {
            cluster.domain.volumes().delete(volume);
            return true;
        } catch (DriverException.BackendUnavailable
                | DriverException.DeadlinePassed
                | DriverException.OperationPending busy) {
            return false;
        }
    }

    private static Set<String> trash(AuditedCluster cluster) {
        return new HashSet<>(cluster.adapter
                .survey()
                .top("lab", CephLab.fileSystem())
                .trash()
                .keySet());
    }

    /// Creates the chains, as a pod does.
    private static void makeChains(AuditedCluster cluster, List<VolumeId.Provisioned> volumes) throws Exception {
        try (FuseMount pod = FuseMount.mount()) {
            for (VolumeId.Provisioned volume : volumes) {
                String data = cluster.adapter
                        .ports()
                        .subvolumes()
                        .find(volume)
                        .orElseThrow()
                        .dataPath()
                        .orElseThrow();
                Process chain = makeChain(pod.at(data));
                assertTrue(chain.waitFor(300, TimeUnit.SECONDS));
                assertEquals(0, chain.exitValue());
            }
        }
    }

    private static Process makeChain(Path directory) throws IOException {
        return new ProcessBuilder(
                        "perl",
                        "-e",
                        "for (1.." + LEVELS + ") { mkdir 'deep' or die $!; chdir 'deep' or die $!; }"
                                + " open(F, '>', 'last') or die $!;")
                .directory(directory.toFile())
                .inheritIO()
                .start();
    }
}
