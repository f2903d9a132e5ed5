package dev.siphon.controller.explain;

import dev.siphon.controller.explain.ClusterObjects.KnownClaim;
import dev.siphon.controller.explain.ClusterObjects.KnownEvent;
import dev.siphon.controller.explain.ClusterObjects.KnownPod;
import dev.siphon.controller.explain.ClusterObjects.KnownVolume;
import dev.siphon.controller.warm.DataReadiness;
import dev.siphon.controller.warm.GatedPod;
import dev.siphon.controller.warm.OrderedReplica;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Says in a sentence what a pod waits for, how far that is, how long it may last, and what to do. Only reads.
public final class PodWait {
    private static final Set<String> MOUNT_FAILED = Set.of("FailedMount", "FailedAttachVolume");

    /// The kubelet does this to containers once all volumes are mounted.
    private static final Set<String> MOUNTED = Set.of("Pulling", "Pulled", "Created", "Started");

    private static final Set<String> VOLUME_HEALTH = Set.of("VolumeConditionAbnormal", "VolumeConditionNormal");

    /// The end of the wait in the event `DatasetWarming`.
    private static final Pattern END = Pattern.compile("until (\\S{1,40}) at most");

    /// A driver's error as kubelet and provisioner quote it.
    private static final Pattern QUOTED_ERROR = Pattern.compile("(?s).*code = (\\w+) desc = (.*)");

    /// Codes with which kubelet and provisioner try again without help.
    private static final Set<String> PASSING = Set.of("Aborted", "Unavailable", "DeadlineExceeded");

    private static final int MOST_CHARS = 600;

    /// A claim that a pod names.
    private sealed interface PodClaim {
        record Existing(KnownClaim claim) implements PodClaim {}

        record Missing(NamespacedName name) implements PodClaim {}
    }

    private final KnownPlaces.InKubernetes kubernetes;
    private final ClusterObjects objects;
    private final String defaultCluster;

    /// @param defaultCluster the cluster of datasets that name none
    public PodWait(KnownPlaces.InKubernetes kubernetes, String defaultCluster) {
        this.kubernetes = kubernetes;
        this.objects = kubernetes.objects();
        this.defaultCluster = defaultCluster;
    }

    /// Returns a sentence for each thing that the pod waits for; one that says so if it waits for nothing.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if there is no such pod
    public List<String> of(NamespacedName name) {
        KnownPod pod = objects.pod(name)
                .orElseThrow(() -> new DriverException.NotFound("pod " + name + " does not exist; kubectl -n "
                        + name.namespace() + " get pods shows those that do"));
        if (pod.hasEnded()) {
            return List.of("pod " + name + " has ended (" + pod.phase() + ") and waits for nothing");
        }
        List<KnownEvent> events = objects.events("Pod", name, pod.uid());
        List<PodClaim> claims =
                pod.claims().stream().map(claim -> read(pod, claim)).toList();
        List<String> waits = new ArrayList<>(waits(claims));
        if (pod.node().isPresent()) {
            waits.addAll(onNode(pod, pod.node().get(), events));
            reading(pod, pod.node().get(), claims).ifPresent(waits::add);
        } else {
            waits.addAll(unscheduled(pod, claims, events));
        }
        if (pod.isLeaving()) {
            waits.add("is being deleted, and ends when its containers have");
        }
        return waits.stream()
                .map(wait -> "pod " + name + " " + QuotedText.printable(wait))
                .toList();
    }

    private PodClaim read(KnownPod pod, String claim) {
        NamespacedName name = new NamespacedName(pod.name().namespace(), claim);
        return objects.claim(name).<PodClaim>map(PodClaim.Existing::new).orElseGet(() -> new PodClaim.Missing(name));
    }

