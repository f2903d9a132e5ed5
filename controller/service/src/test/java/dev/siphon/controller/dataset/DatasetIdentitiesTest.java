package dev.siphon.controller.dataset;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.volume.FileTree;
import dev.siphon.controller.volume.InMemoryCeph;
import dev.siphon.controller.volume.InterceptedPorts;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class DatasetIdentitiesTest {
    private final MintedKeys minted = new MintedKeys();
    private final Map<String, FileTree.Layout> layouts = new HashMap<>();
    private final DatasetIdentities identities = new DatasetIdentities(
            InterceptedPorts.of(
                            new InMemoryCeph().ports(),
                            (call, make) -> call.method().equals("layout")
                                    ? layoutOf(String.valueOf(call.arguments().get(2)))
                                    : make.get())
                    .files(),
            minted,
            Optional::empty);

    private FileTree.Layout layoutOf(String path) {
        return Optional.ofNullable(layouts.get(path)).orElseThrow();
    }

    private VolumeId.DatasetVolume dataset(String cluster, String digit, String path, String namespace) {
        layouts.put(path, new FileTree.Layout("data", namespace));
        return new VolumeId.DatasetVolume(cluster, "fs", digit.repeat(40), Optional.empty(), path);
    }

    @Test
    void twoDatasetsInOneRadosNamespaceGetNoKey() {
        VolumeId.DatasetVolume first = dataset("lab", "1", "/a", "all");
        VolumeId.DatasetVolume second = dataset("lab", "2", "/b", "all");
        identities.check(first);
        String said = assertThrows(DriverException.InUse.class, () -> identities.mint(second))
                .getMessage();
        assertTrue(said.contains("/a") && said.contains("namespace all"), said);
        assertThrows(DriverException.InUse.class, () -> identities.check(second));
        assertThrows(DriverException.InUse.class, () -> identities.check(first), "its objects are as open");
        identities.keepOnly(Map.of(second, Optional.empty()));
        assertFalse(identities.isKnown(first));
        assertDoesNotThrow(() -> identities.mint(second), "the other is no dataset any more");
    }

    @Test
    void othersMayHaveANamespaceOfThatName() {
        identities.check(dataset("lab", "1", "/a", "one"));
        assertDoesNotThrow(() -> identities.mint(dataset("lab", "2", "/a", "one")), "the same directory");
        assertDoesNotThrow(() -> identities.mint(dataset("lab", "1", "/b", "two")));
        assertDoesNotThrow(() -> identities.mint(dataset("far", "1", "/c", "one")), "another cluster");
        assertThrows(DriverException.InUse.class, () -> identities.mint(dataset("lab", "3", "/d", "")));
    }

    /// An existing key is kept.
    @Test
    void nodesHaveNoMoreIdentitiesThanTheMonsAreToKeep() {
        VolumeId.DatasetVolume dataset = dataset("lab", "1", "/a", "one");
        for (int i = 0; i < DatasetIdentities.MOST; i++) {
            var _ = identities.mint(dataset, "node-" + i);
        }

        String said = assertThrows(DriverException.QuotaExhausted.class, () -> identities.mint(dataset, "one-more"))
                .getMessage();

        assertTrue(said.contains("10000 keys"), said);
        assertDoesNotThrow(() -> identities.mint(dataset, "node-7"));
    }

    @Test
    void oneAccountDoesNotTakeThemAll() {
        VolumeId.DatasetVolume everybodys = dataset("lab", "1", "/datasets/a", "one");
        for (int i = 0; i < DatasetIdentities.MOST / 2; i++) {
            var _ = identities.mint(everybodys, "node-" + i);
        }
        VolumeId.DatasetVolume greedy = dataset("lab", "2", "/datasets/b", "two");
        VolumeId.DatasetVolume another = dataset("lab", "3", "/datasets/c", "three");
        VolumeId.DatasetVolume others = dataset("lab", "4", "/datasets/d", "four");
        identities.keepOnly(Map.of(
                everybodys, Dataset.account("imagenet"),
                greedy, Dataset.account("u1.a"),
                another, Dataset.account("u1.b"),
                others, Dataset.account("u2.a")));
        for (int i = 0; i < DatasetIdentities.OF_ACCOUNT; i++) {
            var _ = identities.mint(greedy, "node-" + i);
        }

        String said = assertThrows(DriverException.QuotaExhausted.class, () -> identities.mint(another, "node-1"))
                .getMessage();

        assertTrue(said.contains("1250 keys") && said.contains("account u1"), said);
        assertDoesNotThrow(() -> identities.mint(greedy, "node-7"), "what has a key keeps it");
        assertDoesNotThrow(() -> identities.mint(others, "node-1"));
        assertDoesNotThrow(() -> identities.mint(everybodys, "one-more"));
    }
}
