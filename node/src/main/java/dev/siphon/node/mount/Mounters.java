package dev.siphon.node.mount;

import dev.siphon.csi.VolumeContext.MounterChoice;
import dev.siphon.csi.VolumeId;
import dev.siphon.node.linux.MountEntry;
import java.util.List;
import java.util.Optional;

/// What mounts on this node.
///
/// @param all to recognize mounts by, whichever is chosen for new ones
/// @param selection chooses for new ones
public record Mounters(List<MountKind> all, Selection selection) {
    public Mounters {
        all = List.copyOf(all);
    }

    /// Decides which client mounts.
    @FunctionalInterface
    public interface Selection {
        /// The mounter for what a class asks for, or for `auto` the best that this node has.
        ///
        /// @param key the key that the client must be able to use
        /// @throws dev.siphon.csi.DriverException.InUse (FAILED_PRECONDITION) with the reason, if this node
        ///     has none
        Mounter choose(MounterChoice choice, CephKey key);
    }

    /// A mount of this driver.
    public record Recognized(MountEntry entry, MountKind kind, MountedVolume volume) {
        public boolean is(VolumeId id) {
            return volume.is(id);
        }
    }

    /// The same clients, connecting to the monitors that there are now.
    public Mounters following(CurrentMonitors monitors) {
        return new Mounters(all, (choice, key) -> new CurrentMonitorsMounter(selection.choose(choice, key), monitors));
    }

    /// What `entry` is, if it is a mount of this driver.
    public Optional<Recognized> recognize(MountEntry entry) {
        return all.stream()
                .flatMap(kind -> kind.recognize(entry).map(volume -> new Recognized(entry, kind, volume)).stream())
                .findFirst();
    }
}