    private List<String> waits(List<PodClaim> claims) {
        List<String> waits = new ArrayList<>();
        for (PodClaim claim : claims) {
            switch (claim) {
                case PodClaim.Missing(var name) ->
                    waits.add("waits for claim " + name
                            + ", which does not exist: create it, or correct the name in the pod");
                case PodClaim.Existing(var known) -> {
                    if (!known.phase().equals("Bound")) {
                        pending(known).ifPresent(waits::add);
                    }
                }
            }
        }
        return waits;
    }

    /// Returns why a claim has no volume; empty if it waits for the pod.
    private Optional<String> pending(KnownClaim claim) {
        List<KnownEvent> events = objects.events("PersistentVolumeClaim", claim.name(), claim.uid());
        String begin = "waits for claim " + claim.name() + ", which has no volume yet: ";
        if (claim.phase().equals("Lost")) {
            return Optional.of("waits for claim " + claim.name() + ", whose PersistentVolume was deleted: create the"
                    + " claim again; if the files are needed, docs/how-to/recovery.md says how to get them back");
        }
        Optional<KnownEvent> failed = last(events, event -> event.reason().equals("ProvisioningFailed"));
        Optional<KnownEvent> latest = last(events, _ -> true);
        if (failed.isPresent()) {
            return Optional.of(begin + error(failed.get().message()));
        }
        if (latest.filter(event -> event.reason().equals("WaitForFirstConsumer"))
                .isPresent()) {
            return Optional.empty();
        }
        return Optional.of(begin
                + latest.map(event -> cut(event.message())).orElse("nothing was reported about it")
                + "; this takes seconds, so if it lasts a minute check that a controller leads:"
                + " `kubectl -n siphon get pods,lease`");
    }

    private List<String> unscheduled(KnownPod pod, List<PodClaim> claims, List<KnownEvent> events) {
        List<String> waits = new ArrayList<>();
        for (String gate : pod.gates()) {
            waits.add(
                    gate.equals(GatedPod.GATE)
                            ? atGate(pod, claims, events)
                            : "waits at the scheduling gate " + gate + ", which is not Siphon's: ask whoever set it");
        }
        if (pod.gates().isEmpty()) {
            waits.add("waits for a node: "
                    + pod.unscheduled().map(PodWait::cut).orElse("the scheduler has not said why yet")
                    + "; it is placed as soon as a node suits");
        }
        return waits;
    }

    private String atGate(KnownPod pod, List<PodClaim> claims, List<KnownEvent> events) {
        Optional<KnownEvent> told = last(
                events, event -> event.reason().startsWith("Dataset") || DataReadiness.CLOSED.contains(event.reason()));
        if (told.filter(event -> DataReadiness.CLOSED.contains(event.reason())).isPresent()) {
            return DataReadiness.closed(told.get().message()).sentence();
        }
        Optional<String> end = told.map(event -> END.matcher(event.message()))
                .filter(Matcher::find)
                .map(found -> found.group(1));
        return DataReadiness.atGate(datasets(pod, claims), kubernetes.replicas().get(), end)
                .sentence();
    }

    /// Returns how far the datasets of a running pod are; empty if they are on a disk, or if that is not known.
    private Optional<String> reading(KnownPod pod, String node, List<PodClaim> claims) {
        if (pod.datasets().isEmpty() && claims.isEmpty()) {
            return Optional.empty();
        }
        List<OrderedReplica> here = kubernetes.replicas().get().stream()
                .filter(replica -> replica.order().node().equals(node))
                .toList();
        Set<String> unfinished = here.stream()
                .filter(replica -> !replica.isLocal())
                .map(replica -> replica.order().dataset())
                .collect(Collectors.toSet());
        if (unfinished.isEmpty()) {
            return Optional.empty();
        }
        Set<String> datasets = datasets(pod, claims);
        return Collections.disjoint(datasets, unfinished)
                ? Optional.empty()
                : Optional.of(DataReadiness.onNode(node, datasets, here).sentence());
    }

