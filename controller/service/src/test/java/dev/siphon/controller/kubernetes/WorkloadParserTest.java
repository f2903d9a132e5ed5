package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonParser;
import dev.siphon.controller.warm.GatedPod.DatasetReference;
import dev.siphon.controller.warm.QueuedWorkload;
import dev.siphon.controller.warm.QueuedWorkload.CheckState;
import dev.siphon.controller.warm.QueuedWorkload.Phase;
import dev.siphon.controller.warm.QueuedWorkload.PodSet;
import dev.siphon.controller.warm.QueuedWorkload.State;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// What is read of Kueue's Workloads.
final class WorkloadParserTest {
    private static final String THEN = "2026-11-28T10:00:00Z";
    private static final String CHECKS = """
            [{"name":"dataset","state":"Pending","lastTransitionTime":"2026-11-28T10:00:01Z","message":"m","retryCount":2}]""";

    private final QueuedWorkloads workloads =
            new QueuedWorkloads(new WorkloadParser(new PodParser("cephfs.siphon.dev")));

    private static String condition(String type, boolean isTrue, String reason) {
        return """
                {"type":"%s","status":"%s","reason":"%s","message":"m","lastTransitionTime":"%s"}""".formatted(type, isTrue ? "True" : "False", reason, THEN);
    }

    private static String workload(String metadata, String spec, List<String> conditions, String volumes) {
        return """
                {"metadata":{"namespace":"u1","name":"w","uid":"7","resourceVersion":"8"%s},
                 "spec":{"podSets":[{"name":"main","count":3,"template":{"spec":{"nodeSelector":{"disk":"fast"},
                   "containers":[{"name":"c","image":"i","resources":{"requests":{"nvidia.com/gpu":"2"}}}],
                   "volumes":%s}}}]%s},
                 "status":{"conditions":[%s],"admissionChecks":%s,
                   "admission":{"podSetAssignments":[{"name":"main","flavors":{"nvidia.com/gpu":"a100"}}]}}}
                """.formatted(metadata, volumes, spec, String.join(",", conditions), CHECKS);
    }

