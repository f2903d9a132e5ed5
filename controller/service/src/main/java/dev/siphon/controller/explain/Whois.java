package dev.siphon.controller.explain;

import dev.siphon.controller.explain.ClusterObjects.KnownPod;
import dev.siphon.controller.explain.ClusterObjects.KnownVolume;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.key.DatasetIdentity;
import dev.siphon.controller.key.VolumeIdentity;
import dev.siphon.controller.volume.AccountNote;
import dev.siphon.controller.volume.CephNames;
import dev.siphon.controller.volume.FileSystemRef;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Predicate;

/// Says what belongs to something that an administrator has found: a path, a code, an identity, a pod and so on. Only
/// reads.
public final class Whois {
    private final KnownPlaces places;
    private final VolumeSheets volumes;
    private final DatasetSheets datasets;
    private final FileSystemSearch search;

    /// @param unanswered receives what could not be read, with the reason; the rest is still reported
    public Whois(KnownPlaces places, BiConsumer<String, DriverException> unanswered) {
        this.places = places;
        this.search = new FileSystemSearch(places.ceph(), unanswered);
        ReadOnce once = new ReadOnce(places, unanswered);
        this.volumes = new VolumeSheets(places, once);
        this.datasets = new DatasetSheets(places, once);
    }

    /// Returns what is known: a sheet for each thing that it can be, followed by those of its volumes.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the text has no known form, or needs Kubernetes
    /// @throws DriverException.NotFound (NOT_FOUND) if nothing of that name is known
    public List<FactSheet> of(String text) {
        Clue clue = Clue.parse(text);
        List<FactSheet> found = switch (clue) {
            case Clue.PathInCeph(var path) -> ofPath(path);
            case Clue.GroupCode(var group) -> groups(search.named(group));
            case Clue.SubvolumeCode(var subvolume) -> ofSubvolume(subvolume);
            case Clue.WholeId(var volume) -> ofVolume(volume);
            case Clue.IdentityName(var userId) -> ofIdentity(userId);
            case Clue.SessionNumber(var id) -> ofSession(id);
            case Clue.BareNumber(var number) -> ofNumber(number);
            case Clue.PodUid(var uid) -> ofPodUid(uid);
            case Clue.DigestBeginning(var digits) ->
                datasets.of(each -> each.digest().hex().startsWith(digits));
            case Clue.InNamespace(var name) -> ofObjects(name);
            case Clue.PlainName(var name) -> ofName(name);
        };
        if (found.isEmpty()) {
            throw new DriverException.NotFound(QuotedText.of(text) + " is not known as " + kinds(clue)
                    + "; if it was deleted, only its parts can be found: try the group or the path");
        }
        return found;
    }

    private static String kinds(Clue clue) {
        return switch (clue) {
            case Clue.PathInCeph _ -> "a path of a volume or dataset";
            case Clue.GroupCode _ -> "the group of an account";
            case Clue.SubvolumeCode _, Clue.WholeId _ -> "a volume";
            case Clue.IdentityName _ -> "the identity of a volume or dataset";
            case Clue.SessionNumber _ -> "the client of a session";
            case Clue.BareNumber _ -> "the client of a session or the uid of an account with volumes";
            case Clue.PodUid _ -> "the uid of a pod";
            case Clue.DigestBeginning _ -> "the digest of a declared dataset";
            case Clue.InNamespace _ -> "a pod, a claim or a dataset";
            case Clue.PlainName _ -> "a PersistentVolume, an account or a dataset";
        };
    }

    private List<FactSheet> ofPath(String path) {
        List<FactSheet> found = new ArrayList<>();
        search.each(place -> SubvolumeGroup.at(place.cluster(), place.fileSystem(), path)
                .filter(search::exists)
                .ifPresent(group -> found.addAll(
                        subvolumeAt(group, path).map(volumes::whole).orElseGet(() -> groups(List.of(group))))));
        found.addAll(datasets.of(each -> path.equals(each.path()) || path.startsWith(each.path() + "/")));
        return found;
    }

    /// Returns the volume whose directory a path names or lies in.
    private static Optional<VolumeId.Provisioned> subvolumeAt(SubvolumeGroup group, String path) {
        String below = path.substring(Math.min(path.length(), group.path().length() + 1));
        String name = below.contains("/") ? below.substring(0, below.indexOf('/')) : below;
        return VolumeId.Part.SUBVOLUME.fits(name) && CephNames.kindOf(name).isPresent()
                ? Optional.of(group.volume(name))
                : Optional.empty();
    }

    /// Returns a sheet for each group, followed by those of its volumes.
    private List<FactSheet> groups(List<SubvolumeGroup> groups) {
        List<FactSheet> found = new ArrayList<>();
        for (SubvolumeGroup group : groups) {
            found.add(volumes.account(group));
            search.volumes(group).forEach(volume -> found.add(volumes.part(volume)));
        }
        return found;
    }

    /// A PersistentVolume names the group; without one, each group is searched.
    private List<FactSheet> ofSubvolume(String subvolume) {
        List<FactSheet> found = new ArrayList<>();
        volumes.all().stream()
                .map(KnownVolume::volume)
                .filter(volume -> volume instanceof VolumeId.Provisioned named
                        && named.subvolume().equals(subvolume))
                .forEach(volume -> found.addAll(ofVolume(volume)));
        if (found.isEmpty()) {
            search.each(place -> search.groups(place, _ -> true).stream()
                    .map(group -> group.volume(subvolume))
                    .filter(search::exists)
                    .forEach(volume -> found.addAll(volumes.whole(volume))));
        }
        return found;
    }

