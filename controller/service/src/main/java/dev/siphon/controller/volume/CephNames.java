package dev.siphon.controller.volume;

import dev.siphon.controller.volume.VolumeRequest.ContentSource;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Derives the names of objects in Ceph from the caller's names, so that a retry finds what an earlier try created
/// and no journal is needed. A name is a letter for its kind and 100 bits of SHA-256 in base 32.
public final class CephNames {
    private static final int BITS = 100;
    private static final int RADIX = 32;
    private static final int DIGITS = BITS / 5;
    private static final int MEMBER_DIGITS = 8;
    private static final int CLAIM_DIGITS = 12;
    private static final int OWNER_DIGITS = 9;
    private static final int TIME_DIGITS = 7;
    private static final int SECONDS_PER_MINUTE = 60;
    private static final char EXPORT = 'x';
    private static final char SEALED = 'i';
    private static final int COMMON_DIGITS = 15;

    /// Does not match an administrator's own names, such as `imagenet-2024-01-abcd`.
    private static final Pattern SEALED_SNAPSHOT = Pattern.compile(SEALED + "[0-9a-v]{" + DIGITS + "}");

    private static final int SOURCE_DIGITS = 8;

    private CephNames() {}

    /// The kind of a subvolume; its letter begins the name, so that a listing shows the kind. The order is that in
    /// which CreateVolume looks for another volume of its name.
    public enum Kind {
        /// A read-only volume that is backed by a snapshot and holds nothing. The name holds a hash of the
        /// snapshot: once a subvolume is removed, Ceph cannot record that its snapshots are still needed.
        SHALLOW('r'),
        /// An empty volume, usable as soon as the subvolume exists.
        PLAIN('v'),
        /// A volume with contents from a source, usable once its metadata says that they are complete. The name
        /// holds a hash of the source, because no metadata can be written during a clone. A retry thus never
        /// completes it from another source.
        FILLED('c'),
        /// An alias: a volume that leads to its account's home and holds nothing. Each claim gets its own alias with
        /// its own key. Aliases come and go while the home stays.
        ALIAS('d'),
        /// The home of an account, one per account; no claim's volume is a home itself.
        HOME('h');

        private final char letter;

        Kind(char letter) {
            this.letter = letter;
        }

        private boolean holdsNothing() {
            return switch (this) {
                case SHALLOW, ALIAS -> true;
                case PLAIN, FILLED, HOME -> false;
            };
        }

        private int length() {
            return switch (this) {
                case PLAIN, HOME, ALIAS -> 1 + DIGITS;
                case FILLED, SHALLOW -> 1 + COMMON_DIGITS + SOURCE_DIGITS;
            };
        }
    }

    /// Returns the subvolume of an empty volume called `name`. The digest includes the group, because Ceph 18 names
    /// a subvolume's RADOS namespace after the subvolume alone. Two accounts must never share one.
    static String plain(SubvolumeGroup group, String name) {
        return Kind.PLAIN.letter + volume(group, name);
    }

    /// Returns the subvolume that is the home of the group's account.
    static String homeName(SubvolumeGroup group) {
        return Kind.HOME.letter + digest("home\0" + group.name());
    }

    /// Returns the subvolume of an alias called `name` of the home of the group's account.
    static String alias(SubvolumeGroup group, String name) {
        return Kind.ALIAS.letter + volume(group, name);
    }

    /// Returns the prefix of the names of all aliases.
    static String aliasPrefix() {
        return String.valueOf(Kind.ALIAS.letter);
    }

    /// Returns the subvolume of a volume called `name` with the contents of `source`.
    static String filled(SubvolumeGroup group, String name, ContentSource source) {
        return filledPrefix(group, name) + filledSuffix(source);
    }

    /// Returns the suffix of the names of volumes with the contents of `source`.
    public static String filledSuffix(ContentSource source) {
        return digest("source\0" + source.id()).substring(0, SOURCE_DIGITS);
    }

    /// Returns the prefix of the names of volumes called `name` with contents from any source.
    static String filledPrefix(SubvolumeGroup group, String name) {
        return Kind.FILLED.letter + volume(group, name).substring(0, COMMON_DIGITS);
    }

    /// Returns the subvolume of a volume called `name` that is backed by `snapshot`.
    static String shallow(SubvolumeGroup group, String name, SnapshotId snapshot) {
        return shallowPrefix(group, name) + shallowSuffix(snapshot);
    }

    /// Returns the prefix of the names of all snapshot-backed volumes.
    static String shallowPrefix() {
        return String.valueOf(Kind.SHALLOW.letter);
    }

    /// Returns the prefix of the names of volumes called `name` that are backed by any snapshot.
    static String shallowPrefix(SubvolumeGroup group, String name) {
        return shallowPrefix() + volume(group, name).substring(0, COMMON_DIGITS);
    }

    /// Returns the suffix of the names of volumes that are backed by `snapshot`.
    public static String shallowSuffix(SnapshotId snapshot) {
        return digest("backing\0" + snapshot).substring(0, SOURCE_DIGITS);
    }

    /// Returns the part of a subvolume's name that all kinds share for one volume name.
    static String common(String subvolume) {
        return subvolume.substring(1, Math.min(subvolume.length(), 1 + COMMON_DIGITS));
    }

    /// Returns the kind of a subvolume; empty if Siphon did not create it.
    public static Optional<Kind> kindOf(String subvolume) {
        return Arrays.stream(Kind.values())
                .filter(kind -> subvolume.charAt(0) == kind.letter && subvolume.length() == kind.length())
                .findFirst();
    }

    /// Returns whether a subvolume holds nothing of its own, and so counts against no allowance.
    static boolean countsNothing(String subvolume) {
        return kindOf(subvolume).filter(Kind::holdsNothing).isPresent();
    }

