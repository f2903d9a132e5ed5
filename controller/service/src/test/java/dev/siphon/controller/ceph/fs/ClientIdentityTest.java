package dev.siphon.controller.ceph.fs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.ceph.rados.ClusterAccess;
import dev.siphon.csi.DriverException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClientIdentityTest {
    private final ClientIdentity identity = new ClientIdentity("cephfs.siphon.dev host /csi/csi.sock");
    private final Path keyring;

    ClientIdentityTest(@TempDir Path folder) {
        keyring = folder.resolve("keyring");
    }

    private String session(String keyringText, ClientIdentity of, String cluster, String use) throws IOException {
        Files.writeString(keyring, keyringText);
        return of.session(new ClusterAccess(cluster, List.of("mon"), "siphon", keyring), use);
    }

    @Test
    void aSessionIsTheSameAfterARestartAndNobodyElseCanTellIt() throws IOException {
        String own = "[client.siphon]\n\tkey = AQown==\n\tcaps mon = \"allow r\"\n";
        String session = session(own, identity, "lab", "calls");
        assertEquals(session, session("[client.other]\nkey=AQo==\n" + own, identity, "lab", "calls"));
        assertTrue(session.matches("[0-9a-f]{64}"), session);
        assertNotEquals(session, session(own, identity, "lab", "lookups"));
        assertNotEquals(session, session(own, identity, "lab2", "calls"));
        assertNotEquals(session, session(own, new ClientIdentity("another"), "lab", "calls"));
        assertNotEquals(session, session("[client.siphon]\nkey = AQguessed==\n", identity, "lab", "calls"));
    }

    @Test
    void whoHasNoKeyHasNoSession() {
        DriverException none = assertThrows(
                DriverException.BackendUnavailable.class,
                () -> session("[client.other]\n\tkey = AQother==\n", identity, "lab", "calls"));
        assertTrue(!none.getMessage().contains("AQother"), none.getMessage());
        assertThrows(
                DriverException.BackendUnavailable.class,
                () -> identity.session(
                        new ClusterAccess("lab", List.of("mon"), "siphon", Path.of("/no/such/keyring")), "calls"));
    }
}
