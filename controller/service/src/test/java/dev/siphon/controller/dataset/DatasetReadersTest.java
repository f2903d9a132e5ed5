package dev.siphon.controller.dataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.identity.Account;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.Digest;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class DatasetReadersTest {
    private static Account account(String name, String... groups) {
        return new Account(name, "id-" + name, 1, 1, Set.of(groups), OptionalLong.empty());
    }

    private static Dataset of(String... readers) {
        return new Dataset("d", Optional.empty(), "cephfs", "/d", new Digest("0".repeat(64)), 0, Set.of(readers));
    }

    @ParameterizedTest(name = "{0} may read: {1}")
    @CsvSource({"u1, true", "u3, true", "u2, false", "vision, false", "U1, false", "group:vision, true"})
    void readersAreAccountsAndWhoIsInTheirGroups(String name, boolean may) {
        Account who = name.equals("u3") || name.startsWith("group:") ? account(name, "vision") : account(name, "u1");
        assertEquals(may, DatasetReaders.include(of("u1", "group:vision"), who));
        assertTrue(DatasetReaders.include(of("*"), who));
    }
}
