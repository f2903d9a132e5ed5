package dev.siphon.controller.audit;

import dev.siphon.controller.audit.FileSystemScan.ScannedGroup;
import dev.siphon.controller.audit.Finding.Kind;
import dev.siphon.controller.audit.VolumesDirectory.EntryState;
import dev.siphon.controller.audit.VolumesDirectory.Top;
import dev.siphon.controller.key.Identities;
import dev.siphon.controller.key.KeyStore;
import dev.siphon.controller.key.VolumeIdentity;
import dev.siphon.controller.volume.CephNames;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/// Scans every file system for defects, and changes nothing.
///
/// It runs beside a controller that creates and deletes volumes, so operations in progress may briefly look like
/// defects. If the first scan finds a defect, a second one follows after [GracePeriods#pause], and only findings
/// of both count.
public final class Auditor {
    private final Clusters clusters;
    private final VolumesDirectory volumesDirectory;
    private final Identities identities;
    private final Kept kept;
    private final AccountChecks accounts;
    private final GracePeriods gracePeriods;
    private final Consumer<Duration> pause;

    /// The traces of a volume outside Ceph.
    ///
    /// @param keys the store of volume keys; empty if the driver mints none
    /// @param persistentVolumes the volumes with a PersistentVolume; empty without Kubernetes
    public record Kept(Optional<KeyStore> keys, Optional<Supplier<Set<VolumeId.Provisioned>>> persistentVolumes) {
        /// Returns how a volume is used: by its PersistentVolume or, without Kubernetes, by its key. Empty if no
        /// use is known.
        Optional<String> owned(VolumeId.Provisioned volume) {
            if (persistentVolumes.isPresent()) {
                return persistentVolumes.get().get().contains(volume)
                        ? Optional.of("has a PersistentVolume")
                        : Optional.empty();
            }
            return keys.flatMap(store -> store.find(volume)).map(_ -> "has a key");
        }
    }

    /// @param pause waits for the given time
    public Auditor(
            Clusters clusters,
            VolumesDirectory volumesDirectory,
            Identities identities,
            Kept kept,
            AccountChecks accounts,
            GracePeriods gracePeriods,
            Consumer<Duration> pause) {
        this.clusters = clusters;
        this.volumesDirectory = volumesDirectory;
        this.identities = identities;
        this.kept = kept;
        this.accounts = accounts;
        this.gracePeriods = gracePeriods;
        this.pause = pause;
    }

    /// Returns the findings, sorted by kind and object.
    public List<Finding> audit() {
        List<Finding> first = scanAll();
        if (first.stream().noneMatch(finding -> finding.kind().isDefect())) {
            return first;
        }
        pause.accept(gracePeriods.pause());
        return scanAll().stream()
                .filter(now -> first.stream().anyMatch(now::isAbout))
                .toList();
    }

    /// Returns the findings of a single scan.
    public List<Finding> scanAll() {
        List<Finding> found = new ArrayList<>();
        List<FileSystemScan> all = new ArrayList<>();
        for (String cluster : clusters.ids()) {
            List<FileSystemScan> looks = new ArrayList<>();
            for (Clusters.FileSystem fileSystem : clusters.fileSystems(cluster)) {
                FileSystemScan scan = scan(cluster, fileSystem.name());
                looks.add(scan);
                VolumeChecks volumes = new VolumeChecks(scan);
                scan.places().forEach(place -> found.addAll(volumes.of(place)));
                found.addAll(new ContentChecks(scan, gracePeriods).all());
                found.addAll(new RemovalChecks(scan, gracePeriods).all());
            }
            found.addAll(ofKeys(cluster, looks));
            found.addAll(accounts.of(looks));
            all.addAll(looks);
        }
        // listed after the scan, because a volume created meanwhile gets its PersistentVolume a moment later
        kept.persistentVolumes()
                .ifPresent(standing -> found.addAll(withoutPersistentVolume(all, standing.get(), found)));
        return found.stream()
                .sorted(Comparator.comparing(Finding::kind).thenComparing(Finding::object))
                .toList();
    }

    private FileSystemScan scan(String cluster, String fileSystem) {
        Instant at = Instant.now();
        Top top = volumesDirectory.top(cluster, fileSystem);
        Map<String, ScannedGroup> groups = new TreeMap<>();
        for (String name : top.groups()) {
            if (CephNames.isGroup(name)) {
                seen(new SubvolumeGroup(cluster, fileSystem, name)).ifPresent(seen -> groups.put(name, seen));
            }
        }
        return new FileSystemScan(cluster, fileSystem, at, top, groups);
    }

    private Optional<ScannedGroup> seen(SubvolumeGroup group) {
        return volumesDirectory.group(group).map(state -> {
            List<EntryState> entries = new ArrayList<>();
            for (String name : volumesDirectory.entries(group)) {
                volumesDirectory.entry(group, name).ifPresent(entries::add);
            }
            return new ScannedGroup(state, entries);
        });
    }

    private List<Finding> withoutPersistentVolume(
            List<FileSystemScan> looks, Set<VolumeId.Provisioned> standing, List<Finding> others) {
        Set<String> unfinished = others.stream()
                .filter(other -> other.repair() instanceof Repair.DeleteVolume)
                .map(Finding::object)
                .collect(Collectors.toSet());
        return looks.stream()
                .flatMap(FileSystemScan::places)
                .filter(place -> place.volume()
                        .filter(volume -> !standing.contains(volume))
                        .isPresent())
                .map(place -> withoutPersistentVolume(place, unfinished))
                .toList();
    }

    /// @param unfinished the volumes to be deleted for another reason
    private Finding withoutPersistentVolume(FileSystemScan.ScannedEntry place, Set<String> unfinished) {
        VolumeId.Provisioned volume = place.volume().orElseThrow();
        boolean orphan = !unfinished.contains(volume.toString())
                && VolumeChecks.hasNoFiles(place.entry())
                && place.entry().changed().isBefore(Instant.now().minus(gracePeriods.orphan()));
        return orphan
                ? new Finding(
                        Kind.ORPHAN,
                        volume.toString(),
                        "holds nothing, has no PersistentVolume, and is older than "
                                + gracePeriods.orphan().toHours() + " h: its claim was changed or deleted while"
                                + " it was made",
                        new Repair.DeleteVolume(volume, place.entry()))
                : new Finding(
                        Kind.VOLUME_WITHOUT_PV,
                        volume.toString(),
                        "has no PersistentVolume: that was deleted and the volume retained, or the claim was"
                                + " changed or deleted while the volume was made, or a command made the volume",
                        new Repair.ByHand("`siphon recover` prints a PersistentVolume for it; `siphon csi DeleteVolume`"
                                + " deletes it"));
    }

    /// Checks identities and keys. A driver that mints no keys may lack the permission to list identities, and
    /// then has none to check.
    private List<Finding> ofKeys(String cluster, List<FileSystemScan> looks) {
        KeyChecks checks = new KeyChecks(cluster, looks);
        List<String> all;
        try {
            all = identities.startingWith(cluster, VolumeIdentity.PREFIX);
        } catch (DriverException.AccessDenied denied) {
            if (kept.keys().isPresent()) {
                throw denied;
            }
            return List.of();
        }
        Predicate<VolumeId.Provisioned> named = kept.persistentVolumes()
                .<Predicate<VolumeId.Provisioned>>map(standing -> standing.get()::contains)
                .orElse(_ -> true);
        List<Finding> found = new ArrayList<>(checks.identities(all));
        kept.keys().ifPresent(store -> found.addAll(checks.store(store, all, named)));
        return found;
    }
}
