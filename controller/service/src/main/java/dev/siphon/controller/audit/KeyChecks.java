package dev.siphon.controller.audit;

import dev.siphon.controller.audit.FileSystemScan.ScannedEntry;
import dev.siphon.controller.audit.Finding.Kind;
import dev.siphon.controller.key.KeyStore;
import dev.siphon.controller.key.VolumeIdentity;
import dev.siphon.controller.volume.AccountFreeze;
import dev.siphon.controller.volume.CephNames;
import dev.siphon.csi.VolumeId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Compares volumes with cephx identities and with the stored keys.
final class KeyChecks {
    /// A volume's identity ([VolumeIdentity]): file system, group, subvolume, and the generation except for the
    /// first.
    private static final Pattern IDENTITY = Pattern.compile(
            Pattern.quote(VolumeIdentity.PREFIX) + "(.+)\\.(a[0-9a-v]{20})\\.([a-z][0-9a-v]{19,23})((?:\\.[0-9]+)?)");

    private final String cluster;
    private final List<FileSystemScan> looks;
    private final Set<VolumeId.Provisioned> volumes;

    /// @param looks scans of every file system of the cluster
    KeyChecks(String cluster, List<FileSystemScan> looks) {
        this.cluster = cluster;
        this.looks = List.copyOf(looks);
        this.volumes = looks.stream()
                .flatMap(FileSystemScan::places)
                .flatMap(place -> place.id().stream())
                .collect(Collectors.toUnmodifiableSet());
    }

    /// Returns the defects of the cluster's identities.
    List<Finding> identities(List<String> identities) {
        Set<String> fileSystems =
                looks.stream().map(FileSystemScan::fileSystem).collect(Collectors.toUnmodifiableSet());
        List<Finding> found = new ArrayList<>();
        for (String identity : identities) {
            Matcher parts = IDENTITY.matcher(identity);
            if (parts.matches() && fileSystems.contains(parts.group(1))) {
                VolumeId.Provisioned volume =
                        new VolumeId.Provisioned(cluster, parts.group(1), parts.group(2), parts.group(3));
                if (!volumes.contains(volume)) {
                    found.add(new Finding(
                            Kind.IDENTITY_WITHOUT_VOLUME,
                            cluster + ":client." + identity,
                            "opens volume " + volume + ", which is gone",
                            new Repair.RemoveIdentity(cluster, identity)));
                }
            }
        }
        return found;
    }

    /// Returns the defects of the stored keys.
    ///
    /// @param identities all identities of the cluster
    /// @param named whether it is known where nodes look for a volume's key
    List<Finding> store(KeyStore store, List<String> identities, Predicate<VolumeId.Provisioned> named) {
        List<Finding> found = new ArrayList<>();
        Set<VolumeId.Provisioned> kept = new HashSet<>(store.volumes());
        kept.removeIf(volume -> !volume.cluster().equals(cluster));
        for (VolumeId.Provisioned volume : kept) {
            if (!volumes.contains(volume)) {
                found.add(new Finding(
                        Kind.KEY_WITHOUT_VOLUME,
                        volume.toString(),
                        "is gone, but its key is still kept for nodes",
                        new Repair.RemoveKey(volume)));
            }
        }
        Map<VolumeId.Provisioned, String> current = store.userIds();
        found.addAll(otherGenerations(current, identities));
        for (FileSystemScan scan : looks) {
            scan.groups().values().stream()
                    .filter(seen -> !seen.state().notes().containsKey(AccountFreeze.NOTE))
                    .flatMap(seen -> seen.entries().stream().map(entry -> new ScannedEntry(seen.group(), entry)))
                    .flatMap(place -> place.volume().stream())
                    .filter(volume -> !identities.contains(current.getOrDefault(volume, "")))
                    .forEach(volume -> found.add(withoutKey(volume, kept.contains(volume), named.test(volume))));
        }
        return found;
    }

    /// Finds a volume's identities other than the one whose key nodes get.
    private List<Finding> otherGenerations(Map<VolumeId.Provisioned, String> current, List<String> identities) {
        List<Finding> found = new ArrayList<>();
        for (FileSystemScan scan : looks) {
            for (String identity : identities) {
                VolumeIdentity.parse(cluster, scan.fileSystem(), identity)
                        .filter(each -> volumes.contains(each.volume()))
                        .flatMap(each -> Optional.ofNullable(current.get(each.volume()))
                                .flatMap(kept -> VolumeIdentity.parse(cluster, scan.fileSystem(), kept))
                                .flatMap(kept -> beside(kept, each)))
                        .ifPresent(found::add);
            }
        }
        return found;
    }

    /// @param kept the identity whose key nodes get
    private static Optional<Finding> beside(VolumeIdentity kept, VolumeIdentity other) {
        if (!kept.volume().equals(other.volume()) || kept.generation() == other.generation()) {
            return Optional.empty();
        }
        boolean older = other.generation() < kept.generation();
        String object = other.volume().cluster() + ":client." + other.userId();
        String why =
                (older ? "was replaced by client." : "is newer than the identity whose key is kept for nodes, client.")
                        + kept.userId() + ", and opens volume " + other.volume() + " too";
        return Optional.of(new Finding(
                older ? Kind.IDENTITY_REPLACED : Kind.IDENTITY_NOT_KEPT,
                object,
                why,
                new Repair.ByHand("`siphon key rotate " + other.volume() + "` finishes the rotation")));
    }

    private static Finding withoutKey(VolumeId.Provisioned volume, boolean kept, boolean named) {
        boolean shallow = CephNames.kindOf(volume.subvolume()).equals(Optional.of(CephNames.Kind.SHALLOW));
        Repair mint = shallow
                ? new Repair.ByHand("the controller mints one within a minute after its PersistentVolume exists")
                : new Repair.MintKey(volume);
        return new Finding(
                Kind.VOLUME_WITHOUT_KEY,
                volume.toString(),
                kept ? "the identity of the key that is kept for nodes is gone" : "nodes find no key for it",
                named
                        ? mint
                        : new Repair.ByHand("it needs no key without a PersistentVolume; `siphon recover` prints one"));
    }
}
