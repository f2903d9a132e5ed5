package dev.siphon.controller.audit;

/// A defect or a remark of the audit.
///
/// @param object the object concerned, as an administrator can find it
/// @param why the explanation for people
public record Finding(Kind kind, String object, String why, Repair repair) {
    /// The kind of finding. Scripts see its name in lower case with hyphens.
    public enum Kind {
        /// An entry in an account's group whose name no volume can have.
        UNKNOWN_ENTRY,
        /// A volume's name, but not a directory.
        NOT_A_DIRECTORY,
        /// No `.meta` and no files: the mgr died while creating it, and nobody retried.
        HALF_MADE,
        /// Files, but no readable `.meta`.
        META_LOST,
        /// A `.meta` that leads out of the volume, or that the mgr never writes.
        META_FORGED,
        /// The mgr treats it as a legacy subvolume and ignores its `.meta`.
        TAKEN_FOR_OLD,
        /// The data directory is missing, or not a directory.
        DATA_MISSING,
        /// More than one data directory.
        DATA_SEVERAL,
        /// Files beside the data directory.
        STRAY_FILES,
        /// Removed with snapshots retained, but its data is still there.
        REMOVAL_UNFINISHED,
        /// Removed with snapshots retained, but no snapshot is left.
        REMAINS,
        /// Its objects are in the common RADOS namespace.
        NOT_ISOLATED,
        /// A clone that failed or was cancelled.
        CLONE_ENDED,
        /// An unfinished clone that the mgr no longer knows.
        CLONE_STUCK,
        /// A pending clone whose target is gone.
        CLONE_WITHOUT_TARGET,
        /// A snapshot is held for a clone that the mgr does not know.
        SNAPSHOT_HELD,
        /// A volume that never became whole: filled from elsewhere, or empty and never returned to a caller.
        HALF_FILLED,
        /// A volume with files whose owner has removed all permissions.
        CLOSED(false),
        /// A leftover snapshot of a finished copy or export.
        TRANSFER_LEFT,
        /// A volume that shows a deleted snapshot.
        SNAPSHOT_GONE,
        /// A volume that shows a deleted home.
        HOME_GONE,
        /// A group of snapshots with missing members.
        GROUP_SNAPSHOT_INCOMPLETE,
        /// Removed long ago, but not purged.
        TRASH_LEFT,
        /// The mgr's list of authorized identities for a deleted volume.
        AUTH_FILE_LEFT,
        /// A cephx identity of a deleted volume.
        IDENTITY_WITHOUT_VOLUME,
        /// A volume's replaced identity, which may still be in use.
        IDENTITY_REPLACED(false),
        /// A volume's next identity that nodes do not use yet: a rotation was interrupted.
        IDENTITY_NOT_KEPT,
        /// Identities with which nodes of another, possibly lost Kubernetes cluster read datasets.
        OTHER_KUBERNETES(false),
        /// A volume that nobody can mount.
        VOLUME_WITHOUT_KEY,
        /// A key of a deleted volume.
        KEY_WITHOUT_VOLUME,
        /// A whole volume that Kubernetes does not know.
        VOLUME_WITHOUT_PV(false),
        /// A whole volume without files that Kubernetes has not known for long.
        ORPHAN,
        /// The group's quota differs from the account's allowance.
        QUOTA_DRIFT,
        /// The owner is not the account's uid or gid; a class may set that.
        OWNER_DIFFERS(false),
        /// The directory no longer has the account.
        ACCOUNT_GONE(false),
        /// Two accounts had this uid.
        UID_REUSED(false),
        /// An administrator froze the account.
        FROZEN(false);

        private final boolean defect;

        Kind() {
            this(true);
        }

        Kind(boolean defect) {
            this.defect = defect;
        }

        /// Returns whether something is wrong; false for a mere remark.
        public boolean isDefect() {
            return defect;
        }

        @Override
        public String toString() {
            return name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
        }
    }

    /// Returns whether both concern the same defect, whatever their details.
    boolean isAbout(Finding other) {
        return kind == other.kind && object.equals(other.object);
    }
}
