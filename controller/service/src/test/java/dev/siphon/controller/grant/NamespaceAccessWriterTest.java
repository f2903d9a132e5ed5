package dev.siphon.controller.grant;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.grant.NamespaceAccess.ReadableDataset;
import dev.siphon.controller.grant.NamespaceAccess.ReplicaSummary;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import dev.siphon.csi.Grants.Grant;
import dev.siphon.csi.Grants.GroupKey;
import dev.siphon.csi.Grants.Shared;
import dev.siphon.csi.VolumeId;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class NamespaceAccessWriterTest {
    private static final GroupKey U1 = new GroupKey("lab", "cephfs", "a00000000000000000001");

    private final Store store = new Store();
    private Grants grants = Grants.NONE;
    private Optional<Map<String, ReadableDataset>> details = Optional.of(Map.of());
    private Map<String, Map<String, ReplicaSummary>> replicas = Map.of();
    private final NamespaceAccessWriter writer = new NamespaceAccessWriter(
            () -> grants, () -> details, () -> replicas, store, "siphon", Duration.ZERO, new PrometheusRegistry());

    /// Keeps what is put, and records the order of calls.
    private static final class Store implements NamespaceAccessStore {
        private final Map<NamespaceAccess.Key, NamespaceAccess> kept = new HashMap<>();
        private final List<String> calls = new ArrayList<>();
        private Function<NamespaceAccess.Key, Optional<DriverException>> refusing = _ -> Optional.empty();

        @Override
        public Optional<Map<NamespaceAccess.Key, String>> digests() {
            return Optional.of(
                    kept.values().stream().collect(Collectors.toMap(NamespaceAccess::key, NamespaceAccess::digest)));
        }

        @Override
        public void put(NamespaceAccess access) {
            call("put ", access.key());
            kept.put(access.key(), access);
        }

        @Override
        public void remove(NamespaceAccess.Key key) {
            call("remove ", key);
            kept.remove(key);
        }

        @Override
        public void warn(NamespaceAccess.Key key, String what) {
            throw new AssertionError("the writer warns nobody");
        }

        @Override
        public int most() {
            return 1000;
        }

        private void call(String what, NamespaceAccess.Key key) {
            calls.add(what + key);
            refusing.apply(key).ifPresent(refused -> {
                throw refused;
            });
        }

        private Set<String> datasets(String namespace) {
            return Optional.ofNullable(kept.get(new NamespaceAccess.Key(namespace, "siphon")))
                    .map(access -> access.datasets().keySet())
                    .orElse(Set.of());
        }
    }

    private static Shared shared(String name, boolean everybody, String... namespaces) {
        return new Shared(
                VolumeId.DatasetVolume.tryParse(
                                "dataset:lab:cephfs:0123456789abcdef0123456789abcdef01234567:/datasets/" + name)
                        .orElseThrow(),
                everybody,
                new TreeSet<>(List.of(namespaces)));
    }

    private static Grant grant(String account, String... namespaces) {
        return new Grant(account, new TreeSet<>(List.of(namespaces)));
    }

    private boolean write() {
        store.calls.clear();
        return writer.write();
    }

    @Test
    void aNamespaceSeesItsAccountsAndDatasetsAndNothingIsWrittenTwice() {
        grants = new Grants(
                Map.of(U1, grant("u1", "user-u1", "team")),
                Map.of("a", shared("a", false, "team"), "all", shared("all", true)));
        details = Optional.of(Map.of("a", new ReadableDataset(5000, true)));
        write();
        NamespaceAccess team = store.kept.get(new NamespaceAccess.Key("team", "siphon"));
        assertEquals(
                Optional.of(Map.of("a", new ReadableDataset(5000, true))),
                Optional.ofNullable(team).map(NamespaceAccess::datasets));
        assertEquals(
                Set.of("team/siphon", "user-u1/siphon", "siphon/everybody-0"),
                store.kept.keySet().stream().map(NamespaceAccess.Key::toString).collect(Collectors.toSet()));
        write();
        assertEquals(List.of(), store.calls);
        details = Optional.of(Map.of("a", new ReadableDataset(5000, false)));
        write();
        assertEquals(List.of("put team/siphon"), store.calls);
    }

    @Test
    void onlyANamespaceWhosePodsUseADatasetIsWrittenWhenItsReplicasGoOn() {
        grants = new Grants(Map.of(), Map.of("a", shared("a", false, "busy", "idle")));
        details = Optional.of(Map.of("a", new ReadableDataset(5000, true)));
        write();
        replicas = Map.of("busy", Map.of("a", new ReplicaSummary(0, 2, 0, 40)));
        write();
        assertEquals(List.of("put busy/siphon"), store.calls);
        assertEquals(
                Optional.of(new ReplicaSummary(0, 2, 0, 40)),
                Optional.ofNullable(store.kept.get(new NamespaceAccess.Key("busy", "siphon")))
                        .flatMap(access -> Optional.ofNullable(access.datasets().get("a")))
                        .flatMap(ReadableDataset::replicas));
        write();
        assertEquals(List.of(), store.calls);
    }

    @Test
    void whatIsTakenBackDoesNotWaitForAllThatIsGranted() {
        grants = new Grants(Map.of(), Map.of("a", shared("a", false, "n9")));
        assertFalse(write());
        grants = new Grants(Map.of(), Map.of("a", shared("a", false, "n1", "n2", "n3", "n9")));
        Grants without = new Grants(Map.of(), Map.of("a", shared("a", false, "n1", "n2", "n3")));
        store.refusing = key -> {
            grants = without;
            return Optional.empty();
        };
        assertTrue(write());
        assertEquals(List.of("put n1/siphon"), store.calls);
        assertFalse(write());
        assertEquals(List.of("remove n9/siphon", "put n2/siphon", "put n3/siphon"), store.calls);
    }

    @Test
    void anObjectThatNamesNearlyAllThatItCanIsToldOf() {
        Map<String, Shared> some = new HashMap<>();
        IntStream.range(0, 800).forEach(each -> some.put("set-" + each, shared("set-" + each, false, "team")));
        grants = new Grants(Map.of(), some);
        write();
        assertEquals(Map.of(), writer.nearlyFull());
        some.put("set-800", shared("set-800", false, "team", "other"));
        grants = new Grants(Map.of(), some);
        write();
        assertEquals(
                Set.of(new NamespaceAccess.Key("team", "siphon")),
                writer.nearlyFull().keySet());
    }

    @Test
    void whatIsTakenBackIsWrittenFirstAndOneThatIsRefusedHoldsUpNoOther() {
        grants = new Grants(Map.of(), Map.of("a", shared("a", false, "n2", "n3", "n4")));
        write();
        grants = new Grants(
                Map.of(), Map.of("a", shared("a", false, "n1", "n3"), "b", shared("b", false, "n1", "n2", "n3")));
        store.refusing = key -> key.namespace().equals("n4")
                ? Optional.of(new DriverException.AccessDenied("refused by the test"))
                : Optional.empty();
        write();
        assertEquals(List.of("remove n4/siphon", "put n2/siphon", "put n1/siphon", "put n3/siphon"), store.calls);
        assertEquals(Set.of("b"), store.datasets("n2"));
        store.refusing = _ -> Optional.empty();
        write();
        assertEquals(List.of("remove n4/siphon"), store.calls, "tried again");
    }

    @Test
    void aSilentServerIsNotAskedForEachOfThem() {
        grants = new Grants(Map.of(U1, new Grant("u1", new TreeSet<>(names(1000)))), Map.of());
        store.refusing = _ -> Optional.of(new DriverException.BackendUnavailable("no answer"));
        write();
        assertEquals(3, store.calls.size());
        store.refusing = _ -> Optional.empty();
        write();
        assertEquals(1000, store.kept.size());
    }

    @Test
    void nothingIsWrittenBeforeItIsKnownWhichDatasetsAreReady() {
        grants = new Grants(Map.of(U1, grant("u1", "user-u1")), Map.of());
        details = Optional.empty();
        write();
        assertEquals(List.of(), store.calls);
    }

    @Test
    void whatSomebodyHasRemovedIsWrittenAgainAfterAWhile() {
        grants = new Grants(Map.of(U1, grant("u1", "user-u1")), Map.of());
        write();
        store.kept.clear();
        IntStream.range(0, 120).forEach(_ -> writer.write());
        assertEquals(1, store.kept.size());
    }

    @Test
    void tenThousandNamespacesAndFiveThousandDatasetsAreWrittenOnce() {
        List<String> names = names(10_000);
        Map<String, Shared> datasets = new HashMap<>();
        for (int each = 0; each < 5000; each++) {
            datasets.put(
                    "d" + each, shared("d" + each, each % 10 == 0, each % 10 == 0 ? new String[0] : ten(names, each)));
        }
        Map<GroupKey, Grant> groups = new HashMap<>();
        for (int each = 0; each < 1000; each++) {
            groups.put(
                    new GroupKey("lab", "cephfs", "a%020d".formatted(each)),
                    new Grant("u" + each, new TreeSet<>(List.of(ten(names, each)))));
        }
        grants = new Grants(groups, datasets);
        write();
        assertEquals(10_001, store.kept.size(), "one for each, and 500 datasets of everybody's in one");
        write();
        assertEquals(List.of(), store.calls);
    }

    private static List<String> names(int number) {
        return IntStream.range(0, number).mapToObj("n%05d"::formatted).toList();
    }

    private static String[] ten(List<String> names, int from) {
        return IntStream.range(0, 10)
                .mapToObj(each -> names.get((from * 10 + each) % names.size()))
                .toArray(String[]::new);
    }
}
