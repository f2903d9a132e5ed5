package dev.siphon.node.replica;

import dev.siphon.node.linux.BlockDevices.DeviceReads;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/// Counts what is read from the devices of attached datasets, by where the devices read it from. What the page cache
/// serves reaches no device. A device counts for its previous source until [#follow] names another. Reads before the
/// first [#follow] of a tree do not count, so after a restart of the driver the counts begin at zero.
final class DatasetReads {
    private final Function<String, DeviceReads> devices;
    private final Map<ImageMountKey, Followed> followed = new HashMap<>();
    private DeviceReads local = DeviceReads.NONE;
    private DeviceReads remote = DeviceReads.NONE;

    /// @param device `major:minor`
    /// @param counted the part of the device's reads that has been counted
    private record Followed(String device, ReadLocation place, DeviceReads counted) {}

    /// @param devices returns a device's reads; does not block
    DatasetReads(Function<String, DeviceReads> devices) {
        this.devices = devices;
    }

    /// Counts a tree's reads up to now, and its later ones as reads from `place`. Repeating it changes nothing.
    synchronized void follow(ImageMountKey key, String device, ReadLocation place) {
        count(key);
        // another tree's device that was freed without a detach, and got this one's number
        followed.values().removeIf(other -> other.device().equals(device));
        followed.put(key, new Followed(device, place, devices.apply(device)));
    }

    /// Counts a tree's reads up to now, and no later ones.
    synchronized void unfollow(ImageMountKey key) {
        count(key);
        followed.remove(key);
    }

    private void count(ImageMountKey key) {
        Optional.ofNullable(followed.get(key)).ifPresent(known -> {
            DeviceReads now = devices.apply(known.device());
            DeviceReads more = now.since(known.counted());
            switch (known.place()) {
                case ReadLocation.Local _ -> local = local.plus(more);
                case ReadLocation.Remote _ -> remote = remote.plus(more);
            }
            followed.put(key, new Followed(known.device(), known.place(), now));
        });
    }

    /// What was read until now.
    ///
    /// @param local from replicas
    /// @param remote from images on CephFS
    record Totals(DeviceReads local, DeviceReads remote) {}

    synchronized Totals totals() {
        followed.keySet().stream().toList().forEach(this::count);
        return new Totals(local, remote);
    }
}
