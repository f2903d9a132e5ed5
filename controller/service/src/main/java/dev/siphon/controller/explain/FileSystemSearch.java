package dev.siphon.controller.explain;

import dev.siphon.controller.volume.CephNames;
import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.FileSystemRef;
import dev.siphon.controller.volume.FileTree;
import dev.siphon.controller.volume.GroupUsage;
import dev.siphon.controller.volume.GroupUsage.GroupStanding;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Predicate;

/// Searches all file systems for groups and volumes; one that does not answer does not block the others.
final class FileSystemSearch {
    /// The parent of all groups (`src/pybind/mgr/volumes/fs/vol_spec.py`).
    private static final String VOLUMES = "/volumes";

    private final Clusters clusters;
    private final FileTree files;
    private final BiConsumer<String, DriverException> unanswered;

    /// The names of all groups, by file system.
    private final Map<FileSystemRef, Set<String>> names = new HashMap<>();

    /// @param unanswered receives each cluster or file system that could not be searched
    FileSystemSearch(CephPorts ceph, BiConsumer<String, DriverException> unanswered) {
        this.clusters = ceph.clusters();
        this.files = ceph.files();
        this.unanswered = unanswered;
    }

    /// Runs `body` for each file system.
    void each(Consumer<FileSystemRef> body) {
        for (String cluster : clusters.ids()) {
            attempt(
                    "cluster " + cluster,
                    () -> clusters.fileSystems(cluster).forEach(found -> {
                        FileSystemRef place = new FileSystemRef(cluster, found.name());
                        attempt(place.toString(), () -> body.accept(place));
                    }));
        }
    }

    private void attempt(String what, Runnable step) {
        try {
            step.run();
        } catch (DriverException.BackendUnavailable | DriverException.AccessDenied silent) {
            unanswered.accept(what, silent);
        }
    }

    /// Returns Siphon's groups of a file system that match: one call for any number.
    List<SubvolumeGroup> groups(FileSystemRef place, Predicate<GroupStanding> which) {
        return files.standings(place.cluster(), place.fileSystem()).stream()
                .filter(standing -> CephNames.isGroup(standing.group()))
                .filter(which)
                .map(standing -> new SubvolumeGroup(place.cluster(), place.fileSystem(), standing.group()))
                .toList();
    }

    /// Returns the groups of that name, one for each file system where an account has something.
    List<SubvolumeGroup> named(String group) {
        List<SubvolumeGroup> found = new ArrayList<>();
        each(place -> {
            SubvolumeGroup here = new SubvolumeGroup(place.cluster(), place.fileSystem(), group);
            if (exists(here)) {
                found.add(here);
            }
        });
        return found;
    }

    /// Whether it is a group of Siphon, and exists.
    boolean exists(SubvolumeGroup group) {
        return CephNames.isGroup(group.name())
                && names.computeIfAbsent(FileSystemRef.of(group), this::names).contains(group.name());
    }

    private Set<String> names(FileSystemRef place) {
        return Set.copyOf(files.directories(place.cluster(), place.fileSystem(), VOLUMES));
    }

    /// Whether the volume exists. Asks the MDS alone: the mgr may be blocked.
    boolean exists(VolumeId.Provisioned volume) {
        try {
            var _ = files.dataDirectory(volume.cluster(), volume.fileSystem(), SubvolumeGroup.pathOf(volume));
            return true;
        } catch (DriverException.NotFound _) {
            return false;
        }
    }

    /// Returns the volumes in a group, also those of which only snapshots are left.
    List<VolumeId.Provisioned> volumes(SubvolumeGroup group) {
        return files.holdings(group).subvolumes().stream()
                .map(GroupUsage.Entry::name)
                .filter(VolumeId.Part.SUBVOLUME::fits)
                .filter(name -> CephNames.kindOf(name).isPresent())
                .map(group::volume)
                .toList();
    }
}
