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

/// What a pod of a test is to be: one container that runs a script of busybox's shell, as the account of its
/// namespace, and sees a volume at `/data`.
///
/// @param volumes none or one
/// @param changes what else is to be different, in turn
record PodRequest(
        Tenant tenant,
        String name,
        String script,
        Map<String, String> annotations,
        List<Volume> volumes,
        List<UnaryOperator<PodSpecBuilder>> changes) {
    private static final String IMAGE = "siphon.test/pause:1";
    private static final String VOLUME = "data";

    /// A kubelet that comes back refuses pods whose devices it does not know yet: a Job goes on with others.
    private static final int BACKOFF_LIMIT = 100;

    PodRequest {
        annotations = Map.copyOf(annotations);
        volumes = List.copyOf(volumes);
        changes = List.copyOf(changes);
    }

    static PodRequest of(Tenant tenant, String name, String script) {
        return new PodRequest(tenant, name, script, Map.of(), List.of(), List.of());
    }

    /// With the volume of a claim.
    PodRequest withClaim(String claim) {
        return withVolume(new VolumeBuilder()
                .withName(VOLUME)
                .withNewPersistentVolumeClaim()
                .withClaimName(claim)
                .endPersistentVolumeClaim()
                .build());
    }

    /// With a dataset that it names itself.
    PodRequest withDataset(String dataset) {
        return withAttributes(Map.of("dataset", dataset));
    }

    /// With an inline volume of these attributes.
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

    /// As another user than the account.
    PodRequest as(long uid) {
        return with(spec -> spec.editSecurityContext()
                .withRunAsUser(uid)
                .withRunAsGroup(uid)
                .endSecurityContext());
    }

    /// On this node.
    PodRequest on(String node) {
        return with(spec -> spec.withNodeName(node));
    }

    /// With users of its own (`hostUsers: false`).
    PodRequest withOwnUsers() {
        return with(spec -> spec.withHostUsers(false));
    }

    /// Held by a scheduling gate.
    PodRequest gatedBy(String gate) {
        return with(spec -> spec.addNewSchedulingGate(gate));
    }

    /// Held by Siphon's own, until its dataset is where it will run.
    PodRequest gated() {
        return gatedBy(Installation.GATE);
    }

    /// With so many GPUs for itself.
    PodRequest withGpus(int gpus) {
        return with(spec -> spec.editFirstContainer()
                .editOrNewResources()
                .addToLimits("nvidia.com/gpu", new Quantity(Integer.toString(gpus)))
                .endResources()
                .endContainer());
    }

    /// With any other change of its spec.
    PodRequest with(UnaryOperator<PodSpecBuilder> change) {
        List<UnaryOperator<PodSpecBuilder>> more = new ArrayList<>(changes);
        more.add(change);
        return new PodRequest(tenant, name, script, annotations, volumes, more);
    }

    /// Makes it.
    TestPod create() {
        var _ = resource().create();
        return tenant.podCalled(name);
    }

    /// What the API server would make of it.
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

    /// Makes a Job of so many pods like this, some of which run at once.
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
                        .withSpec(spec())
                        .endTemplate()
                        .endSpec()
                        .build())
                .create();
        return new TestJob(tenant.cluster(), tenant.namespace(), name);
    }

    /// What the pod consists of.
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
