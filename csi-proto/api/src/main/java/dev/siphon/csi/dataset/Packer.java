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

/// The names of packers and of what they read and write. Nodes use them to give a packer only its snapshot and its
/// image's directory. The controller creates its own names in `CephNames` and `DatasetPlace`; a test there checks
/// that both agree.
public final class Packer {
    /// The prefix of all packers' names.
    public static final String PREFIX = "siphon-pack-";

    /// The prefix of their cephx identities; no volume or dataset has it.
    public static final String USER_PREFIX = "siphon-packer.";

    /// The exit code of the process that reads an image back and finds that its manifest does not match. A Java
    /// process exits with 1 to 3 for other reasons.
    public static final int EXIT_UNLIKE = 4;

    /// The directory of a snapshot's image. Its last part is also the end of the packer's name.
    private static final Pattern TARGET = Pattern.compile("/datasets/(i[0-9a-v]{15})(?:/.*)?");

    /// A snapshot to be sealed, relative to the directory of its account.
    private static final Pattern SNAPSHOT = Pattern.compile("([^/]+)/\\.snap/(i[0-9a-v]{20})");

    /// The name of a volume that stands for a snapshot.
    private static final Pattern STANDS_FOR_ONE = Pattern.compile("r[0-9a-v]{23}");

    private static final int BITS = 100;
    private static final int BASE_32 = 32;
    private static final int DIGITS = 20;
    private static final int OF_NAME = 15;

    private Packer() {}

    /// Checks whether a volume shows exactly the snapshot that a pod packs. The pod's name determines the snapshot,
    /// so that no other can replace it.
    ///
    /// @param pod the pod's name
    /// @param context the volume's context; anyone may have written its values
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

    /// Checks whether a volume shows exactly the directory of the image that a pod makes.
    ///
    /// @param pod the pod's name
    /// @param context the volume's context; anyone may have written its values
    public static boolean writes(String pod, VolumeId volume, Optional<VolumeContext> context) {
        return volume instanceof VolumeId.Static target
                && isTarget(target)
                && pod.startsWith(PREFIX + name(target) + "-")
                && context.stream()
                        .allMatch(shown -> shown.mountPath().equals(target.path())
                                && shown.dataPath().isEmpty());
    }

    /// Checks whether a volume is the directory of a snapshot's image.
    public static boolean isTarget(VolumeId.Static volume) {
        return isImage(volume.path());
    }

    /// Checks whether a path is the directory of a snapshot's image.
    public static boolean isImage(String path) {
        return isPlaceOfImage(path) && path.indexOf('/', Dataset.DIRECTORY.length() + 1) < 0;
    }

    /// Checks whether a path is the directory of a snapshot's image, or below it.
    public static boolean isPlaceOfImage(String path) {
        return TARGET.matcher(path).matches();
    }

    /// Returns the identity with which the packer writes an image, without `client.`.
    public static String userId(VolumeId.Static target) {
        return USER_PREFIX + target.fileSystem() + "." + name(target);
    }

    /// Returns the identity with which an image is read back, without `client.`.
    public static String checkerId(VolumeId.Static target) {
        return userId(target) + ".check";
    }

    /// Returns the name of an image's packer.
    public static String of(VolumeId.Static target) {
        return PREFIX + name(target);
    }

    /// Returns the name of the job that reads an image back.
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

    /// Returns the name of a snapshot's packer.
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
