package dev.siphon.controller.audit;

import dev.siphon.controller.key.Identities;
import dev.siphon.controller.key.KeyStore;
import dev.siphon.controller.key.VolumeKeys;
import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.Optional;

/// Executes repairs. Each is idempotent, and a repeat finishes an interrupted one.
public final class Repairs {
    private final CephPorts ceph;
    private final VolumesDirectory volumesDirectory;
    private final Identities identities;
    private final Optional<KeyStore> keys;
    private final Optional<VolumeKeys> minting;
    private final LeftoverDeletion deletion;

    /// @param keys the store of volume keys; empty if the driver mints none
    /// @param minting mints volume keys; empty if the driver mints none
    public Repairs(
            CephPorts ceph,
            VolumesDirectory volumesDirectory,
            Identities identities,
            Optional<KeyStore> keys,
            Optional<VolumeKeys> minting,
            LeftoverDeletion deletion) {
        this.ceph = ceph;
        this.volumesDirectory = volumesDirectory;
        this.identities = identities;
        this.keys = keys;
        this.minting = minting;
        this.deletion = deletion;
    }

    /// Repairs a finding.
    ///
    /// @return false for a repair by hand, which does nothing
    /// @throws DriverException if Ceph or the controller refuses
    public boolean repair(Repair repair) {
        switch (repair) {
            case Repair.ByHand _ -> {
                return false;
            }
            case Repair.DeleteVolume it -> {
                checkUnchanged(it.volume(), it.seen());
                deletion.delete(it.volume());
            }
            case Repair.RemoveSnapshot it -> ceph.subvolumes().removeSnapshot(it.snapshot());
            case Repair.RemoveRemains it -> {
                deletion.check(it.volume());
                ceph.subvolumes().remove(it.volume());
            }
            case Repair.EndClone it -> {
                checkUnchanged(it.target(), it.seen());
                deletion.check(it.target());
                volumesDirectory.writeMeta(it.target(), it.failed());
                deletion.delete(it.target());
            }
            case Repair.WriteMeta it -> {
                checkUnchanged(it.volume(), it.seen());
                volumesDirectory.writeMeta(it.volume(), it.meta());
                if (!it.old().isEmpty()) {
                    volumesDirectory.removeFile(
                            it.volume().cluster(), it.volume().fileSystem(), it.old());
                }
            }
            case Repair.RemoveFile it -> volumesDirectory.removeFile(it.cluster(), it.fileSystem(), it.path());
            case Repair.RemoveEmptyDirectory it ->
                volumesDirectory.removeEmptyDirectory(it.cluster(), it.fileSystem(), it.path());
            case Repair.SetQuota it ->
                ceph.files()
                        .setQuotaBytes(
                                it.group().cluster(),
                                it.group().fileSystem(),
                                it.group().path(),
                                it.bytes());
            case Repair.RemoveIdentity it -> identities.remove(it.cluster(), it.userId());
            case Repair.RemoveIdentities it -> {
                it.userIds().forEach(userId -> deletion.checkUnused(it.cluster(), it.fileSystem(), userId));
                it.userIds().forEach(userId -> identities.remove(it.cluster(), userId));
            }
            case Repair.RemoveKey it -> keys.ifPresent(store -> store.remove(it.volume()));
            case Repair.MintKey it -> minting.ifPresent(each -> each.mintNow(it.volume()));
        }
        return true;
    }

    /// Rejects a repair if a controller has changed the volume since the audit.
    private void checkUnchanged(VolumeId.Provisioned volume, VolumesDirectory.EntryState seen) {
        if (!volumesDirectory
                .entry(SubvolumeGroup.of(volume), volume.subvolume())
                .equals(Optional.of(seen))) {
            throw new DriverException.InUse(
                    "volume " + volume + " has changed since the audit read it; run the audit again");
        }
    }
}
