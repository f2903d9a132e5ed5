package dev.siphon.node.grant;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.Packer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/// Checks that the namespace of the pod may use the volumes of the volume's account.
///
/// The kubelet reports the pod, and overwrites whatever the PV has in its place (`podInfoOnMount` of the CSIDriver
/// object). Other orchestrators have no namespaces; their requests are not checked.
public final class PublishCheck {
    /// The maximum age of a grant that still allows access without another request.
    private static final Duration FRESH = Duration.ofSeconds(60);

    private static final String FULL = "ConfigMap siphon-grants is full and does not list every dataset";

    private final Optional<GrantsSource> grants;
    private final NamespacePlaces places;
    private final Optional<String> own;

    /// @param grants the grants in force; empty for no check
    /// @param places further grants beside these
    /// @param own the driver's own namespace; empty if the caller may not be a kubelet. A kubelet that reports no
    ///     pod is misconfigured, and must not let everybody in
    public PublishCheck(Optional<GrantsSource> grants, NamespacePlaces places, Optional<String> own) {
        this.grants = grants;
        this.places = places;
        this.own = own;
    }

    /// Refuses a pod that may not use the volume.
    ///
    /// @param context the volume context of the request. A person wrote that of a static PV, so every path in it
    ///     counts, not only the id
    /// @param namespace the pod's; empty if the orchestrator does not report it
    /// @param pod its name; empty if the orchestrator does not report it
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if the namespace may not use the volume
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if a kubelet does not report the pod's namespace
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the grants cannot be read now, or have no room
    ///     for the dataset of the claim
    public void check(
            VolumeId volume, Optional<VolumeContext> context, Optional<String> namespace, Optional<String> pod) {
        boolean unasked = grants.isEmpty() || (namespace.isEmpty() && own.isEmpty());
        if (unasked || (own.isPresent() && own.equals(namespace) && isForPacker(volume, context, pod))) {
            return;
        }
        if (namespace.isEmpty()) {
            throw new DriverException.InUse("volume " + volume + " cannot be published: the kubelet does not say for"
                    + " which pod; set podInfoOnMount: true in this driver's CSIDriver object");
        }
        long came = System.nanoTime();
        List<String> paths = paths(volume, context);
        Grants fresh = grants.get().get(FRESH).grants();
        if (refusalOrMore(volume, paths, namespace.get(), fresh).isEmpty()) {
            return;
        }
        // read again before a refusal: the grant may just have been published
        GrantsSource.KnownGrants known = grants.get().get(Duration.ofNanos(System.nanoTime() - came));
        Optional<String> refusal = refusalOrMore(volume, paths, namespace.get(), known.grants());
        if (refusal.isPresent()) {
            boolean isUncertain = volume instanceof VolumeId.DatasetVolume dataset
                    && dataset.claim().isPresent()
                    && isLeftOut(dataset, known.grants());
            throw refused(refusal.get(), known.outdated().or(() -> isUncertain ? Optional.of(FULL) : Optional.empty()));
        }
    }

    /// Returns the dataset that a namespace may read by what is published at this moment, without asking the
    /// controller.
    ///
    /// @param dataset its name, as people write it
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if the namespace may not read it
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the grants cannot be read now, have no room for
    ///     the dataset, or nobody publishes any
    public VolumeId.DatasetVolume published(String dataset, String namespace) {
        String name = Dataset.name("dataset", dataset);
        return published(
                namespace,
                QuotedText.of(dataset),
                grants -> grants.dataset(name).stream().toList());
    }

    /// Checks the same for the volume of a claim.
    public void checkPublished(VolumeId.DatasetVolume volume, String namespace) {
        var _ = published(namespace, "of volume " + volume, grants -> grants.datasetsOf(volume));
    }

    private VolumeId.DatasetVolume published(
            String namespace, String title, Function<Grants, List<Grants.Shared>> which) {
        GrantsSource source = grants.orElseThrow(() -> new DriverException.BackendUnavailable(
                "whether namespace " + QuotedText.of(namespace) + " may read a dataset is not published here"));
        GrantsSource.KnownGrants known = source.get(Duration.ZERO);
        known.outdated().ifPresent(why -> {
            throw new DriverException.BackendUnavailable("whether namespace " + QuotedText.of(namespace)
                    + " may still read the dataset is not known: " + why);
        });
        List<Grants.Shared> shared = which.apply(known.grants());
        if (shared.isEmpty() && known.grants().partial().contains(Grants.Part.DATASETS)) {
            throw new DriverException.BackendUnavailable(FULL);
        }
        return shared.stream()
                .filter(each -> each.isFor(namespace))
                .findFirst()
                .map(Grants.Shared::volume)
                .orElseThrow(() -> new DriverException.AccessDenied("namespace " + QuotedText.of(namespace)
                        + " is no reader of dataset " + title
                        + " by what is published; neither Ceph nor the controller answers"));
    }

