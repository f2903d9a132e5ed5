package dev.siphon.controller.ceph.fs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.audit.Trash;
import dev.siphon.controller.ceph.CephLab;
import dev.siphon.controller.ceph.FuseMount;
import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.controller.ceph.rados.CephConnection;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class CephTrashIT {
    private static final String FS = CephLab.fileSystem();

    private final CephConnection connection =
            new CephConnection(CephLab.access(), CallLimits.DEFAULT, CephLab.PATIENT, CephLab.metrics());
    private final CephFileSystems fileSystems = new CephFileSystems(
            _ -> connection, CephLab.identity(), CallLimits.DEFAULT, CephLab.PATIENT, CephLab.metrics());

    @AfterEach
    void close() {
        CephLab.daemon("sig", "CONT", "mgr");
        fileSystems.close();
        connection.close();
    }

    @Test
    void whatWaitsIsListedWithTheTimeOfItsRemoval() throws Exception {
        String name = "it-" + UUID.randomUUID();
        try (FuseMount fuse = FuseMount.mount()) {
            // otherwise it would purge the trash
            CephLab.daemon("sig", "STOP", "mgr");
            Instant before = Instant.now().minusSeconds(1);
            Files.createDirectories(fuse.at("/volumes/_deleting"));
            Files.createDirectories(fuse.at("/volumes/a-" + name));
            Files.move(fuse.at("/volumes/a-" + name), fuse.at("/volumes/_deleting/" + name));
            Trash.Entries found = list(Map.of());
            assertTrue(found.count() > 0);
            Instant since = Objects.requireNonNull(found.since().get(name), "not listed");
            assertTrue(!since.isBefore(before) && !since.isAfter(Instant.now().plusSeconds(1)), since.toString());
            Instant known = Instant.parse("2026-01-02T03:04:05Z");
            assertEquals(known, list(Map.of(name, known)).since().get(name), "it was asked for again");
            Files.deleteIfExists(fuse.at("/volumes/_deleting/" + name));
            CephLab.await(Duration.ofSeconds(20), () -> !list(Map.of()).since().containsKey(name));
        }
    }

    private Trash.Entries list(Map<String, Instant> known) {
        return fileSystems.trash().list("lab", FS, known).orElseThrow();
    }
}
