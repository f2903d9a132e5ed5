package dev.siphon.controller.volume;

import dev.siphon.controller.volume.VolumeClass.MutableParameters;
import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.controller.volume.VolumeRequest.ClaimAccessMode;
import dev.siphon.controller.volume.Volumes.Volume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.Optional;
import java.util.OptionalLong;

/// A volume at a path that an administrator chose. Siphon neither creates nor deletes it.
final class StaticKind implements VolumeKind<VolumeId.Static> {
    private final FileTree files;

    StaticKind(FileTree files) {
        this.files = files;
    }

    @Override
    public Volume get(VolumeId.Static id) {
        return shown(files, id);
    }

    @Override
    public void delete(VolumeId.Static id, String home) {
        throw undeletable(id);
    }

    @Override
    public long expand(VolumeId.Static id, CapacityRange range) {
        if (SubvolumeGroup.holds(id.path())) {
            // its quota is an account's allowance, or counts against one
            throw new DriverException.InUse("static volume " + id
                    + " lies in an account's directory, which Siphon manages; expand the volume by its id"
                    + " from CreateVolume");
        }
        long now = quotaBytes(files, id)
                .orElseThrow(() -> new DriverException.InUse("static volume " + id
                        + " has no quota to raise; set ceph.quota.max_bytes on its directory first"));
        long wanted = range.grow(id, now);
        if (wanted > now) {
            files.setQuotaBytes(id.cluster(), id.fileSystem(), id.path(), wanted);
        }
        return wanted;
    }

    @Override
    public void modify(VolumeId.Static id, MutableParameters changes) {
        OptionalLong _ = quotaBytes(files, id);
        changes.apply(files, id.cluster(), id.fileSystem(), id.path());
    }

    @Override
    public VolumeId.Provisioned snapshottable(String field, VolumeId.Static id) {
        throw unsnapshottable(field, id);
    }

    @Override
    public void checkMode(VolumeId.Static id, ClaimAccessMode mode) {
        // every mode is possible
    }

    /// Returns a volume whose path is in its id.
    static Volume shown(FileTree files, VolumeId.WithPath id) {
        return new Volume(id, quotaBytes(files, id).orElse(0), Optional.empty(), Optional.empty());
    }

    static DriverException undeletable(VolumeId.WithPath id) {
        return new DriverException.InUse(
                "static volume " + id + " cannot be deleted; set persistentVolumeReclaimPolicy: Retain on its PV");
    }

    static DriverException unsnapshottable(String field, VolumeId.WithPath id) {
        return new DriverException.InvalidRequest(
                field + " " + id + " is a static volume, whose path the mgr cannot snapshot");
    }

    /// Returns the quota of a volume whose path is in its id; empty if it has none.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if its path does not exist
    static OptionalLong quotaBytes(FileTree files, VolumeId.WithPath id) {
        try {
            return files.quotaBytes(id.cluster(), id.fileSystem(), id.path());
        } catch (DriverException.NotFound missing) {
            throw new DriverException.NotFound("volume " + id + " does not exist");
        }
    }
}
