package dev.siphon.controller.grant;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.Grants;
import dev.siphon.csi.Grants.Grant;
import dev.siphon.csi.Grants.GroupKey;
import dev.siphon.csi.Grants.Shared;
import dev.siphon.csi.VolumeId;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class GrantsCapacityTest {
    private static final int MOST = 1 << 20;
    private static final GroupKey U1 = new GroupKey("lab", "cephfs", "a00000000000000000001");
    private static final GroupKey U2 = new GroupKey("lab", "cephfs", "a00000000000000000002");

    private final GrantsCapacity limit = new GrantsCapacity(MOST, "ConfigMap siphon/siphon-grants");

    private static Shared shared(String path, String... namespaces) {
        return new Shared(
                VolumeId.DatasetVolume.tryParse(
                                "dataset:lab:cephfs:0123456789abcdef0123456789abcdef01234567:/datasets/" + path)
                        .orElseThrow(),
                false,
                new TreeSet<>(List.of(namespaces)));
    }

    private static Grant grant(String account, String... namespaces) {
        return new Grant(account, new TreeSet<>(List.of(namespaces)));
    }

    private static Map<String, Shared> datasets(String account, int number) {
        return IntStream.range(0, number)
                .mapToObj(each -> account + ".set-" + each)
                .collect(Collectors.toMap(name -> name, name -> shared(name, "user-" + account)));
    }

    private static int bytes(Grants grants) {
        return grants.toJson().length();
    }

    @Test
    void whatOneAccountMayIsLessThanWhatStopsAnother() {
        Map<String, Shared> all = new TreeMap<>(datasets("u1", 10_000));
        all.put("u2.mine", shared("u2.mine", "user-u2"));
        GrantsCapacity.Fitting fitting = limit.fit(Grants.NONE, new Grants(Map.of(U2, grant("u2", "user-u2")), all));
        assertTrue(fitting.grants().dataset("u2.mine").isPresent());
        assertEquals(Set.of(U2), fitting.grants().groups().keySet());
        assertTrue(bytes(fitting.grants()) <= MOST / 8 + 1000, "bytes: " + bytes(fitting.grants()));
        assertTrue(bytes(fitting.grants()) > MOST / 8 - 1000, "bytes: " + bytes(fitting.grants()));
        assertEquals(
                10_002 - fitting.grants().datasets().size() - 1,
                fitting.leftOut().size());
        String why = fitting.leftOut().getOrDefault("u1.set-9999", "nothing");
        assertTrue(
                why.contains("account u1 fills its share")
                        && why.contains("ConfigMap siphon/siphon-grants")
                        && why.contains("delete"),
                why);
    }

    @Test
    void whatIsTakenBackIsTakenBackThoughNothingNewFits() {
        Grants before = new Grants(
                Map.of(U1, grant("u1", "user-u1", "team")),
                Map.of("u1.a", shared("a", "user-u1", "team"), "b", shared("b", "team")));
        Map<String, Shared> wanted = new TreeMap<>(datasets("u1", 10_000));
        wanted.put("u1.a", shared("a", "user-u1"));
        GrantsCapacity.Fitting fitting = limit.fit(before, new Grants(Map.of(U1, grant("u1", "user-u1")), wanted));
        assertEquals(Set.of("user-u1"), fitting.grants().of(U1).orElseThrow().namespaces());
        assertEquals(
                Set.of("user-u1"),
                fitting.grants().dataset("u1.a").orElseThrow().namespaces());
        assertTrue(fitting.grants().dataset("b").isEmpty());
    }

    @Test
    void datasetsOfAllTogetherStopNoVolumes() {
        Map<String, Shared> all = new TreeMap<>();
        for (int account = 0; account < 20; account++) {
            all.putAll(datasets("u" + account, 2000));
        }
        Grants full = limit.fit(Grants.NONE, new Grants(Map.of(), all)).grants();
        assertTrue(bytes(full) <= MOST / 4 * 3 + 100 && bytes(full) > MOST / 4 * 3 - 1000, "bytes: " + bytes(full));
        GrantsCapacity.Fitting more = limit.fit(full, new Grants(Map.of(U1, grant("new", "user-new")), all));
        assertEquals(Set.of(U1), more.grants().groups().keySet());
        assertEquals(full.datasets(), more.grants().datasets());
    }

    @Test
    void whatAnEarlierControllerPublishedStaysThoughItIsMore() {
        Grants before = new Grants(Map.of(), datasets("u1", 2000));
        assertTrue(bytes(before) > MOST / 8);
        assertEquals(before, limit.fit(before, before).grants());
    }

    @Test
    void theLogWarnsOnceBeforeAnAccountReachesItsShareAndAgainAfterIt() {
        GrantsMetrics metrics = new GrantsMetrics(new PrometheusRegistry());
        GrantsCapacity.Fitting most = limit.fit(Grants.NONE, new Grants(Map.of(), datasets("u1", 850)));
        assertEquals(Map.of(), most.leftOut());
        metrics.published(most, limit);
        metrics.published(most, limit);
        assertEquals(1, metrics.told().size(), metrics.told().toString());
        metrics.published(limit.fit(Grants.NONE, Grants.NONE), limit);
        assertEquals(Set.of(), metrics.told());
    }

    @Test
    void theLogWarnsOfAllOnceHoweverMuchMoreThereIs() {
        GrantsMetrics metrics = new GrantsMetrics(new PrometheusRegistry());
        Map<String, Shared> some = new TreeMap<>();
        IntStream.range(0, 8).forEach(each -> some.putAll(datasets("u" + each, 640)));
        GrantsCapacity.Fitting most = limit.fit(Grants.NONE, new Grants(Map.of(), some));
        assertEquals(Map.of(), most.leftOut());
        metrics.published(most, limit);
        Set<String> told = metrics.told();
        assertEquals(1, told.size(), told.toString());
        some.putAll(datasets("v", 10));
        metrics.published(limit.fit(Grants.NONE, new Grants(Map.of(), some)), limit);
        assertEquals(told, metrics.told());
    }
}
