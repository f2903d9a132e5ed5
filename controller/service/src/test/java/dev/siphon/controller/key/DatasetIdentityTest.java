package dev.siphon.controller.key;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.volume.CephNames;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class DatasetIdentityTest {
    private static final String DATASET = "0123456789abcdefghij";
    private static final String OWNER = CephNames.owner("6f0c1a52-0b0e-4a43-9d9f-1f4f3a1c7a11");

    private static DatasetIdentity of(String node, int attempt) {
        return of(Optional.of(OWNER), node, attempt);
    }

    private static DatasetIdentity of(Optional<String> owner, String node, int attempt) {
        return new DatasetIdentity(
                "fs", DATASET, owner, Optional.of(new DatasetIdentity.AtNode(DatasetIdentity.nameOf(node), attempt)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"node-1", "2", "1.2", "gpu-1.rack.example.org"})
    void anIdSaysWhoseItIs(String node) {
        DatasetIdentity identity = of(node, 9);
        assertEquals("siphon-dataset.fs." + DATASET + "." + OWNER + ".9." + node, identity.userId());
        assertEquals(Optional.of(identity), DatasetIdentity.parse("fs", identity.userId()));
        DatasetIdentity nobodys = of(Optional.empty(), node, 9);
        assertEquals("siphon-dataset.fs." + DATASET + ".9." + node, nobodys.userId());
        assertEquals(Optional.of(nobodys), DatasetIdentity.parse("fs", nobodys.userId()));
    }

    @Test
    void whatAllNodesShareIsNoNodes() {
        DatasetIdentity shared = new DatasetIdentity("fs", DATASET, Optional.empty(), Optional.empty());
        assertEquals(Optional.of(shared), DatasetIdentity.parse("fs", "siphon-dataset.fs." + DATASET));
        DatasetIdentity owned = new DatasetIdentity("fs", DATASET, Optional.of(OWNER), Optional.empty());
        assertEquals(Optional.of(owned), DatasetIdentity.parse("fs", owned.userId()));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "siphon-dataset.other.0123456789abcdefghij",
                "siphon-dataset.fs.0123456789abcdefghij.0.node-1",
                "siphon-dataset.fs.0123456789abcdefghij.10.node-1",
                "siphon-dataset.fs.0123456789abcdefghij.1.",
                "siphon-dataset.fs.0123456789abcdefghij.k12",
                "siphon-dataset.fs.more.0123456789abcdefghij",
                "siphon.fs.a.v"
            })
    void othersAreNone(String userId) {
        assertEquals(Optional.empty(), DatasetIdentity.parse("fs", userId));
    }

    /// Kubernetes allows node names of 253 characters; a node accepts identity ids of 128.
    @Test
    void longNamesOfNodesAreCutAndStayApart() {
        String one = "n".repeat(252) + "1";
        String two = "n".repeat(252) + "2";
        assertNotEquals(of(one, 1).userId(), of(two, 1).userId());
        assertTrue(of(one, 1).userId().length() < 110, of(one, 1)::userId);
        assertEquals(
                Optional.of(of(one, 1)), DatasetIdentity.parse("fs", of(one, 1).userId()));
    }
}
