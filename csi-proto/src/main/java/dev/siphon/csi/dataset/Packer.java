package dev.siphon.csi.dataset;

import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Packers of snapshots by their names, as nodes know them that are to show one its snapshot and the directory of its
/// image. The controller's own names are made in its `Names`; a test there has both say the same.
public final class Packer {
    /// What the names of all packers begin with.
    public static final String PREFIX = "siphon-pack-";

    /// How their cephx identities begin: like no volume's, and no dataset's.
    public static final String USER_PREFIX = "siphon-packer.";

    /// How the process ends that reads an image back and finds another one than its manifest says. A Java process
    /// ends with 1 to 3 for other reasons.
    public static final int EXIT_UNLIKE = 4;

    /// The directory of a snapshot's image; the rest of the packer's name is its last part.
    private static final Pattern TARGET = Pattern.compile("/datasets/(i[0-9a-v]{15})(?:/.*)?");

    /// A snapshot that is to be a dataset, from the directory of its account.
    private static final Pattern SNAPSHOT = Pattern.compile("([^/]+)/\\.snap/(i[0-9a-v]{20})");

    /// A volume that stands for a snapshot.
    private static final Pattern STANDS_FOR_ONE = Pattern.compile("r[0-9a-v]{23}");

    private static final int BITS = 100;
    private static final int BASE_32 = 32;
    private static final int DIGITS = 20;
    private static final int OF_NAME = 15;

    private Packer() {}

    /// Whether a volume shows the snapshot that a pod packs, and nothing else: which snapshot that is follows from the
    /// pod's name, so that no other can be put in its place.
    ///
    /// @param pod the pod's name
    /// @param context what is shown; everything in it may have been written by anybody
    public static boolean reads(String pod, VolumeId volume, VolumeContext context) {
        return context.readOnly()
                && volume instanceof VolumeId.Provisioned own
                && STANDS_FOR_ONE.matcher(own.subvolume()).matches()
                && context.mountPath().equals("/volumes/" + own.group())
                && context.dataPath()
                        .flatMap(path -> snapshot(own, path))
                        .filter(snapshot -> pod.startsWith(of(snapshot) + "-"))
                        .isPresent();
    }

    /// Whether a volume shows the directory of the image that a pod makes, and nothing else.
    ///
    /// @param pod the pod's name
    /// @param context what is shown; everything in it may have been written by anybody
    public static boolean writes(String pod, VolumeId volume, Optional<VolumeContext> context) {
        return volume instanceof VolumeId.Static target
                && isTarget(target)
                && pod.startsWith(PREFIX + name(target) + "-")
                && context.stream()
                        .allMatch(shown -> shown.mountPath().equals(target.path())
                                && shown.dataPath().isEmpty());
    }

    /// Whether a volume is the directory of a snapshot's image.
    public static boolean isTarget(VolumeId.Static volume) {
        return isImage(volume.path());
    }

    /// Whether a path is where a snapshot's image is made.
    public static boolean isImage(String path) {
        return isPlaceOfImage(path) && path.indexOf('/', Dataset.DIRECTORY.length() + 1) < 0;
    }

    /// Whether a path is where a snapshot's image is made, or below that.
    public static boolean isPlaceOfImage(String path) {
        return TARGET.matcher(path).matches();
    }

    /// By which identity the packer of an image writes, without `client.`.
    public static String userId(VolumeId.Static target) {
        return USER_PREFIX + target.fileSystem() + "." + name(target);
    }

    /// By which identity an image is read back, without `client.`.
    public static String checkerId(VolumeId.Static target) {
        return userId(target) + ".check";
    }

    /// What the packer of an image is called.
    public static String of(VolumeId.Static target) {
        return PREFIX + name(target);
    }

    /// What reads an image back is called so.
    public static String checkerOf(VolumeId.Static target) {
        return of(target) + "-check";
    }

    private static String name(VolumeId.Static target) {
        return target.path().substring(Dataset.DIRECTORY.length() + 1);
    }

    private static Optional<SnapshotId> snapshot(VolumeId.Provisioned volume, String path) {
        Matcher parts = SNAPSHOT.matcher(path);
        return parts.matches()
                ? SnapshotId.tryParse("s1:" + volume.cluster() + ":" + volume.fileSystem() + ":" + volume.group() + ":"
                        + parts.group(1) + "@" + parts.group(2))
                : Optional.empty();
    }

    /// What the packer of a snapshot is called.
    public static String of(SnapshotId snapshot) {
        try {
            byte[] sha256 = MessageDigest.getInstance("SHA-256")
                    .digest(("sealed\0" + snapshot).getBytes(StandardCharsets.UTF_8));
            String digits = new BigInteger(1, sha256)
                    .shiftRight(sha256.length * Byte.SIZE - BITS)
                    .toString(BASE_32);
            return PREFIX + "i" + ("0".repeat(DIGITS - digits.length()) + digits).substring(0, OF_NAME);
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("every Java platform has SHA-256", missing);
        }
    }
}
