package dev.siphon.csi;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The place of a volume, as the `volume_id` of CSI: at most 128 bytes (CSI v1.13, "Size Limits").
///
/// The id alone locates the volume. There is no mapping table that could be lost.
public sealed interface VolumeId {
    /// The longest id in bytes (CSI v1.13, "Size Limits").
    int MAX_BYTES = 128;

    /// The cluster that holds the volume, as named in the clusters file.
    String cluster();

    /// The Ceph file system that holds the volume.
    String fileSystem();

    /// A volume that Siphon created: `s1:CLUSTER:FS:GROUP:SUBVOLUME`.
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

    /// A volume with the path in its id: an administrator wrote it into a PV, or it shows a dataset.
    sealed interface WithPath extends VolumeId {
        /// Returns the path: absolute, without `.`, `..`, empty parts or control characters.
        String path();
    }

    /// An existing path: `static:CLUSTER:FS:/PATH`.
    record Static(String cluster, String fileSystem, String path) implements WithPath {
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

    /// A sealed dataset: `dataset:CLUSTER:FS:DIGEST:/PATH`, or `dataset:CLUSTER:FS:DIGEST:CLAIM:/PATH` if Siphon
    /// gave it to a claim. The id holds the digest, so that no other image can replace it later, and so that the
    /// mount identifies its dataset.
    ///
    /// @param digest the beginning of its manifest's digest ([dev.siphon.csi.dataset.Digest#beginning])
    /// @param claim distinguishes the volumes of one dataset; empty if a person wrote the id
    /// @param path the directory that holds the files `image` and `image.manifest`
    record DatasetVolume(String cluster, String fileSystem, String digest, Optional<String> claim, String path)
            implements WithPath {
        public DatasetVolume {
            Part.CLUSTER.check(cluster);
            Part.FILE_SYSTEM.check(fileSystem);
            Part.DIGEST.check(digest);
            claim.ifPresent(Part.CLAIM::check);
            CephPath.check(path);
            checkLength(text(cluster, fileSystem, digest, claim, path));
        }

        /// Parses a dataset volume's id; empty for any other text.
        public static Optional<DatasetVolume> tryParse(String text) {
            return VolumeId.tryParse(text)
                    .filter(DatasetVolume.class::isInstance)
                    .map(DatasetVolume.class::cast);
        }

        /// Returns the dataset's id without a claim.
        public DatasetVolume withoutClaim() {
            return new DatasetVolume(cluster, fileSystem, digest, Optional.empty(), path);
        }

        /// Returns the id of the same dataset's volume for a claim.
        public DatasetVolume forUse(String name) {
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

    /// Parses an id.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `text` is empty, too long, of another format or
    ///     version, or has an invalid part
    static VolumeId parse(String text) {
        return tryParse(text)
                .orElseThrow(() -> new DriverException.InvalidRequest(
                        "volume_id " + QuotedText.of(text) + " does not belong to this driver: expected"
                                + " s1:CLUSTER:FS:GROUP:SUBVOLUME, static:CLUSTER:FS:/PATH or"
                                + " dataset:CLUSTER:FS:DIGEST:/PATH of at most " + MAX_BYTES + " bytes"));
    }

    /// As [#parse], but returns empty for an id that no version of this driver can have created. For callers that
    /// treat an unknown id as deleted (CSI v1.13, DeleteVolume).
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

    /// Refuses an id of a volume, snapshot or snapshot group in the format of another driver version. The object
    /// may exist, so no caller may treat it as deleted.
    ///
    /// @param field the field that holds the id, for the message
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if `text` is such an id
    static void checkFormat(String field, String text) {
        Matcher versioned = Part.VERSIONED.matcher(text);
        if (versioned.lookingAt() && !versioned.group(1).equals("1")) {
            throw new DriverException.InUse(field + " " + QuotedText.of(text) + " has format s" + versioned.group(1)
                    + " of another version of this driver; this version knows only format s1 and leaves others alone");
        }
    }

    /// The parts of an id, each with its allowed characters and length. No part may hold the separators `:`, `/` or
    /// `@`.
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

        /// Checks a part.
        ///
        /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `text` cannot be such a part
        public void check(String text) {
            if (!form.matcher(text).matches()) {
                throw new DriverException.InvalidRequest(what + " " + QuotedText.of(text) + " must match " + form);
            }
        }

        /// Checks whether `text` can be such a part.
        public boolean fits(String text) {
            return form.matcher(text).matches();
        }

        /// Returns the regular expression that `text` must match.
        public Pattern form() {
            return form;
        }
    }
}
