package dev.siphon.controller.volume;

import dev.siphon.controller.volume.Owners.OwnerRule;
import dev.siphon.csi.ContainerUser;
import dev.siphon.csi.VolumeContext.MounterChoice;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/// The parameters of a StorageClass, checked. [ClassParameters] reads them.
///
/// @param cluster empty for the default cluster
/// @param fileSystem empty for the cluster's only file system
/// @param dataPool empty for the file system's first data pool
/// @param owner decides who owns the volumes
/// @param uid replaces the account's
/// @param gid replaces the account's
/// @param mode permission bits of the data directory
/// @param changeable what a VolumeAttributesClass may change later
/// @param mounter which client mounts
/// @param mountOptions checked against the allow list
/// @param snapshotBacked whether a read-only volume from a snapshot is the snapshot itself; if empty, access
///     modes decide
/// @param copyAcrossAccounts whether a volume may be filled from another account's data
/// @param home whether its volumes are aliases of the owner's home
/// @param allowanceBytes the allowance of accounts to which the directory gives none; empty for any amount
/// @param overcommit whether bytes written count against the allowance, not the sizes of volumes
/// @param claim the claim that a volume is for; empty for the class alone, or if the provisioner does not send
///     it
/// @param dataset the dataset that its volumes show; empty for volumes with contents of their own
/// @param containerUser the container's user that is mapped to the owner; empty for no mapping
public record VolumeClass(
        Optional<String> cluster,
        Optional<String> fileSystem,
        Optional<String> dataPool,
        Optional<OwnerRule> owner,
        OptionalInt uid,
        OptionalInt gid,
        OptionalInt mode,
        MutableParameters changeable,
        MounterChoice mounter,
        List<String> mountOptions,
        Optional<Boolean> snapshotBacked,
        boolean copyAcrossAccounts,
        boolean home,
        OptionalLong allowanceBytes,
        boolean overcommit,
        Optional<ClaimRef> claim,
        Optional<String> dataset,
        Optional<ContainerUser> containerUser) {
    public VolumeClass {
        mountOptions = List.copyOf(mountOptions);
    }

    /// Returns this class with the changes of `over`.
    public VolumeClass with(MutableParameters over) {
        return new VolumeClass(
                cluster,
                fileSystem,
                dataPool,
                owner,
                uid,
                gid,
                mode,
                changeable.with(over),
                mounter,
                mountOptions,
                snapshotBacked,
                copyAcrossAccounts,
                home,
                allowanceBytes,
                overcommit,
                claim,
                dataset,
                containerUser);
    }

    /// The mutable parameters of CSI: what can be changed about an existing volume.
    ///
    /// @param quotaFiles the limit of files and directories; 0 removes it
    /// @param mode permission bits of its data directory
    public record MutableParameters(OptionalLong quotaFiles, OptionalInt mode) {
        /// Changes nothing.
        public static final MutableParameters NOTHING =
                new MutableParameters(OptionalLong.empty(), OptionalInt.empty());

        /// Returns whether there is nothing to change.
        public boolean isNothing() {
            return quotaFiles.isEmpty() && mode.isEmpty();
        }

        /// Returns these changes; those of `over` take precedence.
        public MutableParameters with(MutableParameters over) {
            return new MutableParameters(
                    over.quotaFiles.isPresent() ? over.quotaFiles : quotaFiles,
                    over.mode.isPresent() ? over.mode : mode);
        }

        /// Applies these changes to a directory; makes no call if there are none.
        void apply(FileTree files, String cluster, String fileSystem, String path) {
            quotaFiles.ifPresent(limit -> files.setQuotaFiles(cluster, fileSystem, path, limit));
            mode.ifPresent(bits -> files.setMode(cluster, fileSystem, path, bits));
        }
    }
}
