package dev.siphon.csi;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Where a volume lives, as the `volume_id` of CSI: at most 128 bytes (CSI v1.13, "Size Limits").
///
/// The id is the truth: no table maps it to anything, so none can be lost.
public sealed interface VolumeId {
    /// The longest id in bytes (CSI v1.13, "Size Limits").
    int MAX_BYTES = 128;

    /// The cluster that holds the volume, as named in the clusters file.
    String cluster();

    /// The Ceph file system that holds the volume.
    String fileSystem();

    /// A volume that Siphon made: `s1:CLUSTER:FS:GROUP:SUBVOLUME`.
    ///
    /// @param group the subvolumegroup, one per account
    /// @param subvolume the subvolume in it
    record Provisioned(String cluster, String fileSystem, String group, String subvolume) implements VolumeId {
        public Provisioned {
            Part.CLUSTER.check(cluster);
            Part.FILE_SYSTEM.check(fileSystem);
            Part.GROUP.check(group);
            Part.SUBVOLUME.check(subvolume);
        }

        @Override
        public String toString() {
            return "s1:" + cluster + ":" + fileSystem + ":" + group + ":" + subvolume;
        }
    }

    /// A volume whose path is in its id: an administrator wrote it into a PV by hand, or it shows a dataset.
    sealed interface ByHand extends VolumeId {
        /// Absolute, without `.`, `..`, empty parts or control characters.
        String path();
    }

    /// An existing path: `static:CLUSTER:FS:/PATH`.
    record Static(String cluster, String fileSystem, String path) implements ByHand {
        public Static {
            Part.CLUSTER.check(cluster);
            Part.FILE_SYSTEM.check(fileSystem);
            CephPath.check(path);
            checkLength(text(cluster, fileSystem, path));
        }

        private static String text(String cluster, String fileSystem, String path) {
            return "static:" + cluster + ":" + fileSystem + ":" + path;
        }

        @Override
        public String toString() {
            return text(cluster, fileSystem, path);
        }
    }

    /// A sealed dataset: `dataset:CLUSTER:FS:DIGEST:/PATH`, or `dataset:CLUSTER:FS:DIGEST:CLAIM:/PATH` where
    /// Siphon gave it to a claim. The digest is in the id, so that no other image can be put in its place later,
    /// and so that the mounted tree tells which dataset it is.
    ///
    /// @param digest how the digest of its manifest begins ([Digest#beginning])
    /// @param claim tells the volumes of one dataset apart; empty of one that was written by hand
    /// @param path the directory that holds the files `image` and `image.manifest`
    record DatasetVolume(String cluster, String fileSystem, String digest, Optional<String> claim, String path)
            implements ByHand {
        public DatasetVolume {
            Part.CLUSTER.check(cluster);
            Part.FILE_SYSTEM.check(fileSystem);
            Part.DIGEST.check(digest);
            claim.ifPresent(Part.CLAIM::check);
            CephPath.check(path);
            checkLength(text(cluster, fileSystem, digest, claim, path));
        }

        /// The dataset's volume of that id; empty if it is none's.
        public static Optional<DatasetVolume> tryParse(String text) {
            return VolumeId.tryParse(text)
                    .filter(DatasetVolume.class::isInstance)
                    .map(DatasetVolume.class::cast);
        }

        /// The same dataset, whoever's volume shows it.
        public DatasetVolume forNobody() {
            return new DatasetVolume(cluster, fileSystem, digest, Optional.empty(), path);
        }

        /// The volume of the same dataset that a claim gets.
        public DatasetVolume forClaim(String name) {
            return new DatasetVolume(cluster, fileSystem, digest, Optional.of(name), path);
        }

        private static String text(
                String cluster, String fileSystem, String digest, Optional<String> claim, String path) {
            return "dataset:" + cluster + ":" + fileSystem + ":" + digest + ":"
                    + claim.map(name -> name + ":").orElse("") + path;
        }

        @Override
        public String toString() {
            return text(cluster, fileSystem, digest, claim, path);
        }
    }

    private static void checkLength(String id) {
        if (id.getBytes(StandardCharsets.UTF_8).length > MAX_BYTES) {
            throw new DriverException.InvalidRequest(
                    "volume_id " + QuotedText.of(id) + " is longer than " + MAX_BYTES + " bytes");
        }
    }

