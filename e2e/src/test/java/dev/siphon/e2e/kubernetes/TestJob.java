package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodList;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.dsl.FilterWatchListDeletable;
import io.fabric8.kubernetes.client.dsl.PodResource;
import io.fabric8.kubernetes.client.dsl.ScalableResource;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/// A Job of a test.
record TestJob(Cluster cluster, String namespace, String name) {
    /// Many pods take longer than one.
    private static final Duration LIMIT = Duration.ofMinutes(5);

    private ScalableResource<Job> resource() {
        return cluster.client().batch().v1().jobs().inNamespace(namespace).withName(name);
    }

    /// Waits until the Job is complete.
    TestJob complete() {
        assertEquals("Complete", end());
        return this;
    }

    /// Waits until so many of its pods have succeeded.
    void awaitSucceeded(int pods) {
        var _ = cluster.await(
                pods + " pods of job " + name,
                resource(),
                job -> job != null
                        && job.getStatus().getSucceeded() != null
                        && job.getStatus().getSucceeded() >= pods);
    }

    /// Waits until the Job has failed.
    TestJob failed() {
        assertEquals("Failed", end());
        return this;
    }

    private String end() {
        Job ended = cluster.await(
                "job " + name + " ends",
                LIMIT,
                resource(),
                job -> job != null && !condition(job).isEmpty());
        return condition(ended);
    }

    private static String condition(Job job) {
        return job.getStatus().getConditions().stream()
                .filter(each -> "True".equals(each.getStatus()))
                .map(each -> each.getType())
                .filter(type -> "Complete".equals(type) || "Failed".equals(type))
                .findFirst()
                .orElse("");
    }

    /// Waits for its first pod and returns it.
    TestPod firstPod() {
        List<Pod> pods = cluster.awaitAll("a pod of job " + name, labelled(), all -> !all.isEmpty());
        return new TestPod(cluster, namespace, pods.getFirst().getMetadata().getName());
    }

    /// Returns its pods, including failed ones.
    List<Pod> pods() {
        return labelled().list().getItems();
    }

    private FilterWatchListDeletable<Pod, PodList, PodResource> labelled() {
        return cluster.client().pods().inNamespace(namespace).withLabel("batch.kubernetes.io/job-name", name);
    }

    /// Returns the log lines of all its pods.
    List<String> log() {
        return pods().stream()
                .flatMap(
                        pod -> new TestPod(cluster, namespace, pod.getMetadata().getName())
                                .log()
                                .lines())
                .toList();
    }

    /// Returns its pods' events with this reason, each as `POD: MESSAGE`.
    List<String> events(String reason) {
        return cluster
                .client()
                .v1()
                .events()
                .inNamespace(namespace)
                .withField("reason", reason)
                .list()
                .getItems()
                .stream()
                .filter(event -> event.getInvolvedObject().getName().startsWith(name + "-"))
                .map(event -> event.getInvolvedObject().getName() + ": " + event.getMessage())
                .toList();
    }

    /// Deletes the Job with its pods and waits until they are gone.
    void delete() {
        var _ = resource().delete();
        var _ = cluster.await("the end of job " + name, resource(), Objects::isNull);
        var _ = cluster.awaitAll("the end of the pods of job " + name, labelled(), List::isEmpty);
    }
}
