package dev.siphon.controller.explain;

import dev.siphon.controller.key.DatasetIdentity;
import dev.siphon.controller.key.VolumeIdentity;
import dev.siphon.controller.volume.CephNames;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeId;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// What an administrator has found somewhere, by its form.
sealed interface Clue {
    /// A path in a file system of Ceph.
    record PathInCeph(String path) implements Clue {}

    /// The subvolumegroup of an account.
    record GroupCode(String group) implements Clue {}

    /// A subvolume, without its group.
    record SubvolumeCode(String subvolume) implements Clue {}

    record WholeId(VolumeId volume) implements Clue {}

    /// A cephx identity, without `client.`.
    record IdentityName(String userId) implements Clue {}

    /// The global id of a client of Ceph, which is the id of its sessions.
    record SessionNumber(long id) implements Clue {}

    /// A number: the id of a session, or a uid.
    record BareNumber(long value) implements Clue {}

    /// The uid of a pod, from a path of the kubelet.
    record PodUid(String uid) implements Clue {}

    /// The beginning of a dataset's digest.
    record DigestBeginning(String digits) implements Clue {}

    /// A pod, a claim, or a dataset as `OWNER/NAME`.
    record InNamespace(NamespacedName name) implements Clue {}

    /// A PersistentVolume, an account or a dataset.
    record PlainName(String text) implements Clue {}

    /// Names in Ceph ([CephNames]): a letter and 20 digits, or 23 for volumes with a source.
    Pattern CODE = Pattern.compile("[a-z][0-9a-v]{20,23}");

    Pattern CLIENT = Pattern.compile("client\\.([0-9]{1,18})");
    Pattern NUMBER = Pattern.compile("[0-9]{1,18}");

    /// The tag of a dataset's loop device (`lo_file_name`): `siphon:DIGITS:PLACE`.
    Pattern LOOP_FILE = Pattern.compile("siphon:([0-9a-f]{8,64}):.*");

    /// The file system's name of a FUSE mount: `siphon!VOLUME!MONITORS!INSTANCE`, percent-encoded.
    Pattern FUSE_SOURCE = Pattern.compile("siphon!([^!]*)(?:!.*)?");

    /// A dataset's digest, or the beginning of it that ids hold, or that `siphon cache list` prints.
    Pattern DIGEST = Pattern.compile("[0-9a-f]{12}|[0-9a-f]{40}|[0-9a-f]{64}");

    /// A replica on a disk, `CACHE/DIGEST/image`, or a tree of a dataset, `STATE/DIGEST/PLACE`.
    Pattern REPLICA = Pattern.compile("/.*/([0-9a-f]{64})(?:/.*)?");

    /// A path of the kubelet: `/var/lib/kubelet/pods/UID/...`.
    Pattern KUBELET =
            Pattern.compile("/.*/pods/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:/.*)?");

    /// The source of a kernel mount: `MONITORS:/PATH` or `NAME@FSID.FS=/PATH` (mount.ceph(8)).
    Pattern KERNEL_SOURCE = Pattern.compile("[^/]+[:=](/.*)");

    /// Parses what an administrator wrote.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it cannot be anything that Siphon knows
    static Clue parse(String written) {
        String text = written.strip();
        Optional<VolumeId> volume = VolumeId.tryParse(fuseSource(text).orElse(text));
        if (volume.isPresent()) {
            return new WholeId(volume.get());
        }
        return path(text).or(() -> code(text)).orElseGet(() -> name(text));
    }

    private static Optional<String> fuseSource(String text) {
        Matcher source = FUSE_SOURCE.matcher(text);
        try {
            return source.matches()
                    ? Optional.of(URLDecoder.decode(source.group(1), StandardCharsets.UTF_8))
                    : Optional.empty();
        } catch (IllegalArgumentException notEncoded) {
            return Optional.empty();
        }
    }

    private static Optional<Clue> path(String text) {
        Matcher source = KERNEL_SOURCE.matcher(text);
        String path = source.matches() ? source.group(1) : text;
        if (!path.startsWith("/")) {
            return Optional.empty();
        }
        if (path.startsWith("/dev/")) {
            throw new DriverException.InvalidRequest(
                    QuotedText.of(path) + " is known on its node only: run this in the node's pod of Siphon");
        }
        Matcher kubelet = KUBELET.matcher(path);
        if (kubelet.matches()) {
            return Optional.of(new PodUid(kubelet.group(1)));
        }
        Matcher replica = REPLICA.matcher(path);
        return Optional.of(replica.matches() ? new DigestBeginning(replica.group(1)) : new PathInCeph(path));
    }

    private static Optional<Clue> code(String text) {
        Matcher client = CLIENT.matcher(text);
        if (client.matches()) {
            return Optional.of(new SessionNumber(Long.parseLong(client.group(1))));
        }
        if (DIGEST.matcher(text).matches()) {
            return Optional.of(new DigestBeginning(text));
        }
        if (NUMBER.matcher(text).matches()) {
            return Optional.of(new BareNumber(Long.parseLong(text)));
        }
        Matcher loop = LOOP_FILE.matcher(text);
        if (loop.matches()) {
            return Optional.of(new DigestBeginning(loop.group(1)));
        }
        String userId = text.startsWith("client.") ? text.substring("client.".length()) : text;
        if (userId.startsWith(VolumeIdentity.PREFIX) || userId.startsWith(DatasetIdentity.PREFIX)) {
            return Optional.of(new IdentityName(userId));
        }
        if (!CODE.matcher(text).matches()) {
            return Optional.empty();
        }
        return CephNames.isGroup(text)
                ? Optional.of(new GroupCode(text))
                : CephNames.kindOf(text).map(_ -> new SubvolumeCode(text));
    }

    private static Clue name(String text) {
        Optional<NamespacedName> both = NamespacedName.tryParse(text);
        if (both.isPresent()) {
            return new InNamespace(both.get());
        }
        if (text.isEmpty() || text.contains("/")) {
            throw new DriverException.InvalidRequest(QuotedText.of(text)
                    + " is nothing that Siphon knows. Give a path in CephFS, a code (aHASH, vHASH), a volume's id,"
                    + " client.NAME of an identity or client.NUMBER of a session. Or give NAMESPACE/NAME of a pod or"
                    + " claim, or the name of a PersistentVolume, an account or a dataset");
        }
        return new PlainName(text);
    }
}
