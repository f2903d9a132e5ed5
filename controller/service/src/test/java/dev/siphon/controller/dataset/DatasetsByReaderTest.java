package dev.siphon.controller.dataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.identity.Account;
import dev.siphon.csi.Grants;
import dev.siphon.csi.Grants.Shared;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.Digest;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

final class DatasetsByReaderTest {
    private static final String CLUSTER = "lab";
    private static final Dataset MINE = dataset("mine", "u1");
    private static final Dataset VISION = dataset("vision", "group:vision");
    private static final Dataset OTHERS = dataset("others", "u2");

    private static Dataset dataset(String name, String reader) {
        return dataset(name, "/datasets/" + name, reader);
    }

    private static Dataset dataset(String name, String path, String reader) {
        return new Dataset(
                name, Optional.empty(), "cephfs", path, Digest.of(ByteBuffer.wrap(new byte[] {1})), 0, Set.of(reader));
    }

    private static Account account(String name, String... groups) {
        return new Account(name, name, 1, 1, Set.of(groups), OptionalLong.empty());
    }

    private static DatasetsByReader of(Grants before) {
        return new DatasetsByReader(List.of(MINE, VISION, OTHERS), before, CLUSTER);
    }

    private static Grants before(Dataset dataset, String namespace) {
        return new Grants(
                Map.of(),
                Map.of(dataset.name(), new Shared(dataset.volume(CLUSTER), false, new TreeSet<>(Set.of(namespace)))));
    }

    @Test
    void aNamespaceIsComparedWithWhatItsAccountsAndTheirGroupsRead() {
        DatasetsByReader some = of(Grants.NONE);
        assertEquals(Set.of(MINE), some.of("n1", List.of(account("u1"))));
        assertEquals(Set.of(VISION, OTHERS), some.of("n2", List.of(account("u2", "vision", "audio"))));
        assertEquals(Set.of(), some.of("n3", List.of(account("vision"), account("u3", "u1"))));
        assertEquals(Set.of(), some.of("n4", List.of()));
    }

    /// A namespace may keep this access while the directory does not respond.
    @Test
    void andWithWhatItReadBeforeWhereThatIsTheSameImage() {
        DatasetsByReader some = of(before(OTHERS, "n1"));
        assertEquals(Set.of(OTHERS), some.of("n1", List.of()));
        assertTrue(some.read("n1", OTHERS));
        assertFalse(some.read("n2", OTHERS));
        assertFalse(some.read("n1", MINE));
        DatasetsByReader moved = of(before(dataset("others", "/datasets/moved", "u2"), "n1"));
        assertEquals(Set.of(), moved.of("n1", List.of()));
        assertFalse(moved.read("n1", OTHERS));
    }
}
