package dev.siphon.node.grant;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Packer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Compares the namespace of the pod that a volume is published for with those that may use the volumes of its
/// account.
///
/// The kubelet says which pod it is, over whatever the PV has in the place of that (`podInfoOnMount` of the
/// CSIDriver object). Another orchestrator that says nothing has no namespaces, and is not checked.
public final class PublishCheck {
    /// For so long a grant is taken for one that still holds.
    private static final Duration FRESH = Duration.ofSeconds(60);

    private final Optional<GrantsSource> grants;
    private final NamespacePlaces places;
    private final Optional<String> own;

    /// @param grants those in force; empty for no check
    /// @param places what is granted beside these
    /// @param own the driver's own namespace, where it is a kubelet that asks for certain: one that does not say
    ///     for whom has not been told to say it, and everybody would be let in
    public PublishCheck(Optional<GrantsSource> grants, NamespacePlaces places, Optional<String> own) {
        this.grants = grants;
        this.places = places;
        this.own = own;
    }

    /// Refuses a pod that may not use the volume.
    ///
    /// @param context what the request says of the volume; a static PV's was written by a person, so that every
    ///     path in it counts and not the id alone
    /// @param namespace the pod's; empty if the orchestrator does not say
    /// @param pod what it is called; empty if the orchestrator does not say
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if the namespace is none of the account's
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if a kubelet does not say the pod's
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the grants cannot be read now
    public void check(
            VolumeId volume, Optional<VolumeContext> context, Optional<String> namespace, Optional<String> pod) {
        boolean unasked = grants.isEmpty() || (namespace.isEmpty() && own.isEmpty());
        if (unasked || (own.isPresent() && own.equals(namespace) && isForPacker(volume, context, pod))) {
            return;
        }
        if (namespace.isEmpty()) {
            throw new DriverException.InUse("volume " + volume + " cannot be published: the kubelet does not say for"
                    + " which pod; the CSIDriver object of this driver has to have podInfoOnMount: true");
        }
        long came = System.nanoTime();
        List<String> paths = paths(volume, context);
        GrantsSource.KnownGrants known = grants.get().get(FRESH);
        Optional<String> refusal = refusalOrMore(volume, paths, namespace.get(), known.grants());
        if (refusal.isPresent()) {
            // nobody is refused for a grant that was published a moment ago
            known = grants.get().get(Duration.ofNanos(System.nanoTime() - came));
            refusal = refusalOrMore(volume, paths, namespace.get(), known.grants());
        }
        if (refusal.isPresent()) {
            throw refused(refusal.get(), known.outdated());
        }
    }

    /// Whether a pod of the driver's own namespace, where nobody but administrators makes any, is a packer that
    /// is to read its snapshot, or to write its image. A PersistentVolume may be anybody's: what it shows has to
    /// be the one that this pod packs.
    private static boolean isForPacker(VolumeId volume, Optional<VolumeContext> context, Optional<String> pod) {
        return pod.isPresent()
                && (Packer.writes(pod.get(), volume, context)
                        || context.filter(shown -> Packer.reads(pod.get(), volume, shown))
                                .isPresent());
    }

    /// Why a pod that has a dataset would not get it any more; empty if it would, or if that is not known for
    /// certain now. Of other volumes nothing is taken back.
    public Optional<String> withdrawn(VolumeId volume, String namespace) {
        if (grants.isEmpty() || !(volume instanceof VolumeId.DatasetVolume dataset)) {
            return Optional.empty();
        }
        try {
            GrantsSource.KnownGrants known = grants.get().get(FRESH);
            boolean isUnknown = known.grants().partial().contains(Grants.Part.DATASETS)
                    && known.grants().datasetsOf(dataset).isEmpty();
            return known.outdated().isPresent() || isUnknown
                    ? Optional.empty()
                    : refusal(volume, paths(volume, Optional.empty()), namespace, known.grants());
        } catch (DriverException.BackendUnavailable _) {
            return Optional.empty();
        }
    }

    /// As [#refusal]; of what has no room among the grants of all the namespace's own object is asked.
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
                        + found.groups().size() + " accounts, which is all that it can, and not " + found.more()
                        + " others");
    }

    private static DriverException refused(String refusal, Optional<String> outdated) {
        return outdated.<DriverException>map(why -> new DriverException.BackendUnavailable(
                        "whether the pod's namespace may use the volume is not known: " + why
                                + "; as far as was known before, " + refusal))
                .orElseGet(() -> new DriverException.AccessDenied(refusal));
    }

    /// Everything that the volume may show.
    private static List<String> paths(VolumeId volume, Optional<VolumeContext> context) {
        List<String> paths = new ArrayList<>();
        paths.add(
                switch (volume) {
                    case VolumeId.Provisioned own -> PathRules.VOLUMES + "/" + own.group();
                    case VolumeId.ByHand fixed -> fixed.path();
                });
        context.ifPresent(where -> paths.add(
                where.mountPath() + where.dataPath().map(data -> "/" + data).orElse("")));
        return paths;
    }

    /// Why not all of the paths may be shown to the namespace; empty if they may.
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
                ? "the dataset that volume " + volume + " shows is no more: nobody may read it"
                : "namespace " + QuotedText.of(namespace) + " is no reader of the dataset that volume " + volume
                        + " shows: whoever administers that Dataset may add an account of this namespace to its readers";
    }

    private static Optional<String> refusalOfPaths(
            VolumeId volume, List<String> paths, String namespace, Grants grants) {
        return paths.stream()
                .flatMap(path -> PathRules.refusal(volume, path, namespace, grants).stream())
                .findFirst();
    }
}
