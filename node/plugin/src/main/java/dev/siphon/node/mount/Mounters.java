package dev.siphon.node.mount;

import dev.siphon.csi.VolumeContext.MounterChoice;
import dev.siphon.csi.VolumeId;
import dev.siphon.node.linux.MountEntry;
import java.util.List;
import java.util.Optional;

/// The mounters of this node.
///
/// @param all every kind of mount that the driver recognizes
/// @param selection chooses the client for new mounts
public record Mounters(List<MountKind> all, Selection selection) {
    public Mounters {
        all = List.copyOf(all);
    }

    /// Chooses the client for a mount.
    @FunctionalInterface
    public interface Selection {
        /// Returns the mounter that a class asks for, or for `auto` the best one on this node.
        ///
        /// @param key a key that the client must support
        /// @throws dev.siphon.csi.DriverException.InUse (FAILED_PRECONDITION) with the reason, if this node
        ///     has no such mounter
        Mounter choose(MounterChoice choice, CephKey key);
    }

    /// A mount of this driver.
    public record Recognized(MountEntry entry, MountKind kind, MountedVolume volume) {
        public boolean is(VolumeId id) {
            return volume.is(id);
        }
    }

    /// Returns the same clients, connecting to the current monitors.
    public Mounters following(CurrentMonitors monitors) {
        return new Mounters(all, (choice, key) -> new CurrentMonitorsMounter(selection.choose(choice, key), monitors));
    }

    /// Returns what `entry` shows, or empty if it is not a mount of this driver.
    public Optional<Recognized> recognize(MountEntry entry) {
        return all.stream()
                .flatMap(kind -> kind.recognize(entry).map(volume -> new Recognized(entry, kind, volume)).stream())
                .findFirst();
    }
}