    /// Returns the names of the datasets that a pod reads.
    private Set<String> datasets(KnownPod pod, List<PodClaim> claims) {
        Set<String> names = new TreeSet<>();
        pod.datasets().forEach(written -> names.add(Dataset.objectName(written)));
        Set<String> persistentVolumes = new TreeSet<>();
        for (PodClaim claim : claims) {
            if (claim instanceof PodClaim.Existing(var known)) {
                known.dataset()
                        .ifPresentOrElse(
                                written -> names.add(Dataset.objectName(written)),
                                () -> known.volume().ifPresent(persistentVolumes::add));
            }
        }
        names.addAll(shownBy(persistentVolumes));
        return names;
    }

    /// Returns the names of the datasets that PersistentVolumes show.
    private List<String> shownBy(Set<String> persistentVolumes) {
        if (persistentVolumes.isEmpty()) {
            return List.of();
        }
        List<VolumeId.DatasetVolume> shown = objects.volumes().stream()
                .filter(volume -> persistentVolumes.contains(volume.name()))
                .map(KnownVolume::volume)
                .filter(VolumeId.DatasetVolume.class::isInstance)
                .map(volume -> ((VolumeId.DatasetVolume) volume).withoutClaim())
                .toList();
        if (shown.isEmpty()) {
            return List.of();
        }
        List<Dataset> declared = kubernetes.datasets().all().datasets();
        return shown.stream()
                .flatMap(volume -> declared.stream()
                        .filter(dataset -> dataset.volume(defaultCluster).equals(volume))
                        .map(Dataset::name)
                        .limit(1))
                .toList();
    }

    private static List<String> onNode(KnownPod pod, String node, List<KnownEvent> events) {
        if (pod.phase().equals("Running") && pod.waiting().isEmpty()) {
            return List.of(last(events, event -> VOLUME_HEALTH.contains(event.reason()))
                    .filter(KnownEvent::warning)
                    .map(sick -> "runs on node " + node + ", but its volume is not well since " + sick.last() + ": "
                            + cut(sick.message()))
                    .orElse("runs on node " + node + " and waits for nothing"));
        }
        Optional<KnownEvent> failed = last(
                        events, event -> MOUNT_FAILED.contains(event.reason()) || MOUNTED.contains(event.reason()))
                .filter(event -> MOUNT_FAILED.contains(event.reason()))
                .map(latest -> last(events, PodWait::quotesDriver).orElse(latest));
        // a container that waits for something else has its volumes
        boolean isCreating = pod.waiting().isEmpty()
                || pod.waiting().stream()
                        .anyMatch(each -> each.endsWith(": ContainerCreating") || each.endsWith(": PodInitializing"));
        if (isCreating && failed.isPresent()) {
            return List.of("waits on node " + node + " for a volume: "
                    + error(failed.get().message()));
        }
        return List.of("waits on node " + node + " for its containers ("
                + (pod.waiting().isEmpty() ? "not begun" : String.join(", ", pod.waiting()))
                + "); no volume has failed there, so kubectl -n " + pod.name().namespace() + " describe pod "
                + pod.name().name() + " says more");
    }

    private static boolean quotesDriver(KnownEvent event) {
        return MOUNT_FAILED.contains(event.reason())
                && QUOTED_ERROR.matcher(event.message()).matches();
    }

    /// Returns the driver's message in an event, and whether it passes without help.
    private static String error(String message) {
        Matcher quoted = QUOTED_ERROR.matcher(message);
        if (!quoted.matches()) {
            return cut(message) + "; it is tried again";
        }
        String code = quoted.group(1);
        return code + ": " + cut(quoted.group(2))
                + (PASSING.contains(code)
                        ? "; it is tried again by itself"
                        : "; it is tried again, but fails until somebody does what this says");
    }

    private static String cut(String text) {
        return text.length() <= MOST_CHARS ? text : text.substring(0, MOST_CHARS) + "...";
    }

    private static Optional<KnownEvent> last(List<KnownEvent> events, Predicate<KnownEvent> which) {
        return events.stream().filter(which).reduce((_, later) -> later);
    }
}