    private List<FactSheet> ofVolume(VolumeId volume) {
        return switch (volume) {
            case VolumeId.Provisioned provisioned -> volumes.whole(provisioned);
            case VolumeId.Static fixed -> ofPath(fixed.path());
            case VolumeId.DatasetVolume dataset -> datasets.of(dataset);
        };
    }

    private List<FactSheet> ofIdentity(String userId) {
        List<FactSheet> found = new ArrayList<>();
        search.each(place -> found.addAll(ofIdentity(place, userId)));
        return found;
    }

    private List<FactSheet> ofIdentity(FileSystemRef place, String userId) {
        Optional<DatasetIdentity> dataset = DatasetIdentity.parse(place.fileSystem(), userId);
        if (dataset.isPresent()) {
            return datasets.of(place, dataset.get());
        }
        return VolumeIdentity.parse(place.cluster(), place.fileSystem(), userId)
                .map(VolumeIdentity::volume)
                .filter(volume -> search.exists(SubvolumeGroup.of(volume)))
                .map(volumes::whole)
                .orElse(List.of());
    }

    private List<FactSheet> ofSession(long id) {
        List<FactSheet> found = new ArrayList<>();
        search.each(place -> {
            // a client has a session at each MDS daemon
            places.sessions().all(place.cluster(), place.fileSystem()).stream()
                    .filter(session -> session.id() == id)
                    .findFirst()
                    .ifPresent(client -> {
                        List<FactSheet> known = ofIdentity(place, client.userId());
                        found.addAll(known.isEmpty() ? List.of(volumes.stranger(client)) : known);
                    });
        });
        return found;
    }

    private List<FactSheet> ofNumber(long number) {
        List<FactSheet> found = new ArrayList<>(ofSession(number));
        String uid = Long.toString(number);
        search.each(place -> found.addAll(groups(search.groups(
                place,
                standing -> standing.account()
                        .map(AccountNote::uid)
                        .filter(uid::equals)
                        .isPresent()))));
        return found;
    }

    private KnownPlaces.InKubernetes kubernetes() {
        return places.kubernetes()
                .orElseThrow(
                        () -> new DriverException.InvalidRequest(
                                "pods and claims are known with --kubernetes-namespace only; give a path, a code or an account"));
    }

    private List<FactSheet> ofPodUid(String uid) {
        List<KnownPod> pods = new ArrayList<>();
        kubernetes().objects().pods(Optional.empty(), pod -> {
            if (pod.uid().equals(uid)) {
                pods.add(pod);
            }
        });
        return pods.stream().flatMap(pod -> ofPod(pod).stream()).toList();
    }

    private List<FactSheet> ofObjects(NamespacedName name) {
        ClusterObjects objects = kubernetes().objects();
        List<FactSheet> found = new ArrayList<>();
        objects.pod(name).ifPresent(pod -> found.addAll(ofPod(pod)));
        objects.claim(name).ifPresent(claim -> found.addAll(ofClaim(claim)));
        found.addAll(datasets.of(named(name.namespace() + "." + name.name())));
        return found;
    }

    private static Predicate<Dataset> named(String name) {
        return dataset -> dataset.name().equals(name);
    }

    /// Returns a sheet for the pod, followed by those of its volumes and datasets.
    private List<FactSheet> ofPod(KnownPod pod) {
        List<FactSheet> found = new ArrayList<>();
        FactSheet sheet = new FactSheet().add("pod", VolumeSheets.describe(pod));
        pod.claims().forEach(claim -> sheet.add("claim", pod.name().namespace() + "/" + claim));
        pod.datasets().forEach(dataset -> sheet.add("dataset", dataset));
        found.add(sheet);
        for (String name : pod.claims()) {
            NamespacedName claim = new NamespacedName(pod.name().namespace(), name);
            volumes.of(claim).ifPresent(volume -> found.addAll(ofVolume(volume.volume())));
        }
        for (String dataset : pod.datasets()) {
            found.addAll(datasets.of(named(Dataset.objectName(dataset))));
        }
        return found;
    }

    private List<FactSheet> ofClaim(ClusterObjects.KnownClaim claim) {
        Optional<KnownVolume> volume = volumes.of(claim.name());
        if (volume.isPresent()) {
            return ofVolume(volume.get().volume());
        }
        FactSheet sheet = new FactSheet().add("claim", claim.name() + " (" + claim.phase() + ")");
        claim.dataset().ifPresent(dataset -> sheet.add("dataset", dataset));
        return List.of(claim.volume()
                .map(other -> sheet.add("volume", "PersistentVolume " + other + ", which is not this driver's"))
                .orElseGet(() -> sheet.add("volume", "none yet; `siphon why` of its pod says why")));
    }

    private List<FactSheet> ofName(String name) {
        List<FactSheet> found = new ArrayList<>();
        if (places.kubernetes().isPresent()) {
            volumes.all().stream()
                    .filter(volume -> volume.name().equals(name))
                    .forEach(volume -> found.addAll(ofVolume(volume.volume())));
            found.addAll(datasets.of(named(name)));
        }
        found.addAll(ofAccount(name));
        return found;
    }

    private List<FactSheet> ofAccount(String name) {
        Optional<Account> account = places.directory().account(name);
        Optional<String> code = account.map(SubvolumeGroup::nameOf);
        List<SubvolumeGroup> groups = new ArrayList<>();
        search.each(place -> groups.addAll(search.groups(
                place,
                standing -> code.filter(standing.group()::equals).isPresent()
                        || standing.account()
                                .filter(note -> note.name().equals(name))
                                .isPresent())));
        return groups.isEmpty() && account.isPresent()
                ? List.of(volumes.accountWithoutGroup(account.get()))
                : groups(groups);
    }
}
