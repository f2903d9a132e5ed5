package dev.siphon.controller.volume;

import dev.siphon.csi.VolumeId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;

/// Which subvolumes there are, as the one leader knows them, so that CreateVolume need not look first: what
/// is not in here cannot exist. A group's names are listed once, when the group is first used; from then on
/// every change passes through here, and is written down before it is tried.
final class SubvolumeInventory {
    private final Subvolumes subvolumes;
    private final Map<SubvolumeGroup, KnownNames> groups = new ConcurrentHashMap<>();

    SubvolumeInventory(Subvolumes subvolumes) {
        this.subvolumes = subvolumes;
    }

    /// What is known of one subvolume.
    sealed interface KnownSubvolume {
        /// It may exist: listed and not looked at, or made by a call whose outcome is not known.
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

    /// Whether the subvolume may exist; if not, it is safe to create it.
    boolean mayExist(VolumeId.Provisioned volume) {
        return listed(SubvolumeGroup.of(volume)).names.containsKey(volume.subvolume());
    }

    /// Whether the group exists.
    boolean exists(SubvolumeGroup group) {
        return listed(group).exists;
    }

    /// Writes down that a group was made, or has turned out to be gone.
    void exists(SubvolumeGroup group, boolean exists) {
        names(group).exists = exists;
    }

    /// Writes down what is known of a subvolume; [KnownSubvolume.Unsure] before a call that may make it.
    void note(VolumeId.Provisioned volume, KnownSubvolume known) {
        names(SubvolumeGroup.of(volume)).names.put(volume.subvolume(), known);
    }

    /// Writes down what a look has shown, unless somebody else has written since.
    void learn(VolumeId.Provisioned volume, KnownSubvolume before, Optional<KnownSubvolume> now) {
        ConcurrentSkipListMap<String, KnownSubvolume> names = names(SubvolumeGroup.of(volume)).names;
        if (now.isPresent()) {
            names.replace(volume.subvolume(), before, now.get());
        } else {
            names.remove(volume.subvolume(), before);
        }
    }

    /// Writes down that a volume is being removed, so that it may exist or not. Of a group that was never used
    /// nothing is known, and nothing has to be written down.
    void leaving(VolumeId.Provisioned volume) {
        Optional.ofNullable(groups.get(SubvolumeGroup.of(volume)))
                .ifPresent(group -> group.names.put(volume.subvolume(), new KnownSubvolume.Unsure()));
    }

    /// Writes down that there is no such volume any more.
    void gone(VolumeId.Provisioned volume) {
        Optional.ofNullable(groups.get(SubvolumeGroup.of(volume)))
                .ifPresent(group -> group.names.remove(volume.subvolume()));
    }

    /// The names in a group behind `after`, in order, with what is known of each.
    Map<String, KnownSubvolume> namesAfter(SubvolumeGroup group, String after) {
        return listed(group).names.tailMap(after, false);
    }

    /// The volumes of a group whose names begin and end so.
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

    /// Two callers at once may both list: a name that one adds late is only UNSURE, which costs a look.
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