    private Optional<QueuedWorkload> read(String json) {
        try {
            ObjectParts parts = ObjectParts.of(
                    new ByteArrayInputStream(json.getBytes(StandardCharsets.UTF_8)), WorkloadParser.PARTS);
            return workloads.of(parts, Optional.empty()).map(QueuedWorkloads.Kept::workload);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private Optional<QueuedWorkload> read(String metadata, String spec, List<String> conditions) {
        return read(workload(metadata, spec, conditions, "[]"));
    }

    @Test
    void whatItsPodsReadAndNeedIsKnown() {
        QueuedWorkload found = read(workload("", "", List.of(condition("QuotaReserved", true, "QuotaReserved")), """
                        [{"name":"a","csi":{"driver":"cephfs.siphon.dev","volumeAttributes":{"dataset":"u1/x"}}},
                         {"name":"b","csi":{"driver":"other","volumeAttributes":{"dataset":"u1/y"}}},
                         {"name":"c","persistentVolumeClaim":{"claimName":"claim"}},
                         {"name":"d","ephemeral":{"volumeClaimTemplate":{"metadata":{}}}}]"""))
                .orElseThrow();

        assertEquals(Phase.RESERVED, found.phase());
        assertEquals(Instant.parse(THEN), found.since());
        assertEquals(Map.of("dataset", new CheckState(State.PENDING, "2026-11-28T10:00:01Z", "m")), found.checks());
        PodSet set = found.podSets().getFirst();
        assertEquals(3, set.count());
        assertEquals(Set.of("a100"), set.flavors());
        assertEquals(Map.of("disk", "fast"), set.pod().rules().selector());
        assertEquals("2", String.valueOf(set.pod().needs().amounts().get("nvidia.com/gpu")));
        assertEquals(
                List.of(new DatasetReference.ByName("u1/x"), new DatasetReference.ByClaim("claim")),
                set.pod().uses());
    }

    /// Kueue's conditions in every combination: only a reserved and not admitted Workload, and one that a check sent
    /// back,
    /// wait for data.
    @Test
    void allOthersWantNothing() {
        List<String> types = List.of("QuotaReserved", "Admitted", "Finished", "DeactivationTarget", "Preempted");
        List<String> evictions = List.of("", "AdmissionCheck", "Preempted", "PodsReadyTimeout", "Deactivated");
        int found = 0;
        for (int bits = 0; bits < 1 << types.size(); bits++) {
            for (String eviction : evictions) {
                int set = bits;
                Set<String> isTrue = IntStream.range(0, types.size())
                        .filter(each -> (set & (1 << each)) != 0)
                        .mapToObj(types::get)
                        .collect(Collectors.toSet());
                List<String> conditions = new ArrayList<>(types.stream()
                        .map(type -> condition(type, isTrue.contains(type), "Any"))
                        .toList());
                conditions.add(condition("Evicted", !eviction.isEmpty(), eviction));
                boolean isOver = isTrue.contains("Finished") || isTrue.contains("DeactivationTarget");
                Optional<Phase> expected = isOver
                        ? Optional.empty()
                        : eviction.equals("AdmissionCheck")
                                ? Optional.of(Phase.RELEASED)
                                : eviction.isEmpty() && isTrue.contains("QuotaReserved") && !isTrue.contains("Admitted")
                                        ? Optional.of(Phase.RESERVED)
                                        : Optional.empty();
                assertEquals(
                        expected,
                        read("", "", conditions).map(QueuedWorkload::phase),
                        () -> isTrue + ", evicted: " + eviction);
                assertEquals(Optional.empty(), read(",\"deletionTimestamp\":\"" + THEN + "\"", "", conditions));
                assertEquals(Optional.empty(), read("", ",\"active\":false", conditions));
                found += expected.isPresent() ? 1 : 0;
            }
        }
        assertTrue(found > 0, "some wait");
    }

    /// Its users write it: it may be as large as etcd allows.
    @Test
    void aWorkloadThatIsTooLargeIsAnsweredWithoutItsData() {
        String volumes = IntStream.range(0, 20_000)
                .mapToObj(each -> """
                        {"name":"v%1$d","csi":{"driver":"cephfs.siphon.dev","volumeAttributes":{"dataset":"u1/x%1$d"}}}""".formatted(each))
                .collect(Collectors.joining(",", "[", "]"));
        QueuedWorkload found = read(workload(
                        "", "", List.of(condition("QuotaReserved", true, "QuotaReserved")), volumes))
                .orElseThrow();

        assertTrue(found.podSets().getFirst().pod().uses().getFirst() instanceof DatasetReference.Unread);
        assertEquals(Set.of("dataset"), found.checks().keySet());
    }

    @Test
    void oneNamespaceLeavesRoomForOthers() {
        String volumes = IntStream.range(0, 200)
                .mapToObj(each -> """
                        {"name":"v","persistentVolumeClaim":{"claimName":"%s-%d"}}""".formatted("c".repeat(200), each))
                .collect(Collectors.joining(",", "[", "]"));
        int unread = 0;
        for (int each = 0; each < 100; each++) {
            String json = workload("", "", List.of(condition("QuotaReserved", true, "QuotaReserved")), volumes);
            QueuedWorkload found = read(json.replace("\"uid\":\"7\"", "\"uid\":\"" + each + "\""))
                    .orElseThrow();
            unread += found.podSets().getFirst().pod().uses().getFirst() instanceof DatasetReference.Unread ? 1 : 0;
        }
        assertTrue(unread > 0, "one namespace took all");
        String other = workload("", "", List.of(condition("QuotaReserved", true, "QuotaReserved")), volumes);
        QueuedWorkload found = read(other.replace("\"namespace\":\"u1\"", "\"namespace\":\"u2\""))
                .orElseThrow();
        assertTrue(found.podSets().getFirst().pod().uses().getFirst() instanceof DatasetReference.ByClaim);
    }

    @Test
    void whatIsNoWorkloadIsNone() {
        assertEquals(
                Optional.empty(),
                new WorkloadParser(new PodParser("x"))
                        .workload(JsonParser.parseString("{}").getAsJsonObject()));
    }
}
