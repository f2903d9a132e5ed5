package dev.siphon.controller.volume;

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

/// The names of things in Ceph, each a function of what the caller named, so that a retry finds what an
/// earlier try made and no journal is needed. A name is a letter for its kind and 100 bits of SHA-256 in
/// base 32.
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

    /// An administrator's own `imagenet-2024-01-abcd` is none.
    private static final Pattern SEALED_SNAPSHOT = Pattern.compile(SEALED + "[0-9a-v]{" + DIGITS + "}");

    private static final int SOURCE_DIGITS = 8;

    private CephNames() {}

    /// What a subvolume is to Siphon; the letter begins its name, so that a listing tells kinds apart.
    public enum Kind {
        /// An empty volume; usable as soon as the subvolume exists.
        PLAIN('v'),
        /// A volume with contents from elsewhere; usable once its note says that they are whole. Its name says
        /// from where: a subvolume cannot be noted on while it is cloned into, and what was begun
        /// from one source must not be finished as another's.
        FILLED('c'),
        /// A read-only volume that stands for a snapshot and holds nothing. Its name says which: Ceph
        /// cannot note on the snapshots of a removed subvolume that they are needed.
        SHALLOW('r'),
        /// The home of an account, of which there is one; no PVC's volume itself.
        HOME('h'),
        /// A volume that stands for the home of its account and holds nothing: what a PVC gets, so that several
        /// have volumes of their own, with keys of their own, which come and go while the home stays.
        DOOR('d');

        private final char letter;

        Kind(char letter) {
            this.letter = letter;
        }

        private int length() {
            return switch (this) {
                case PLAIN, HOME, DOOR -> 1 + DIGITS;
                case FILLED, SHALLOW -> 1 + COMMON_DIGITS + SOURCE_DIGITS;
            };
        }
    }

    /// The subvolume for an empty volume called `name`. The group is in the digest because Ceph 18 names a
    /// subvolume's RADOS namespace after the subvolume alone: two accounts must never share one.
    static String plain(SubvolumeGroup group, String name) {
        return Kind.PLAIN.letter + volume(group, name);
    }

    /// The subvolume that is the home of the group's account.
    static String homeName(SubvolumeGroup group) {
        return Kind.HOME.letter + digest("home\0" + group.name());
    }

    /// The subvolume for a volume called `name` that stands for the home of the group's account.
    static String door(SubvolumeGroup group, String name) {
        return Kind.DOOR.letter + volume(group, name);
    }

    /// What the names of all volumes that stand for a home begin with.
    static String doorPrefix() {
        return String.valueOf(Kind.DOOR.letter);
    }

    /// The subvolume for a volume called `name` with the contents of `source`.
    static String filled(SubvolumeGroup group, String name, ContentSource source) {
        return filledPrefix(group, name) + filledSuffix(source);
    }

    /// What the names of volumes with the contents of `source` end with.
    public static String filledSuffix(ContentSource source) {
        return digest("source\0" + source.id()).substring(0, SOURCE_DIGITS);
    }

    /// What the names of volumes called `name` begin with that have contents from wherever.
    static String filledPrefix(SubvolumeGroup group, String name) {
        return Kind.FILLED.letter + volume(group, name).substring(0, COMMON_DIGITS);
    }

    /// The subvolume for a volume called `name` that stands for `snapshot`.
    static String shallow(SubvolumeGroup group, String name, SnapshotId snapshot) {
        return shallowPrefix(group, name) + shallowSuffix(snapshot);
    }

    /// What the names of all volumes that stand for a snapshot begin with.
    static String shallowPrefix() {
        return String.valueOf(Kind.SHALLOW.letter);
    }

    /// What the names of volumes called `name` begin with that stand for whatever snapshot.
    static String shallowPrefix(SubvolumeGroup group, String name) {
        return shallowPrefix() + volume(group, name).substring(0, COMMON_DIGITS);
    }

    /// What the names of volumes that stand for `snapshot` end with.
    public static String shallowSuffix(SnapshotId snapshot) {
        return digest("backing\0" + snapshot).substring(0, SOURCE_DIGITS);
    }

    /// What the names of all kinds for one volume's name have in common.
    static String common(String subvolume) {
        return subvolume.substring(1, Math.min(subvolume.length(), 1 + COMMON_DIGITS));
    }

    /// What the subvolume is; empty if Siphon did not make it.
    public static Optional<Kind> kindOf(String subvolume) {
        return Arrays.stream(Kind.values())
                .filter(kind -> subvolume.charAt(0) == kind.letter && subvolume.length() == kind.length())
                .findFirst();
    }

    /// Whether a subvolume holds nothing of its own, so that it counts against no allowance.
    static boolean countsNothing(String subvolume) {
        return kindOf(subvolume)
                .filter(kind -> kind == Kind.SHALLOW || kind == Kind.DOOR)
                .isPresent();
    }

    /// The snapshot called `name` of any volume.
    static String snapshot(String name) {
        return 's' + digest("snapshot\0" + name);
    }

    /// The snapshot called `name` of any volume that is to become a sealed dataset: what is kept of modes makes it
    /// another one.
    static String sealedSnapshot(String name, SnapshotClass.Modes modes) {
        return SEALED + digest("sealed snapshot\0" + modes + "\0" + name);
    }

    /// Whether a snapshot is, or is to be, a sealed dataset.
    static boolean isSealedSnapshot(String snapshot) {
        return SEALED_SNAPSHOT.matcher(snapshot).matches();
    }

    /// A short name for the dataset that a snapshot becomes; it is part of ids, of which each byte counts.
    static String sealed(SnapshotId snapshot) {
        return SEALED + digest("sealed\0" + snapshot).substring(0, COMMON_DIGITS);
    }

    /// The snapshots of the group of snapshots called `name`: the same in each of its volumes. Its second part
    /// says which volumes these are, so that a list that lacks one is seen, and so that another list makes
    /// another group.
    static String groupSnapshot(String name, List<VolumeId.Provisioned> members) {
        String list = members(members);
        return 'g' + digest("group\0" + name + "\0" + list).substring(0, DIGITS - MEMBER_DIGITS) + list;
    }

    /// Whether the volumes of the group of snapshots called `groupSnapshot` are `members`, in whatever order.
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

    /// Whether a snapshot belongs to a group of snapshots.
    public static boolean isGroupSnapshot(String snapshot) {
        return snapshot.charAt(0) == 'g' && snapshot.length() == DIGITS + 1;
    }

    /// The snapshot that Siphon takes of a source volume for as long as `target` is filled from it.
    public static String transferSnapshot(String target) {
        return 't' + digest("transfer\0" + target);
    }

    /// A snapshot that Siphon takes of a volume to export it; no two have the same name.
    ///
    /// @param begun to the minute
    /// @param run tells this export from others
    public static String exportSnapshot(Instant begun, String run) {
        String minutes = Long.toString(begun.getEpochSecond() / SECONDS_PER_MINUTE, RADIX);
        return EXPORT
                + "0".repeat(TIME_DIGITS - minutes.length())
                + minutes
                + digest("export\0" + run).substring(0, DIGITS - TIME_DIGITS);
    }

    /// When the export began that a snapshot was taken for; empty for other snapshots.
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

    /// Whether a snapshot only lives while a volume is filled from it, or exported.
    public static boolean isTransferSnapshot(String snapshot) {
        return (snapshot.charAt(0) == 't' || snapshot.charAt(0) == EXPORT) && snapshot.length() == DIGITS + 1;
    }

    /// The subvolumegroup of the account with this immutable id.
    public static String group(String accountId) {
        return 'a' + digest("account\0" + accountId);
    }

    /// Whether a subvolumegroup is one of ours.
    public static boolean isGroup(String group) {
        return group.charAt(0) == 'a' && group.length() == DIGITS + 1;
    }

    /// A short name for a node, for the keys of notes.
    public static String node(String nodeId) {
        return digest("node\0" + nodeId);
    }

    /// A short name for a dataset, for its identity: another one for each place, and each image.
    public static String dataset(VolumeId.DatasetVolume dataset) {
        return digest("dataset\0" + dataset.forNobody());
    }

    /// What tells the volume called `name` from others that show the same dataset.
    public static String datasetClaim(VolumeId.DatasetVolume dataset, String name) {
        return digest("claim\0" + dataset.forNobody() + "\0" + name).substring(0, CLAIM_DIGITS);
    }

    /// What tells identities that one Kubernetes cluster had made from those of others.
    ///
    /// @param uid of its namespace `kube-system`, which stands for the cluster
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
