package dev.siphon.controller.grant;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.volume.InMemoryCeph;
import dev.siphon.controller.volume.NamespaceAccounts;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import dev.siphon.csi.Grants.GroupKey;
import dev.siphon.csi.Grants.Shared;
import dev.siphon.csi.VolumeId;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// More grants than fit into the object that nodes read; the rest are in objects of namespaces.
final class PartialGrantsTest {
    private static final int MOST = 4 << 10;
    private static final SubvolumeGroup U1 =
            new SubvolumeGroup(InMemoryCeph.CLUSTER, InMemoryCeph.FILE_SYSTEM, "a00000000000000000001");
    private static final GroupKey PLACE = new GroupKey(U1.cluster(), U1.fileSystem(), U1.name());

    @TempDir
    private Path folder = Path.of("");

    private final InMemoryCeph ceph = new InMemoryCeph();

    @BeforeEach
    void makeGroup() {
        ceph.ports().subvolumes().createGroup(U1, OptionalLong.empty(), Optional.empty());
    }

    /// Behaves like a ConfigMap of 4 KiB.
    private record Store(FileGrantsStore file) implements GrantsStore {
        @Override
        public Grants last() {
            return file.last();
        }

        @Override
        public void publish(Grants grants) {
            if (grants.toJson().length() > MOST) {
                throw new DriverException.QuotaExhausted(where() + " can hold " + MOST + " bytes");
            }
            file.publish(grants);
        }

        @Override
        public long mostBytes() {
            return MOST;
        }

        @Override
        public boolean isPartial() {
            return true;
        }

        @Override
        public String where() {
            return "a small ConfigMap";
        }
    }

    private Store store() {
        return new Store(new FileGrantsStore(folder.resolve("grants.json")));
    }

    private NamespaceGrants grants() {
        return new NamespaceGrants(
                ceph.ports(),
                store(),
                new NamespaceAccounts(Optional.empty(), Optional.empty()),
                new GrantsMetrics(new PrometheusRegistry()));
    }

    private static Shared shared(int number) {
        return shared("/datasets/" + number);
    }

    private static Shared shared(String path) {
        return new Shared(
                VolumeId.DatasetVolume.tryParse("dataset:lab:cephfs:0123456789abcdef0123456789abcdef01234567:" + path)
                        .orElseThrow(),
                false,
                new TreeSet<>(List.of("team")));
    }

    @Test
    void nobodyIsRefusedForWhatHasNoRoomAndNodesAreTold() {
        try (NamespaceGrants grants = grants()) {
            grants.load();
            IntStream.range(0, 200).forEach(each -> grants.grant(U1, "u1", "team-" + each));
            assertEquals(
                    200, grants.published().of(PLACE).orElseThrow().namespaces().size());
            assertTrue(store().last().of(PLACE).orElseThrow().namespaces().size() < 100);
            assertEquals(Set.of(Grants.Part.GROUPS), store().last().partial());
            Map<String, Shared> datasets = new TreeMap<>();
            IntStream.range(0, 100).forEach(each -> datasets.put("u2.set-" + each, shared(each)));
            assertEquals(Map.of(), grants.shareOnly(Grants.NONE, datasets));
            assertEquals(datasets, grants.published().datasets());
            assertEquals(
                    Set.of(Grants.Part.GROUPS, Grants.Part.DATASETS),
                    store().last().partial());
            datasets.put("u2.set-last", shared("/home/last"));
            var _ = grants.shareOnly(grants.published(), datasets);
            assertEquals(Set.of(Grants.Part.values()), store().last().partial());
        }
    }

    @Test
    void whatIsTakenBackIsTakenBackInBoth() {
        try (NamespaceGrants grants = grants()) {
            Map<String, Shared> datasets = new TreeMap<>();
            IntStream.range(0, 100).forEach(each -> datasets.put("u2.set-" + each, shared(each)));
            var _ = grants.shareOnly(Grants.NONE, datasets);
            Grants before = grants.published();
            String kept = store().last().datasets().keySet().iterator().next();
            datasets.remove(kept);
            var _ = grants.shareOnly(before, datasets);
            assertFalse(store().last().datasets().containsKey(kept));
            assertFalse(grants.published().datasets().containsKey(kept));
            var _ = grants.shareOnly(grants.published(), Map.of());
            assertEquals(Grants.NONE, store().last(), "all has room again");
        }
    }

    /// A controller that knows only the published grants would revoke those that did not fit.
    @Test
    void theNextControllerShowsAllOnceItHasReadTheGroups() {
        try (NamespaceGrants grants = grants()) {
            IntStream.range(0, 200).forEach(each -> grants.grant(U1, "u1", "team-" + each));
        }
        try (NamespaceGrants next = grants()) {
            assertThrows(DriverException.BackendUnavailable.class, next::whole);
            next.load();
            assertEquals(200, next.whole().of(PLACE).orElseThrow().namespaces().size());
        }
    }
}
