package dev.siphon.e2e.kubernetes;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.batch.v1.JobBuilder;
import io.fabric8.kubernetes.client.dsl.PodResource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/// The specification of a test's pod: one container that runs a script of busybox's shell as its namespace's
/// account, with a volume at `/data`.
///
/// @param volumes none or one
/// @param changes to the spec, applied in order
record PodRequest(
        Tenant tenant,
        String name,
        String script,
        Map<String, String> annotations,
        List<Volume> volumes,
        List<UnaryOperator<PodSpecBuilder>> changes) {
    private static final String IMAGE = "siphon.test/pause:1";
    private static final String VOLUME = "data";

    /// A restarted kubelet rejects pods whose devices it does not know yet; the Job continues with other pods.
    private static final int BACKOFF_LIMIT = 100;

    PodRequest {
        annotations = Map.copyOf(annotations);
        volumes = List.copyOf(volumes);
        changes = List.copyOf(changes);
    }

    static PodRequest of(Tenant tenant, String name, String script) {
        return new PodRequest(tenant, name, script, Map.of(), List.of(), List.of());
    }

    /// Uses a claim's volume.
    PodRequest withClaim(String claim) {
        return withVolume(new VolumeBuilder()
                .withName(VOLUME)
                .withNewPersistentVolumeClaim()
                .withClaimName(claim)
                .endPersistentVolumeClaim()
                .build());
    }

    /// Names a dataset inline.
    PodRequest withDataset(String dataset) {
        return withAttributes(Map.of("dataset", dataset));
    }

    /// Uses an inline volume with these attributes.
    PodRequest withAttributes(Map<String, String> attributes) {
        return withVolume(new VolumeBuilder()
                .withName(VOLUME)
                .withNewCsi()
                .withDriver(Installation.DRIVER)
                .withVolumeAttributes(attributes)
                .endCsi()
                .build());
    }

    private PodRequest withVolume(Volume volume) {
        return new PodRequest(tenant, name, script, annotations, List.of(volume), changes);
    }

    PodRequest withAnnotation(String key, String value) {
        return new PodRequest(tenant, name, script, Map.of(key, value), volumes, changes);
    }

    /// Runs as another user than the account.
    PodRequest as(long uid) {
        return with(spec -> spec.editSecurityContext()
                .withRunAsUser(uid)
                .withRunAsGroup(uid)
                .endSecurityContext());
    }

    /// Runs on this node.
    PodRequest on(String node) {
        return with(spec -> spec.withNodeName(node));
    }

    /// Uses its own user namespace (`hostUsers: false`).
    PodRequest withOwnUsers() {
        return with(spec -> spec.withHostUsers(false));
    }

    /// Adds a scheduling gate.
    PodRequest gatedBy(String gate) {
        return with(spec -> spec.addNewSchedulingGate(gate));
    }

    /// Adds Siphon's gate, which waits for the dataset.
    PodRequest gated() {
        return gatedBy(Installation.GATE);
    }

    /// Requests so many GPUs.
    PodRequest withGpus(int gpus) {
        return with(spec -> spec.editFirstContainer()
                .editOrNewResources()
                .addToLimits("nvidia.com/gpu", new Quantity(Integer.toString(gpus)))
                .endResources()
                .endContainer());
    }

    /// Applies any other change of the spec.
    PodRequest with(UnaryOperator<PodSpecBuilder> change) {
        List<UnaryOperator<PodSpecBuilder>> more = new ArrayList<>(changes);
        more.add(change);
        return new PodRequest(tenant, name, script, annotations, volumes, more);
    }

    /// Creates the pod.
    TestPod create() {
        var _ = resource().create();
        return tenant.podCalled(name);
    }

    /// Returns the pod that the API server would create.
    Pod dryRun() {
        return resource().dryRun().create();
    }

    private PodResource resource() {
        return tenant.cluster()
                .client()
                .pods()
                .inNamespace(tenant.namespace())
                .resource(new PodBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .withAnnotations(annotations)
                        .endMetadata()
                        .withSpec(spec())
                        .build());
    }

    /// Creates a Job of such pods.
    ///
    /// @param pods how many must succeed
    /// @param atOnce how many run in parallel
    TestJob createJob(int pods, int atOnce) {
        var _ = tenant.cluster()
                .client()
                .batch()
                .v1()
                .jobs()
                .inNamespace(tenant.namespace())
                .resource(new JobBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .endMetadata()
                        .withNewSpec()
                        .withCompletions(pods)
                        .withParallelism(atOnce)
                        .withBackoffLimit(BACKOFF_LIMIT)
                        .withNewTemplate()
                        .withNewMetadata()
                        .withAnnotations(annotations)
                        .endMetadata()
                        .withSpec(spec())
                        .endTemplate()
                        .endSpec()
                        .build())
                .create();
        return new TestJob(tenant.cluster(), tenant.namespace(), name);
    }

    /// Returns the pod's spec.
    PodSpec spec() {
        PodSpecBuilder spec = new PodSpecBuilder()
                .withRestartPolicy("Never")
                .withTerminationGracePeriodSeconds(1L)
                .withNewSecurityContext()
                .withRunAsUser((long) tenant.uid())
                .withRunAsGroup((long) tenant.uid())
                .endSecurityContext()
                .addNewContainer()
                .withName("main")
                .withImage(IMAGE)
                .withImagePullPolicy("Never")
                .withCommand("sh", "-c", script)
                .endContainer();
        if (!volumes.isEmpty()) {
            spec.withVolumes(volumes)
                    .editFirstContainer()
                    .addNewVolumeMount()
                    .withName(VOLUME)
                    .withMountPath("/data")
                    .endVolumeMount()
                    .endContainer();
        }
        for (UnaryOperator<PodSpecBuilder> change : changes) {
            spec = change.apply(spec);
        }
        return spec.build();
    }
}
