package dev.siphon.csi.dataset;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.siphon.csi.CephPath;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.SpellingSuggestion;
import dev.siphon.csi.VolumeId;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Pattern;

/// A sealed dataset, as whoever administers it has written it: as the `spec` of a `DatasetVolume` object, or in a
/// file. All names in that JSON are in this file.
///
/// @param name as Kubernetes would have it: where people write `u1/imagenet-v1`, `u1.imagenet-v1`
/// @param cluster that holds it; empty for the default one
/// @param fileSystem that holds it
/// @param path of the directory with the files `image` and `image.manifest`
/// @param digest of its manifest
/// @param bytes how long the image is; 0 if nobody wrote that
/// @param readers who may read it: names of accounts, of groups as `group:NAME`, or [#EVERYBODY]
public record Dataset(
        String name,
        Optional<String> cluster,
        String fileSystem,
        String path,
        Digest digest,
        long bytes,
        Set<String> readers) {
    /// The object's kind.
    public static final String KIND = "Dataset";

    /// Below this directory of a file system the controller may look for datasets.
    public static final String DIRECTORY = "/datasets";

    /// The image's name in the dataset's directory.
    public static final String IMAGE = "image";

    /// The name of the image's manifest, beside it.
    public static final String MANIFEST = IMAGE + ".manifest";

    /// As a reader: whoever has a namespace in the cluster.
    public static final String EVERYBODY = "*";

    private static final String CLUSTER = "cluster";
    private static final String FS_NAME = "fsName";
    private static final String PATH = "path";
    private static final String DIGEST = "digest";
    private static final String BYTES = "bytes";
    private static final String READERS = "readers";
    private static final Set<String> KNOWN = Set.of(CLUSTER, FS_NAME, PATH, DIGEST, BYTES, READERS);

    /// Kubernetes, "Object Names and IDs": DNS subdomain.
    private static final Pattern NAME = Pattern.compile("[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?");

    private static final int LONGEST_CLUSTER = 20;
    private static final int CLAIM = 12;

    public Dataset {
        readers = Set.copyOf(readers);
        CephPath.check(path);
        VolumeId.Part.FILE_SYSTEM.check(fileSystem);
        cluster.ifPresent(VolumeId.Part.CLUSTER::check);
        // where no cluster is named, with the longest name that the default one may have; and with a claim
        var _ = new VolumeId.DatasetVolume(
                cluster.orElse("c".repeat(LONGEST_CLUSTER)),
                fileSystem,
                digest.beginning(),
                Optional.of("0".repeat(CLAIM)),
                path);
    }

    /// What a dataset is called whose name people write with a slash behind whose it is.
    ///
    /// @param field where it stands, for the message
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it can be no name
    public static String name(String field, String text) {
        String name = text.replaceFirst("/", ".");
        if (!NAME.matcher(name).matches()) {
            throw new DriverException.InvalidRequest(field + " " + QuotedText.of(text)
                    + " is no dataset's name: expected NAME or OWNER/NAME of lower-case letters, digits, '-' and '.'");
        }
        return name;
    }

    /// Whether a text is a dataset's name as [#name] gives it.
    public static boolean isName(String text) {
        return NAME.matcher(text).matches();
    }

    /// Reads what an administrator wrote.
    ///
    /// @param text of its name
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) with what is wrong with it, and where
    public static Dataset parse(String text, JsonObject spec) {
        return declared(text, name -> {
            for (String key : new TreeSet<>(spec.keySet())) {
                if (!KNOWN.contains(key)) {
                    throw new DriverException.InvalidRequest(QuotedText.of(key)
                            + " is not known; the nearest known one is " + SpellingSuggestion.to(key, KNOWN));
                }
            }
            return new Dataset(
                    name,
                    optional(spec, CLUSTER),
                    text(spec, FS_NAME),
                    text(spec, PATH),
                    new Digest(text(spec, DIGEST)),
                    bytes(spec),
                    readers(spec));
        });
    }

    /// One that somebody has declared.
    ///
    /// @param text of its name
    /// @param made of the name as [#name] gives it
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) as [#parse]
    public static Dataset declared(String text, Function<String, Dataset> made) {
        String name = name("dataset", text);
        try {
            return made.apply(name);
        } catch (DriverException.InvalidRequest e) {
            throw new DriverException.InvalidRequest("dataset " + name + ": " + e.getMessage());
        }
    }

    private static String text(JsonObject spec, String name) {
        return optional(spec, name).orElseThrow(() -> new DriverException.InvalidRequest(name + " is missing"));
    }

    private static Optional<String> optional(JsonObject spec, String name) {
        return Optional.ofNullable(spec.get(name))
                .filter(value -> !value.isJsonNull())
                .map(value -> text(name, value));
    }

    private static String text(String name, JsonElement value) {
        if (value.isJsonPrimitive() && value.getAsJsonPrimitive().isString()) {
            return value.getAsString();
        }
        throw new DriverException.InvalidRequest(name + " must be a text");
    }

    private static long bytes(JsonObject spec) {
        JsonElement value = spec.get(BYTES);
        if (value == null || value.isJsonNull()) {
            return 0;
        }
        if (value.isJsonPrimitive() && value.getAsJsonPrimitive().isNumber()) {
            try {
                long bytes = Long.parseLong(value.getAsString());
                if (bytes >= 0) {
                    return bytes;
                }
            } catch (NumberFormatException notWhole) {
                // as every other value that cannot be
            }
        }
        throw new DriverException.InvalidRequest(BYTES + " must be a whole number from 0");
    }

    private static Set<String> readers(JsonObject spec) {
        JsonElement value = spec.get(READERS);
        if (value == null || !value.isJsonArray()) {
            throw new DriverException.InvalidRequest(
                    READERS + " must be a list of accounts, group:NAME, or \"" + EVERYBODY + "\" for everybody");
        }
        Set<String> readers = new HashSet<>();
        value.getAsJsonArray().forEach(each -> readers.add(text(READERS, each)));
        return readers;
    }

    /// The same with other readers.
    public Dataset readBy(Set<String> others) {
        return new Dataset(name, cluster, fileSystem, path, digest, bytes, others);
    }

    /// Whose dataset one is by its name, `ACCOUNT.NAME`, as those of sealed snapshots are called.
    public static Optional<String> account(String name) {
        int dot = name.lastIndexOf('.');
        return dot > 0 ? Optional.of(name.substring(0, dot)) : Optional.empty();
    }

    /// Whether there is nobody who may not read it.
    public boolean isForEverybody() {
        return readers.contains(EVERYBODY);
    }

    /// Where it is, for no claim.
    ///
    /// @param defaultCluster where no other is written
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if that is too long to be the id of a volume
    public VolumeId.DatasetVolume volume(String defaultCluster) {
        return new VolumeId.DatasetVolume(
                cluster.orElse(defaultCluster), fileSystem, digest.beginning(), Optional.empty(), path);
    }

    /// The whole object, as `kubectl apply` takes it.
    public JsonObject toObject() {
        JsonObject metadata = new JsonObject();
        metadata.addProperty("name", name);
        JsonObject object = new JsonObject();
        object.addProperty("apiVersion", DatasetAccess.GROUP + "/" + DatasetAccess.VERSION);
        object.addProperty("kind", KIND);
        object.add("metadata", metadata);
        object.add("spec", toSpec());
        return object;
    }

    /// What [#parse] reads.
    public JsonObject toSpec() {
        JsonArray names = new JsonArray();
        readers.stream().sorted().forEach(names::add);
        JsonObject spec = new JsonObject();
        cluster.ifPresent(value -> spec.addProperty(CLUSTER, value));
        spec.addProperty(FS_NAME, fileSystem);
        spec.addProperty(PATH, path);
        spec.addProperty(DIGEST, digest.hex());
        spec.addProperty(BYTES, bytes);
        spec.add(READERS, names);
        return spec;
    }
}
