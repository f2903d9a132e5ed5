package dev.siphon.controller.volume;

import dev.siphon.csi.VolumeId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;

/// Caches which subvolumes exist, so that CreateVolume need not look first: what is not in here cannot exist. A
/// group's names are listed once, at its first use. After that, the one leader records every change here before
/// trying it.
final class SubvolumeInventory {
    private final Subvolumes subvolumes;
    private final Map<SubvolumeGroup, KnownNames> groups = new ConcurrentHashMap<>();

    SubvolumeInventory(Subvolumes subvolumes) {
        this.subvolumes = subvolumes;
    }

    /// The known state of one subvolume.
    sealed interface KnownSubvolume {
        /// It may exist: listed but not inspected, or created by a call with an unknown outcome.
        record Unsure() implements KnownSubvolume {}

        /// It exists as a volume.
        record Live(OptionalLong quotaBytes) implements KnownSubvolume {}

        /// Only snapshots of it are left.
        record Retained() implements KnownSubvolume {}
    }

    /// The names of one group.
    private static final class KnownNames {
        private final ConcurrentSkipListMap<String, KnownSubvolume> names = new ConcurrentSkipListMap<>();
        private volatile boolean listed;
        private volatile boolean exists;
    }

    /// Returns whether the subvolume may exist; if not, it is safe to create it.
    boolean mayExist(VolumeId.Provisioned volume) {
        return listed(SubvolumeGroup.of(volume)).names.containsKey(volume.subvolume());
    }

    /// Returns whether the group exists.
    boolean exists(SubvolumeGroup group) {
        return listed(group).exists;
    }

    /// Records that a group was created, or has turned out to be gone.
    void exists(SubvolumeGroup group, boolean exists) {
        names(group).exists = exists;
    }

    /// Records the state of a subvolume; [KnownSubvolume.Unsure] before a call that may create it.
    void note(VolumeId.Provisioned volume, KnownSubvolume known) {
        names(SubvolumeGroup.of(volume)).names.put(volume.subvolume(), known);
    }

    /// Records what an inspection has shown, unless the state was changed meanwhile.
    void learn(VolumeId.Provisioned volume, KnownSubvolume before, Optional<KnownSubvolume> now) {
        ConcurrentSkipListMap<String, KnownSubvolume> names = names(SubvolumeGroup.of(volume)).names;
        if (now.isPresent()) {
            names.replace(volume.subvolume(), before, now.get());
        } else {
            names.remove(volume.subvolume(), before);
        }
    }

    /// Records that a volume is being removed, so that it may or may not exist. Does nothing for a group that was
    /// never used: nothing is known of it.
    void leaving(VolumeId.Provisioned volume) {
        Optional.ofNullable(groups.get(SubvolumeGroup.of(volume)))
                .ifPresent(group -> group.names.put(volume.subvolume(), new KnownSubvolume.Unsure()));
    }

    /// Records that a volume no longer exists.
    void gone(VolumeId.Provisioned volume) {
        Optional.ofNullable(groups.get(SubvolumeGroup.of(volume)))
                .ifPresent(group -> group.names.remove(volume.subvolume()));
    }

    /// Returns the names in a group that follow `after`, in order, with their states.
    Map<String, KnownSubvolume> namesAfter(SubvolumeGroup group, String after) {
        return listed(group).names.tailMap(after, false);
    }

    /// Returns the volumes of a group whose names have this prefix and suffix.
    List<VolumeId.Provisioned> matching(SubvolumeGroup group, String prefix, String suffix) {
        return listed(group).names.tailMap(prefix, true).keySet().stream()
                .takeWhile(name -> name.startsWith(prefix))
                .filter(name -> name.endsWith(suffix))
                .map(group::volume)
                .toList();
    }

    private KnownNames names(SubvolumeGroup group) {
        return groups.computeIfAbsent(group, _ -> new KnownNames());
    }

    /// Two callers may list at once: a name that one adds late is only Unsure, which costs an inspection.
    private KnownNames listed(SubvolumeGroup group) {
        KnownNames names = names(group);
        if (!names.listed) {
            List<String> found = subvolumes
                    .list(group)
                    .map(list -> {
                        names.exists = true;
                        return list;
                    })
                    .orElse(List.of());
            found.forEach(name -> names.names.putIfAbsent(name, new KnownSubvolume.Unsure()));
            names.listed = true;
        }
        return names;
    }
}
