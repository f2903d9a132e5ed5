package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.controller.warm.GatedPod.DatasetReference;
import dev.siphon.controller.warm.QueuedWorkload;
import dev.siphon.controller.warm.QueuedWorkload.CheckState;
import dev.siphon.controller.warm.QueuedWorkload.Phase;
import dev.siphon.controller.warm.QueuedWorkload.PodSet;
import dev.siphon.controller.warm.QueuedWorkload.Release;
import dev.siphon.controller.warm.QueuedWorkload.State;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
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
                   "admission":{"clusterQueue":"q","podSetAssignments":[{"name":"main","flavors":{"nvidia.com/gpu":"a100"}}]}}}
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

    /// Conditions of a Workload.
    ///
    /// @param isTrue the types of those that are true, without `Evicted`
    /// @param eviction the reason of `Evicted`; empty if it is false
    private record Conditions(Set<String> isTrue, String eviction, List<String> text) {
        static List<Conditions> all(List<String> types, List<String> evictions) {
            return IntStream.range(0, 1 << types.size())
                    .mapToObj(bits -> IntStream.range(0, types.size())
                            .filter(each -> (bits & (1 << each)) != 0)
                            .mapToObj(types::get)
                            .collect(Collectors.toSet()))
                    .flatMap(isTrue -> evictions.stream().map(eviction -> of(types, isTrue, eviction)))
                    .toList();
        }

        private static Conditions of(List<String> types, Set<String> isTrue, String eviction) {
            Stream<String> ordinary = types.stream().map(type -> condition(type, isTrue.contains(type), "Any"));
            String evicted = condition("Evicted", !eviction.isEmpty(), eviction);
            return new Conditions(
                    isTrue,
                    eviction,
                    Stream.concat(ordinary, Stream.of(evicted)).toList());
        }
    }

    /// Kueue's conditions in every combination: only a reserved and not admitted Workload, and one that a check sent
    /// back,
    /// wait for data.
    @Test
    void allOthersWantNothing() {
        List<String> types = List.of("QuotaReserved", "Admitted", "Finished", "DeactivationTarget", "Preempted");
        List<String> evictions = List.of("", "AdmissionCheck", "Preempted", "PodsReadyTimeout", "Deactivated");
        int found = 0;
        for (Conditions each : Conditions.all(types, evictions)) {
            Set<String> isTrue = each.isTrue();
            String eviction = each.eviction();
            List<String> conditions = each.text();
            boolean isOver = isTrue.contains("Finished") || isTrue.contains("DeactivationTarget");
            Optional<Phase> expected = isOver
                    ? Optional.empty()
                    : eviction.equals("AdmissionCheck")
                            ? Optional.of(Phase.SENT_BACK)
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
        assertTrue(found > 0, "some wait");
    }

    private static String released(String wait) {
        return """
                ,"annotations":{"siphon.dev/released":"%s","siphon.dev/data-wait":"%s"}""".formatted(THEN, wait.replace("\"", "\\\""));
    }

    private static final String WAIT = """
            {"released":"%s","since":"2026-11-28T09:59:00Z","clusterQueue":"p","checks":["dataset"],"flavors":{"main":["h100"]}}""".formatted(THEN);

    /// Every combination again, of a Workload that this driver deactivated: it answers for it until it is finished,
    /// deleted, or Kueue deactivates it by itself.
    @Test
    void whatWasReleasedStaysKnown() {
        List<String> types = List.of("QuotaReserved", "Admitted", "Finished", "DeactivationTarget");
        List<String> evictions =
                List.of("", "Deactivated", "Preempted", "AdmissionCheck", "DeactivatedDueToAdmissionCheck");
        for (Conditions each : Conditions.all(types, evictions)) {
            Set<String> isTrue = each.isTrue();
            String eviction = each.eviction();
            List<String> conditions = each.text();
            boolean isFinished = isTrue.contains("Finished");
            boolean isKueues = isTrue.contains("DeactivationTarget") || eviction.startsWith("DeactivatedDueTo");
            Phase without = isTrue.contains("QuotaReserved") ? Phase.LEAVING : Phase.RELEASED;
            assertEquals(
                    isFinished || isKueues ? Optional.empty() : Optional.of(without),
                    read(released(WAIT), ",\"active\":false", conditions).map(QueuedWorkload::phase),
                    () -> isTrue + ", evicted: " + eviction);
            assertEquals(
                    isFinished ? Optional.empty() : Optional.of(Phase.REACTIVATED),
                    read(released(WAIT), ",\"active\":true", conditions).map(QueuedWorkload::phase),
                    () -> isTrue + ", evicted: " + eviction);
            assertEquals(
                    Optional.empty(),
                    read(released(WAIT) + ",\"deletionTimestamp\":\"" + THEN + "\"", ",\"active\":false", conditions));
        }
    }

    @Test
    void whatItsAnnotationsSayOutlivesItsQuota() {
        QueuedWorkload found = read(workload(released(WAIT), ",\"active\":false", List.of(), "[]")
                        .replaceFirst("\"admission\":.*", "\"x\":{}}}"))
                .orElseThrow();

        assertEquals(Instant.parse(THEN), found.since());
        assertEquals(
                Optional.of(new Release(Instant.parse(THEN), Optional.of(Instant.parse("2026-11-28T09:59:00Z")))),
                found.release());
        assertEquals(Set.of("h100"), found.podSets().getFirst().flavors());
    }

    /// Without an admission, Kueue lists no check if any of the queue is for some flavors alone.
    @Test
    void checksThatKueueForgotAreKnown() {
        String released = workload(released(WAIT), ",\"active\":false", List.of(), "[]");
        String withoutChecks = released.replace(CHECKS, "null");
        String withoutQuota = withoutChecks.replaceFirst("\"admission\":.*", "\"x\":{}}}");

        assertEquals(Set.of("dataset"), read(withoutQuota).orElseThrow().forgotten());
        assertEquals(Optional.of("p"), read(withoutQuota).orElseThrow().clusterQueue());
        assertEquals(Set.of(), read(withoutChecks).orElseThrow().forgotten());
        assertEquals(Optional.of("q"), read(withoutChecks).orElseThrow().clusterQueue());
        assertEquals(Set.of(), read(released).orElseThrow().forgotten());
        String before = workload(released("{\"released\":\"" + THEN + "\"}"), ",\"active\":false", List.of(), "[]")
                .replace(CHECKS, "[]")
                .replaceFirst("\"admission\":.*", "\"x\":{}}}");
        assertEquals(Set.of(), read(before).orElseThrow().forgotten());
        assertEquals(Optional.empty(), read(before).orElseThrow().clusterQueue());
    }

    /// MultiKueue's manager would delete it, or Kueue forget how often it put it back.
    @Test
    void someMayNotBeReleased() {
        String quota = workload("", "", List.of(condition("QuotaReserved", true, "QuotaReserved")), "[]");
        String worker =
                quota.replace("\"uid\"", "\"labels\":{\"kueue.x-k8s.io/multikueue-origin\":\"multikueue\"},\"uid\"");
        Function<String, String> requeued =
                state -> quota.replace("\"conditions\"", "\"requeueState\":" + state + ",\"conditions\"");

        assertTrue(read(quota).orElseThrow().isReleasable());
        assertFalse(read(worker).orElseThrow().isReleasable());
        assertFalse(read(requeued.apply("{\"count\":2}")).orElseThrow().isReleasable());
        assertTrue(read(requeued.apply("{}")).orElseThrow().isReleasable(), "there is nothing to forget");
    }

    @Test
    void anAnnotationThatIsWrongEndsTheWait() {
        Optional<Release> endless = Optional.of(new Release(Instant.EPOCH, Optional.of(Instant.EPOCH)));
        String tooLong = "{\"released\":\"2026-11-28T09:00:00Z\",\"since\":\"2026-11-28T09:00:00Z\",\"x\":\"%s\"}"
                .formatted("x".repeat(16_384));
        for (String wrong :
                List.of("", "[]", "{", "{}", "null", "[".repeat(9_000), "{\"released\":\"soon\"}", tooLong)) {
            assertEquals(
                    endless,
                    read(released(wrong), ",\"active\":false", List.of()).flatMap(QueuedWorkload::release),
                    wrong);
        }
    }

    @Test
    void aReleaseThatDoesNotTellWhenItsWaitBeganEndsTheWait() {
        Instant future = Instant.parse("2999-01-01T00:00:00Z");
        assertEquals(
                Optional.of(new Release(future, Optional.of(Instant.EPOCH))),
                read(released("{\"released\":\"" + future + "\"}"), ",\"active\":false", List.of())
                        .flatMap(QueuedWorkload::release));
    }

    @Test
    void aReleaseIsForgottenOnceTheWorkloadWasAdmitted() {
        String quota = condition("QuotaReserved", true, "QuotaReserved");
        String before =
                ",\"annotations\":{\"siphon.dev/data-wait\":\"{\\\"released\\\":\\\"2026-11-28T%s:00:00Z\\\"}\"}";
        List<String> evicted = List.of(quota, condition("Admitted", false, "NoReservation"));

        assertEquals(
                Optional.of(new Release(Instant.parse("2026-11-28T09:00:00Z"), Optional.empty())),
                read(before.formatted("09"), "", List.of(quota)).flatMap(QueuedWorkload::release));
        assertEquals(Optional.empty(), read(before.formatted("09"), "", evicted).flatMap(QueuedWorkload::release));
        assertTrue(read(before.formatted("11"), "", evicted)
                .flatMap(QueuedWorkload::release)
                .isPresent());
    }

    @Test
    void whatIsWrittenIsReadBack() {
        QueuedWorkload before = read("", "", List.of(condition("QuotaReserved", true, "QuotaReserved")))
                .orElseThrow();
        Instant since = Instant.parse("2026-11-28T09:58:00Z");
        JsonObject annotations = ReleaseAnnotations.released(THEN, since, Set.of("dataset"), before);
        QueuedWorkload found = read(",\"annotations\":" + annotations, ",\"active\":false", List.of())
                .orElseThrow();

        assertEquals(Optional.of(new Release(Instant.parse(THEN), Optional.of(since))), found.release());
        assertEquals(
                Set.of("a100"), ReleaseAnnotations.flavors(object(annotations)).get("main"));
        assertEquals(
                Set.of("siphon.dev/released"),
                ReleaseAnnotations.resumed(found.release(), true).keySet(),
                "its longest wait is over");
        JsonObject over = ReleaseAnnotations.resumed(found.release(), false);
        assertTrue(over.get("siphon.dev/released").isJsonNull());
        over.remove("siphon.dev/released");
        assertEquals(
                Optional.of(new Release(Instant.parse(THEN), Optional.empty())),
                ReleaseAnnotations.release(object(over), Instant.EPOCH));
    }

    private static JsonObject object(JsonObject annotations) {
        JsonObject metadata = new JsonObject();
        metadata.add("annotations", annotations);
        JsonObject object = new JsonObject();
        object.add("metadata", metadata);
        return object;
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

    private static String withoutQuota(int flavors) {
        String wait = WAIT.replace(
                "[\"h100\"]",
                IntStream.range(0, flavors)
                        .mapToObj(each -> "\"f" + each + "\"")
                        .collect(Collectors.joining(",", "[", "]")));
        return workload(released(wait), ",\"active\":false", List.of(), "[]").replace("podSetAssignments", "none");
    }

    @Test
    void aWorkloadWhoseAnnotationNamesVeryManyFlavorsIsTooLarge() {
        PodSet some = read(withoutQuota(500)).orElseThrow().podSets().getFirst();
        PodSet veryMany = read(withoutQuota(1_100)).orElseThrow().podSets().getFirst();

        assertEquals(500, some.flavors().size());
        assertEquals(Set.of(), veryMany.flavors());
        assertTrue(veryMany.pod().uses().getFirst() instanceof DatasetReference.Unread);
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