    /// Returns whether a dataset may be missing only because the published grants have no room for it.
    private static boolean isLeftOut(VolumeId.DatasetVolume dataset, Grants grants) {
        return grants.partial().contains(Grants.Part.DATASETS)
                && grants.datasetsOf(dataset).isEmpty();
    }

    /// Whether the pod is a packer that reads its snapshot or writes its image. Only administrators create pods in
    /// the driver's own namespace. But anybody may write a PersistentVolume, so it must show what this pod packs.
    private static boolean isForPacker(VolumeId volume, Optional<VolumeContext> context, Optional<String> pod) {
        return pod.isPresent()
                && (Packer.writes(pod.get(), volume, context)
                        || context.filter(shown -> Packer.reads(pod.get(), volume, shown))
                                .isPresent());
    }

    /// Returns why a pod that has a dataset would be refused now; empty if it would not, or if that is uncertain.
    /// Always empty for other volumes.
    public Optional<String> withdrawn(VolumeId volume, String namespace) {
        if (grants.isEmpty() || !(volume instanceof VolumeId.DatasetVolume dataset)) {
            return Optional.empty();
        }
        try {
            GrantsSource.KnownGrants known = grants.get().get(FRESH);
            return known.outdated().isPresent() || isLeftOut(dataset, known.grants())
                    ? Optional.empty()
                    : refusal(volume, paths(volume, Optional.empty()), namespace, known.grants());
        } catch (DriverException.BackendUnavailable _) {
            return Optional.empty();
        }
    }

    /// Does the same as [#refusal], but also reads the namespace's own object if the grants of all are incomplete.
    private Optional<String> refusalOrMore(VolumeId volume, List<String> paths, String namespace, Grants all) {
        Optional<String> refusal = refusal(volume, paths, namespace, all);
        if (refusal.isEmpty() || !all.partial().contains(Grants.Part.GROUPS)) {
            return refusal;
        }
        NamespacePlaces.Places found = places.of(namespace);
        Optional<String> now = refusal(volume, paths, namespace, all.with(namespace, found.groups()));
        return now.map(why -> found.more() == 0
                ? why
                : why + "; the NamespaceAccess of the namespace lists "
                        + found.groups().size() + " accounts, its maximum, and leaves out " + found.more()
                        + " others");
    }

    private static DriverException refused(String refusal, Optional<String> outdated) {
        return outdated.<DriverException>map(why -> new DriverException.BackendUnavailable(
                        "whether the pod's namespace may use the volume is not known: " + why
                                + "; by the grants known before, " + refusal))
                .orElseGet(() -> new DriverException.AccessDenied(refusal));
    }

    /// Returns all paths that the volume may show.
    private static List<String> paths(VolumeId volume, Optional<VolumeContext> context) {
        List<String> paths = new ArrayList<>();
        paths.add(
                switch (volume) {
                    case VolumeId.Provisioned own -> PathRules.VOLUMES + "/" + own.group();
                    case VolumeId.WithPath fixed -> fixed.path();
                });
        context.ifPresent(where -> paths.add(
                where.mountPath() + where.dataPath().map(data -> "/" + data).orElse("")));
        return paths;
    }

    /// Returns why the paths may not be shown to the namespace; empty if all may.
    private static Optional<String> refusal(VolumeId volume, List<String> paths, String namespace, Grants grants) {
        if (volume instanceof VolumeId.DatasetVolume dataset) {
            List<Grants.Shared> datasets = grants.datasetsOf(dataset);
            if (datasets.stream().anyMatch(shared -> shared.isFor(namespace))) {
                return Optional.empty();
            }
            if (!datasets.isEmpty() || dataset.claim().isPresent()) {
                return Optional.of(unread(dataset, namespace, datasets.isEmpty()));
            }
        }
        return refusalOfPaths(volume, paths, namespace, grants);
    }

    private static String unread(VolumeId.DatasetVolume volume, String namespace, boolean gone) {
        return gone
                ? "the dataset of volume " + volume + " no longer exists: nobody may read it"
                : "namespace " + QuotedText.of(namespace) + " is not a reader of the dataset of volume " + volume
                        + ", or its account is frozen. Ask the Dataset's administrator to add an account of this"
                        + " namespace to its readers, or an administrator to end the freeze";
    }

    private static Optional<String> refusalOfPaths(
            VolumeId volume, List<String> paths, String namespace, Grants grants) {
        return paths.stream()
                .flatMap(path -> PathRules.refusal(volume, path, namespace, grants).stream())
                .findFirst();
    }
}