    /// Returns the name in Ceph of any volume's snapshot called `name`.
    static String snapshot(String name) {
        return 's' + digest("snapshot\0" + name);
    }

    /// Returns the name in Ceph of a snapshot called `name` that is to become a sealed dataset. Other `modes` make
    /// another snapshot.
    static String sealedSnapshot(String name, SnapshotClass.Modes modes) {
        return SEALED + digest("sealed snapshot\0" + modes + "\0" + name);
    }

    /// Returns whether a snapshot is a sealed dataset, or is to become one.
    static boolean isSealedSnapshot(String snapshot) {
        return SEALED_SNAPSHOT.matcher(snapshot).matches();
    }

    /// Returns a short name for the dataset that a snapshot becomes. It is part of ids, whose length is limited.
    static String sealed(SnapshotId snapshot) {
        return SEALED + digest("sealed\0" + snapshot).substring(0, COMMON_DIGITS);
    }

    /// Returns the name of the snapshots of the group snapshot called `name`, the same in each of its volumes. The
    /// second part is a digest of the volumes. An incomplete list is thus detected, and another list makes another
    /// group.
    static String groupSnapshot(String name, List<VolumeId.Provisioned> members) {
        String list = members(members);
        return 'g' + digest("group\0" + name + "\0" + list).substring(0, DIGITS - MEMBER_DIGITS) + list;
    }

    /// Returns whether the volumes of `groupSnapshot` are `members`, in any order.
    public static boolean isOf(String groupSnapshot, List<VolumeId.Provisioned> members) {
        return groupSnapshot.endsWith(members(members));
    }

    private static String members(List<VolumeId.Provisioned> members) {
        return digest(members.stream()
                        .map(member -> member.toString())
                        .sorted()
                        .collect(Collectors.joining("\0", "members\0", "")))
                .substring(0, MEMBER_DIGITS);
    }

    /// Returns whether a snapshot belongs to a group snapshot.
    public static boolean isGroupSnapshot(String snapshot) {
        return snapshot.charAt(0) == 'g' && snapshot.length() == DIGITS + 1;
    }

    /// Returns the name of the transfer snapshot: Siphon keeps it on a source volume while it fills `target` from
    /// it.
    public static String transferSnapshot(String target) {
        return 't' + digest("transfer\0" + target);
    }

    /// Returns the name of the snapshot that Siphon takes of a volume for one export.
    ///
    /// @param begun the start of the export; the name holds it to the minute
    /// @param run distinguishes this export from others
    public static String exportSnapshot(Instant begun, String run) {
        String minutes = Long.toString(begun.getEpochSecond() / SECONDS_PER_MINUTE, RADIX);
        return EXPORT
                + "0".repeat(TIME_DIGITS - minutes.length())
                + minutes
                + digest("export\0" + run).substring(0, DIGITS - TIME_DIGITS);
    }

    /// Returns the start of the export that took a snapshot, to the minute; empty for other snapshots.
    public static Optional<Instant> exportBegun(String snapshot) {
        if (!isTransferSnapshot(snapshot) || snapshot.charAt(0) != EXPORT) {
            return Optional.empty();
        }
        try {
            long minutes = Long.parseLong(snapshot.substring(1, 1 + TIME_DIGITS), RADIX);
            return Optional.of(Instant.ofEpochSecond(minutes * SECONDS_PER_MINUTE));
        } catch (NumberFormatException notOurs) {
            return Optional.empty();
        }
    }

    /// Returns whether a snapshot exists only while a volume is filled from it, or exported.
    public static boolean isTransferSnapshot(String snapshot) {
        return (snapshot.charAt(0) == 't' || snapshot.charAt(0) == EXPORT) && snapshot.length() == DIGITS + 1;
    }

    /// Returns whether callers may know of a snapshot; those that exist only to fill or export a volume are
    /// internal.
    public static boolean isForCallers(SnapshotId snapshot) {
        return !isTransferSnapshot(snapshot.name());
    }

    /// Returns the subvolumegroup of the account with this immutable id.
    public static String group(String accountId) {
        return 'a' + digest("account\0" + accountId);
    }

    /// Returns whether a subvolumegroup is Siphon's.
    public static boolean isGroup(String group) {
        return group.charAt(0) == 'a' && group.length() == DIGITS + 1;
    }

    /// Returns a short name for a node, for metadata keys.
    public static String node(String nodeId) {
        return digest("node\0" + nodeId);
    }

    /// Returns a short name for a dataset's identity; it differs for each place and each image.
    public static String dataset(VolumeId.DatasetVolume dataset) {
        return digest("dataset\0" + dataset.withoutClaim());
    }

    /// Returns what distinguishes the volume called `name` from others that show the same dataset.
    public static String datasetClaim(VolumeId.DatasetVolume dataset, String name) {
        return digest("claim\0" + dataset.withoutClaim() + "\0" + name).substring(0, CLAIM_DIGITS);
    }

    /// Returns what distinguishes the identities of one Kubernetes cluster from those of others.
    ///
    /// @param uid the uid of its namespace `kube-system`, which stands for the cluster
    public static String owner(String uid) {
        return "k" + digest("kubernetes\0" + uid).substring(0, OWNER_DIGITS);
    }

    private static String volume(SubvolumeGroup group, String name) {
        return digest("volume\0" + group.name() + "\0" + name);
    }

    private static String digest(String text) {
        try {
            byte[] sha256 = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            String digits = new BigInteger(1, sha256)
                    .shiftRight(sha256.length * Byte.SIZE - BITS)
                    .toString(RADIX)
                    .toLowerCase(Locale.ROOT);
            return "0".repeat(DIGITS - digits.length()) + digits;
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("every Java platform has SHA-256", missing);
        }
    }
}
