package dev.siphon.controller.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.audit.Finding.Kind;
import dev.siphon.controller.ceph.CephLab;
import dev.siphon.controller.ceph.FuseMount;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A repair deletes nothing that contains files or is mounted.
class LeftoverDeletionIT extends OnAuditedCluster {
    @Test
    void anEmptyVolumeThatIsMountedStays() throws IOException {
        VolumeId.Provisioned shut = cluster.create("shut-and-mounted", "u1");
        Path data = data(shut);
        String path = subvolumes.find(shut).orElseThrow().dataPath().orElseThrow();
        cluster.adapter.ports().files().setMode("lab", shut.fileSystem(), path, 01000);
        cluster.persistentVolumes.remove(shut);
        for (String root : List.of(path, SubvolumeGroup.of(shut).path())) {
            try (FuseMount client = FuseMount.mount("-r", root)) {
                assertTrue(Files.isDirectory(client.at("/")));
                Finding found = found(Kind.HALF_FILLED);
                var mounted = assertThrows(
                        DriverException.InUse.class, () -> cluster.repairs().repair(found.repair()));
                assertTrue(mounted.getMessage().contains("mounted at"), mounted.getMessage());
                assertTrue(Files.isDirectory(data));
            }
        }
        CephLab.await(
                Duration.ofSeconds(20),
                () -> cluster.adapter.clientSessions().mounting(shut).isEmpty());
        assertFoundAndMended(Kind.HALF_FILLED);
    }

    /// Repairs like `siphon audit --repair --yes`: after a refusal it continues with the next defect.
    private void repairAll() {
        for (Finding defect : cluster.defects()) {
            try {
                boolean _ = cluster.repairs().repair(defect.repair());
            } catch (DriverException.InUse _) {
                // an administrator must decide
            }
        }
    }

    /// Returns what the holder of an account's key could write into `.meta` of a volume with files.
    private static String forged(String made, String right) {
        return switch (made) {
            case "of old, and leads elsewhere" -> right.replaceFirst("path = .*", "path = /volumes");
            case "removed" ->
                right.replaceFirst("path = .*", "path = ").replaceFirst("state = .*", "state = snapshot-retained");
            default -> right.replaceFirst("state = .*", "state = " + made);
        };
    }

    @ParameterizedTest
    @ValueSource(strings = {"of old, and leads elsewhere", "removed", "failed", "canceled", "pending", "in-progress"})
    void filesStayHoweverOftenTheirVolumeIsRepaired(String made) throws Exception {
        subvolumes.create(filled(), spec(0700));
        cluster.keys.mintNow(filled());
        Path data = data(filled());
        Path file = Files.writeString(data.resolve("precious"), "precious");
        Path meta = directory(filled()).resolve(".meta");
        String right = Files.readString(meta);
        Files.writeString(meta, forged(made, right));
        Path old = admin.at(VolumeChecks.old(SubvolumeGroup.of(filled()).path() + "/" + filled().subvolume()));
        if (made.startsWith("of old")) {
            Files.createDirectories(old.getParent());
            Files.writeString(old, "[GLOBAL]\n");
        }
        for (int round = 0; round < 3; round++) {
            repairAll();
            assertEquals("precious", Files.readString(file));
        }
        // files beside the data directory count too
        for (String hidden : List.of("aside", ".trash", ".meta.tmp")) {
            Path aside = Files.createDirectories(data.resolveSibling(hidden)).resolve("precious");
            Files.move(file, aside);
            for (int round = 0; round < 3; round++) {
                repairAll();
                assertEquals("precious", Files.readString(aside));
            }
            Files.move(aside, file);
            Files.delete(aside.getParent());
        }
        Files.delete(file);
        Files.deleteIfExists(old);
        Files.writeString(meta, forged("failed", right));
        repairAll();
        repairAll();
    }
}
