package dev.siphon.controller.audit;

/// Something that is not as it should be.
///
/// @param object what it concerns, as an administrator can find it
/// @param why for people
public record Finding(Kind kind, String object, String why, Repair repair) {
    /// What is wrong; the name in lower case with hyphens is what scripts see.
    public enum Kind {
        /// In an account's group, under a name that no volume has.
        UNKNOWN_ENTRY,
        /// A volume's name, but no directory.
        NOT_A_DIRECTORY,
        /// No `.meta`, and no files: the mgr died while it made the volume, and nobody asked again.
        HALF_MADE,
        /// No `.meta`, or one that cannot be read, and files.
        META_LOST,
        /// `.meta` leads out of the volume, or says what the mgr never writes.
        META_FORGED,
        /// The mgr takes it for a subvolume of old, and misses what a volume has.
        TAKEN_FOR_OLD,
        /// A data directory that is none, or is not there.
        DATA_MISSING,
        /// More than one data directory.
        DATA_SEVERAL,
        /// Files beside the data directory.
        STRAY_FILES,
        /// Removed, its snapshots kept, but its data is still there.
        REMOVAL_UNFINISHED,
        /// Removed, and not even a snapshot is left.
        REMAINS,
        /// Its objects lie in the RADOS namespace of everybody.
        NOT_ISOLATED,
        /// A clone that failed or was cancelled.
        CLONE_ENDED,
        /// A clone that has not ended, and that the mgr does not know any more.
        CLONE_STUCK,
        /// The mgr is to make a clone, and its target is gone.
        CLONE_WITHOUT_TARGET,
        /// A snapshot is kept for a clone that the mgr does not know.
        SNAPSHOT_HELD,
        /// A volume that never became whole: one from elsewhere, or an empty one that nobody was told of.
        HALF_FILLED,
        /// A volume with files that its owner has shut to everybody.
        CLOSED(false),
        /// A snapshot for a copy that is over.
        TRANSFER_LEFT,
        /// A volume that stands for a snapshot which is gone.
        SNAPSHOT_GONE,
        /// A volume that stands for a home which is gone.
        HOME_GONE,
        /// Of a group of snapshots some are missing.
        GROUP_SNAPSHOT_INCOMPLETE,
        /// Removed long ago and not purged.
        TRASH_LEFT,
        /// The mgr's list of who was authorized for a volume that is gone.
        AUTH_FILE_LEFT,
        /// A cephx identity of a volume that is gone.
        IDENTITY_WITHOUT_VOLUME,
        /// An identity of a volume that was replaced, and may be in use still.
        IDENTITY_REPLACED(false),
        /// An identity of a volume that was to replace the one whose key nodes get: a rotation was cut off.
        IDENTITY_NOT_KEPT,
        /// Identities by which nodes of another Kubernetes read datasets, which may be lost.
        OTHER_KUBERNETES(false),
        /// A volume that nobody can mount.
        VOLUME_WITHOUT_KEY,
        /// A key of a volume that is gone.
        KEY_WITHOUT_VOLUME,
        /// A whole volume of which Kubernetes knows nothing.
        VOLUME_WITHOUT_PV(false),
        /// A whole volume without files of which Kubernetes has known nothing for long.
        ORPHAN,
        /// The group's quota is not the account's allowance.
        QUOTA_DRIFT,
        /// Not the account's uid or gid; a class may say so.
        OWNER_DIFFERS(false),
        /// The directory has no such account any more.
        ACCOUNT_GONE(false),
        /// Two accounts had this uid.
        UID_REUSED(false),
        /// An administrator has frozen the account.
        FROZEN(false);

        private final boolean defect;

        Kind() {
            this(true);
        }

        Kind(boolean defect) {
            this.defect = defect;
        }

        /// Whether something is wrong; else it is worth knowing, and nothing has to be done.
        public boolean isDefect() {
            return defect;
        }

        @Override
        public String toString() {
            return name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
        }
    }

    /// Whether both are about the same, though one may know more of it.
    boolean isAbout(Finding other) {
        return kind == other.kind && object.equals(other.object);
    }
}