    /// Reads an id.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `text` is empty, too long, of another format
    ///     or version, or holds a part that cannot be
    static VolumeId parse(String text) {
        return tryParse(text)
                .orElseThrow(() -> new DriverException.InvalidRequest(
                        "volume_id " + QuotedText.of(text) + " is not one of this driver: expected"
                                + " s1:CLUSTER:FS:GROUP:SUBVOLUME, static:CLUSTER:FS:/PATH or"
                                + " dataset:CLUSTER:FS:DIGEST:/PATH of at most " + MAX_BYTES + " bytes"));
    }

    /// As [#parse], with empty for what no version of this driver can have made: to callers that treat an unknown
    /// id as gone (CSI v1.13, DeleteVolume).
    static Optional<VolumeId> tryParse(String text) {
        if (text.getBytes(StandardCharsets.UTF_8).length > MAX_BYTES) {
            return Optional.empty();
        }
        Matcher provisioned = Part.PROVISIONED.matcher(text);
        if (provisioned.matches()) {
            return Optional.of(new Provisioned(
                    provisioned.group(1), provisioned.group(2), provisioned.group(3), provisioned.group(4)));
        }
        Matcher fixed = Part.STATIC.matcher(text);
        if (fixed.matches() && CephPath.isClean(fixed.group(3))) {
            return Optional.of(new Static(fixed.group(1), fixed.group(2), fixed.group(3)));
        }
        Matcher dataset = Part.DATASET.matcher(text);
        if (dataset.matches() && CephPath.isClean(dataset.group(5))) {
            return Optional.of(new DatasetVolume(
                    dataset.group(1),
                    dataset.group(2),
                    dataset.group(3),
                    Optional.ofNullable(dataset.group(4)),
                    dataset.group(5)));
        }
        return Optional.empty();
    }

    /// Refuses the id of a volume, snapshot or group of snapshots in a format of another version of this driver.
    /// What it names may well exist, so nobody must take it for gone.
    ///
    /// @param field that holds it, for the message
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if `text` is such an id
    static void checkFormat(String field, String text) {
        Matcher versioned = Part.VERSIONED.matcher(text);
        if (versioned.lookingAt() && !versioned.group(1).equals("1")) {
            throw new DriverException.InUse(field + " " + QuotedText.of(text) + " has format s" + versioned.group(1)
                    + " of another version of this driver; this one knows format s1 only, and touches nothing else");
        }
    }

    /// The parts of an id, each with the characters and length it may have. None may hold `:`, `/` or `@`, which
    /// separate parts.
    enum Part {
        CLUSTER("cluster id", "[a-z0-9][a-z0-9-]{0,19}"),
        FILE_SYSTEM("file system name", "[A-Za-z0-9][A-Za-z0-9_.-]{0,23}"),
        GROUP("subvolumegroup name", "[a-z0-9][a-z0-9.-]{0,23}"),
        SUBVOLUME("subvolume name", "[a-z0-9][a-z0-9.-]{0,23}"),
        SNAPSHOT("snapshot name", "[a-z0-9][a-z0-9.-]{0,23}"),
        DIGEST("beginning of a dataset's digest", "[0-9a-f]{40}"),
        CLAIM("name of a dataset's volume", "[0-9a-v]{12}");

        private static final Pattern PROVISIONED = Pattern.compile(
                "s1:(" + CLUSTER.form + "):(" + FILE_SYSTEM.form + "):(" + GROUP.form + "):(" + SUBVOLUME.form + ")");
        private static final Pattern VERSIONED = Pattern.compile("s([1-9][0-9]{0,8})g?:");
        private static final Pattern STATIC =
                Pattern.compile("static:(" + CLUSTER.form + "):(" + FILE_SYSTEM.form + "):(/.*)");
        private static final Pattern DATASET = Pattern.compile("dataset:(" + CLUSTER.form + "):(" + FILE_SYSTEM.form
                + "):(" + DIGEST.form + "):(?:(" + CLAIM.form + "):)?(/.*)");

        private final String what;
        private final Pattern form;

        Part(String what, String form) {
            this.what = what;
            this.form = Pattern.compile(form);
        }

        /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `text` cannot be such a part
        public void check(String text) {
            if (!form.matcher(text).matches()) {
                throw new DriverException.InvalidRequest(what + " " + QuotedText.of(text) + " must match " + form);
            }
        }

        /// Whether `text` can be such a part.
        public boolean fits(String text) {
            return form.matcher(text).matches();
        }

        /// The regular expression that `text` must match.
        public Pattern form() {
            return form;
        }
    }
}
