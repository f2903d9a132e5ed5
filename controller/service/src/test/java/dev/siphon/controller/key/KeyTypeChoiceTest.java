package dev.siphon.controller.key;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.key.NodeKernels.NodeKernel;
import dev.siphon.csi.KernelKeys;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class KeyTypeChoiceTest {
    /// Returns nodes n1, n2 and so on, which say `both`, `aes`, `none` or nothing (`?`).
    static List<NodeKernel> nodes(String said) {
        List<String> words = said.equals("-") ? List.of() : Arrays.asList(said.split(" "));
        return IntStream.range(0, words.size())
                .mapToObj(at -> new NodeKernel(
                        "n" + (at + 1),
                        switch (words.get(at)) {
                            case "both" -> Optional.of(KernelKeys.BOTH);
                            case "aes" -> Optional.of(KernelKeys.ONLY_AES);
                            case "none" -> Optional.of(KernelKeys.NONE);
                            default -> Optional.<KernelKeys>empty();
                        }))
                .toList();
    }

    /// Clusters: Ceph 18 (`old`); upgraded to one that prefers `aes`; to one that prefers `aes256k`; both of the latter
    /// where nobody may make new `aes` keys; and one that allows only `aes256k`.
    static CephCiphers cluster(String name) {
        Set<String> both = Set.of("aes", "aes256k");
        return switch (name) {
            case "old" -> new CephCiphers("aes", Set.of("aes"), true);
            case "aes" -> new CephCiphers("aes", both, true);
            case "aes256k" -> new CephCiphers("aes256k", both, true);
            case "aes, no new" -> new CephCiphers("aes", both, false);
            case "aes256k, no new" -> new CephCiphers("aes256k", both, false);
            default -> new CephCiphers("aes256k", Set.of("aes256k"), false);
        };
    }

    @ParameterizedTest(name = "nodes {0}: request {1}, {2}, {3}, {4}, {5}, {6}")
    @CsvSource({
        // nodes,       old, aes,     aes256k, 'aes, no new', 'aes256k, no new', only
        "both,          -,   aes256k, -,       aes256k,       -,                 -",
        "both both,     -,   aes256k, -,       aes256k,       -,                 -",
        "none,          -,   aes256k, -,       aes256k,       -,                 -",
        "both none,     -,   aes256k, -,       aes256k,       -,                 -",
        "aes,           -,   -,       aes,     aes256k,       -,                 -",
        "both aes,      -,   -,       aes,     aes256k,       -,                 -",
        "none aes,      -,   -,       aes,     aes256k,       -,                 -",
        "aes ?,         -,   -,       aes,     aes256k,       -,                 -",
        "both aes ?,    -,   -,       aes,     aes256k,       -,                 -",
        "?,             -,   -,       -,       -,             -,                 -",
        "both ?,        -,   -,       -,       -,             -,                 -",
        "none ?,        -,   -,       -,       -,             -,                 -",
        "-,             -,   -,       -,       -,             -,                 -",
    })
    void theTypeSuitsAllNodesAndLoosensNothing(
            String nodes, String old, String aes, String aes256k, String noNewAes, String noNewAes256k, String only) {
        assertEquals(old, requested(nodes, "old"));
        assertEquals(aes, requested(nodes, "aes"));
        assertEquals(aes256k, requested(nodes, "aes256k"));
        assertEquals(noNewAes, requested(nodes, "aes, no new"));
        assertEquals(noNewAes256k, requested(nodes, "aes256k, no new"));
        assertEquals(only, requested(nodes, "only aes256k"));
    }

    private static String requested(String nodes, String cluster) {
        return KeyTypeChoice.byKernels(nodes(nodes), cluster(cluster))
                .requested()
                .orElse("-");
    }

    @Test
    void theReasonNamesTheNode() {
        assertReason("both aes ? aes", "aes256k", "the kernel of node n2 and 1 more cannot use aes256k");
        assertReason(
                "aes", "only aes256k", "node n1 cannot use aes256k, but the cluster makes no new aes keys: ceph-fuse");
        assertReason("both ?", "aes256k", "not known yet what the kernel of node n2 can use");
        assertReason("both", "old", "the cluster allows no aes256k");
        assertReason("-", "aes", "no node has a pod of siphon-node");
    }

    private static void assertReason(String nodes, String cluster, String reason) {
        String said = KeyTypeChoice.byKernels(nodes(nodes), cluster(cluster)).reason();
        assertTrue(said.contains(reason), said);
    }
}
