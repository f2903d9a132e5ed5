package dev.siphon.controller.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.dataset.MintedKeys;
import dev.siphon.controller.key.VolumeCaps;
import dev.siphon.controller.volume.InMemoryCeph;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class ForeignIdentityChecksTest {
    private static final String OWN = "k000000001";
    private static final String OTHER = "k000000002";
    private static final String DATASET = "siphon-dataset.fs.0123456789abcdefghij";

    private final MintedKeys identities = new MintedKeys();

    @BeforeEach
    void mint() {
        for (String userId : List.of(
                DATASET,
                DATASET + "." + OWN,
                DATASET + "." + OWN + ".1.node-a",
                DATASET + "." + OTHER,
                DATASET + "." + OTHER + ".1.node-b",
                "siphon-dataset.another.0123456789abcdefghij." + OTHER)) {
            var _ = identities.mint(
                    InMemoryCeph.CLUSTER, userId, new VolumeCaps("fs", "/datasets/x", Optional.empty(), "data", "x"));
        }
    }

    private List<Finding> look(Optional<String> own, String... lost) {
        return new ForeignIdentityChecks(new InMemoryCeph().ports().clusters(), identities, own, Set.of(lost)).find();
    }

    @Test
    void identitiesOfAnotherAreARemarkUntilAnAdministratorSaysThatItIsLost() {
        Finding found = look(Optional.of(OWN)).getFirst();
        assertEquals("lab:fs:" + OTHER, found.object());
        assertFalse(found.kind().isDefect());
        assertTrue(found.why().contains("2 identities") && found.why().contains("node-b"), found::why);
        assertInstanceOf(Repair.ByHand.class, found.repair());
        assertInstanceOf(
                Repair.ByHand.class,
                look(Optional.of(OWN), "k000000003").getFirst().repair());
        assertEquals(
                new Repair.RemoveIdentities(
                        "lab", "fs", List.of(DATASET + "." + OTHER, DATASET + "." + OTHER + ".1.node-b")),
                look(Optional.of(OWN), OTHER).getFirst().repair());
    }

    @Test
    void withoutAKubernetesOfItsOwnNobodyKnowsWhoseOthersAre() {
        assertEquals(List.of(), look(Optional.empty(), OTHER));
    }
}
