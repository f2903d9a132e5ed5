package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.controller.warm.GatedPod;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// How a pod's requests are parsed. The expected sums are computed by hand, from Kubernetes' "Sidecar Containers",
/// "Differences from other containers", and "Pod Overhead".
final class PodParserTest {
    private static final PodParser READING = new PodParser("cephfs.siphon.dev");

    private static JsonObject json(String text) {
        return JsonParser.parseString(text).getAsJsonObject();
    }

    private static Optional<GatedPod> read(String metadata, String gates, String spec) {
        return READING.gated(json("""
                        {"metadata": {"name": "train", "namespace": "u1", "uid": "uid-1",
                                      "creationTimestamp": "2026-01-01T12:00:00Z" %s},
                         "spec": {"schedulingGates": [%s] %s}}
                        """.formatted(metadata, gates, spec)));
    }

    private static GatedPod gated(String metadata, String spec) {
        return read(metadata, "{\"name\": \"siphon.dev/dataset\"}", spec).orElseThrow();
    }

    @Test
    void aPodWaitsThatHasOurGateAlone() {
        GatedPod pod = gated("", "");
        assertEquals("u1/train uid-1", pod.namespace() + "/" + pod.name() + " " + pod.uid());
        assertEquals("uid-1", pod.group());
        String ours = "{\"name\": \"siphon.dev/dataset\"}";
        String other = "{\"name\": \"kueue.x-k8s.io/admission\"}";
        List.of("", other, ours + ", " + other, other + ", " + ours, ours + ", {}")
                .forEach(gates -> assertEquals(Optional.empty(), read("", gates, ""), gates));
        assertEquals(Optional.empty(), read(", \"deletionTimestamp\": \"2026-01-01T12:00:00Z\"", ours, ""));
        assertEquals(Optional.empty(), READING.gated(json("{\"metadata\": {}, \"spec\": {}}")));
    }

    /// The change may have been the removal of another gate.
    @ParameterizedTest
    @CsvSource({"1, 2026-01-01T12:00:00Z", "2, ", "null, "})
    void aPodThatWasNeverChangedWaitsSinceItsCreation(String generation, Instant since) {
        assertEquals(Optional.ofNullable(since), PodParser.neverHeldSince(json("""
                {"metadata": {"creationTimestamp": "2026-01-01T12:00:00Z", "generation": %s}}
                """.formatted(generation))));
    }

    @ParameterizedTest
    @CsvSource({"90, 90", "90s, 90", "10m, 600", "2h, 7200", "soon, ", "-1s, ", "1d, "})
    void itSaysHowLongItWaits(String text, Long seconds) {
        assertEquals(Optional.ofNullable(seconds).map(Duration::ofSeconds), PodParser.duration(text));
        assertEquals(
                Optional.ofNullable(seconds).map(Duration::ofSeconds),
                gated(", \"annotations\": {\"siphon.dev/max-wait\": \"" + text + "\"}", "")
                        .patience());
    }

    @ParameterizedTest
    @CsvSource({"required, true", "preferred, false", "Required, false"})
    void itSaysWhetherItRequiresItsNodes(String text, boolean isRequired) {
        assertEquals(
                isRequired,
                gated(", \"annotations\": {\"siphon.dev/placement\": \"" + text + "\"}", "")
                        .isPlacementRequired());
    }

    @ParameterizedTest
    @CsvSource({
        "labels, batch.kubernetes.io/job-name, batch.kubernetes.io/job-name=it",
        "labels, jobset.sigs.k8s.io/jobset-name, jobset.sigs.k8s.io/jobset-name=it",
        "labels, training.kubeflow.org/job-name, training.kubeflow.org/job-name=it",
        "labels, scheduling.x-k8s.io/pod-group, scheduling.x-k8s.io/pod-group=it",
        "annotations, scheduling.k8s.io/group-name, it",
        "labels, app, uid-7"
    })
    void podsOfOneJobAreOneGroup(String kind, String name, String group) {
        assertEquals(
                group,
                gated(
                                ", \"%s\": {\"%s\": \"it\"}, \"ownerReferences\": [{\"uid\": \"uid-6\"}, {\"uid\": \"uid-7\", \"controller\": true}]"
                                        .formatted(kind, name),
                                "")
                        .group());
    }

    @Test
    void itNamesItsDatasetsAndItsClaims() {
        assertEquals(
                List.of(
                        new GatedPod.DatasetReference.ByName("u1/x"),
                        new GatedPod.DatasetReference.ByClaim("data"),
                        new GatedPod.DatasetReference.ByClaim("train-scratch")),
                gated("", """
                        , "volumes": [
                          {"name": "a", "csi": {"driver": "cephfs.siphon.dev", "volumeAttributes": {"dataset": "u1/x"}}},
                          {"name": "b", "csi": {"driver": "csi.example.org", "volumeAttributes": {"dataset": "u1/y"}}},
                          {"name": "c", "persistentVolumeClaim": {"claimName": "data"}},
                          {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {}}},
                          {"name": "d", "emptyDir": {}}]
                        """).uses());
    }

    private static String container(String cpu, int gpus) {
        return "{\"resources\": {\"requests\": {\"cpu\": \"%s\", \"nvidia.com/gpu\": \"%d\"}}}".formatted(cpu, gpus);
    }

    private static String sidecar(String cpu) {
        return "{\"restartPolicy\": \"Always\", \"resources\": {\"requests\": {\"cpu\": \"%s\"}}}".formatted(cpu);
    }

    @ParameterizedTest(name = "containers {0} and {1}, init {2}, sidecar {3}: {4}")
    @CsvSource({
        "500m, 1, 0, 0, 1.5",
        "500m, 1, 4, 0, 4", // an init container that requests more than all others
        "500m, 1, 1, 2, 3.5", // a sidecar runs beside the containers
        "500m, 1, 4, 2, 6", // and beside the init container after it
        "1, 2Ki, 0, 0, 2049",
        "1, 1e3, 0, 0, 1001",
        "1, 1e99999999, 0, 0, 1", // from an API server that accepts more than Kubernetes
        "1, 2.1e-999999999, 0, 0, 1"
    })
    void whatItAsksForIsCountedAsTheSchedulerDoes(
            String first, String second, String init, String sidecar, BigDecimal cpu) {
        GatedPod pod = gated(
                "",
                ", \"containers\": [%s, %s], \"initContainers\": [%s, %s]"
                        .formatted(container(first, 1), container(second, 2), sidecar(sidecar), container(init, 0)));
        assertEquals(
                0,
                cpu.compareTo(
                        Optional.ofNullable(pod.needs().amounts().get("cpu")).orElseThrow()),
                pod.needs()::toString);
        assertEquals(BigDecimal.valueOf(3), pod.needs().amounts().get("nvidia.com/gpu"));
        assertEquals(BigDecimal.ONE, pod.needs().amounts().get("pods"));
    }

    @Test
    void whatThePodAsksForAsAWholeGoesBeforeItsContainers() {
        GatedPod pod = gated(
                "",
                ", \"containers\": [%s], \"resources\": {\"requests\": {\"cpu\": \"8\"}}, \"overhead\": {\"cpu\": \"1\"}"
                        .formatted(container("1", 1)));
        assertEquals(BigDecimal.valueOf(9), pod.needs().amounts().get("cpu"));
    }
}
