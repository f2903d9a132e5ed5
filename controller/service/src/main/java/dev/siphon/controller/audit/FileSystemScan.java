package dev.siphon.controller.audit;

import dev.siphon.controller.audit.VolumesDirectory.EntryState;
import dev.siphon.controller.audit.VolumesDirectory.GroupState;
import dev.siphon.controller.audit.VolumesDirectory.Top;
import dev.siphon.controller.volume.CephNames;
import dev.siphon.controller.volume.Homes;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.VolumeId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/// A file system as one scan saw it.
///
/// @param at when the scan began
/// @param groups the accounts' groups by name
record FileSystemScan(String cluster, String fileSystem, Instant at, Top top, Map<String, ScannedGroup> groups) {
    FileSystemScan {
        groups = Map.copyOf(groups);
    }

    /// A group and its entries.
    record ScannedGroup(GroupState state, List<EntryState> entries) {
        ScannedGroup {
            entries = List.copyOf(entries);
        }

        SubvolumeGroup group() {
            return state.group();
        }
    }

    /// An entry and its group.
    record ScannedEntry(SubvolumeGroup group, EntryState entry) {
        /// Returns the path of the subvolume.
        String path() {
            return group.path() + "/" + entry.name();
        }

        /// Returns the volume's id; empty if the name cannot be a volume's.
        Optional<VolumeId.Provisioned> id() {
            return VolumeId.Part.SUBVOLUME.fits(entry.name())
                    ? Optional.of(group.volume(entry.name()))
                    : Optional.empty();
        }

        /// Returns the volume if it is whole and nodes may mount it. Volumes that show a home count, the home
        /// itself does not.
        Optional<VolumeId.Provisioned> volume() {
            boolean whole = entry.meta() instanceof VolumesDirectory.Meta.Read read
                    && read.file().global("state").equals("complete");
            return whole
                    ? id().filter(id -> !Homes.isHome(id))
                            .filter(id -> CephNames.kindOf(id.subvolume()).isPresent())
                    : Optional.empty();
        }
    }

    /// Returns all entries of all groups.
    Stream<ScannedEntry> places() {
        return groups.values().stream()
                .flatMap(seen -> seen.entries().stream().map(entry -> new ScannedEntry(seen.group(), entry)));
    }

    /// Returns the entry at a path such as `/volumes/GROUP/NAME`; empty if no account's group has it.
    Optional<ScannedEntry> at(String path) {
        return places().filter(place -> place.path().equals(path)).findFirst();
    }
}
