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

/// A sealed dataset as an administrator declares it: as the `spec` of a `Dataset` object, or in a file. This file
/// defines all names in that JSON.
///
/// @param name its name in Kubernetes: `u1.imagenet-v1` where people write `u1/imagenet-v1`
/// @param cluster the cluster that holds it; empty for the default one
/// @param fileSystem the file system that holds it
/// @param path the directory with the files `image` and `image.manifest`
/// @param digest the digest of its manifest
/// @param bytes the length of the image; 0 if not declared
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

    /// The controller looks for datasets only below this directory of a file system.
    public static final String DIRECTORY = "/datasets";

    /// The file name of the image in the dataset's directory.
    public static final String IMAGE = "image";

    /// The file name of the image's manifest, in the same directory.
    public static final String MANIFEST = IMAGE + ".manifest";

    /// The reader that stands for everyone with a namespace in the cluster.
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
        // checks the length of the id: with a claim, and with the longest name that a default cluster may have
        var _ = new VolumeId.DatasetVolume(
                cluster.orElse("c".repeat(LONGEST_CLUSTER)),
                fileSystem,
                digest.beginning(),
                Optional.of("0".repeat(CLAIM)),
                path);
    }

    /// Returns the name of a dataset that people may write as `OWNER/NAME`.
    ///
    /// @param field the field that holds the text, for the message
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it cannot be a name
    public static String name(String field, String text) {
        String name = objectName(text);
        if (!NAME.matcher(name).matches()) {
            throw new DriverException.InvalidRequest(field + " " + QuotedText.of(text)
                    + " is not a dataset's name: expected NAME or OWNER/NAME of lower-case letters, digits, '-'"
                    + " and '.'");
        }
        return name;
    }

    /// Returns the name of a Dataset object, without a check, for a name that may be written as `OWNER/NAME`.
    public static String objectName(String written) {
        return written.replaceFirst("/", ".");
    }

    /// Checks whether a text is a dataset's name in the form that [#name] returns.
    public static boolean isName(String text) {
        return NAME.matcher(text).matches();
    }

    /// Parses an administrator's declaration.
    ///
    /// @param text the dataset's name
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) with the dataset and what is wrong
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

    /// Returns a declared dataset, and adds its name to the message of an error.
    ///
    /// @param text the dataset's name
    /// @param made builds the dataset from the name that [#name] returns
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
        throw new DriverException.InvalidRequest(name + " must be a string");
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
                // rejected below, as every other unusable value
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

    /// Returns this dataset with other readers.
    public Dataset readBy(Set<String> others) {
        return new Dataset(name, cluster, fileSystem, path, digest, bytes, others);
    }

    /// Returns the account in the name of a sealed snapshot's dataset, `ACCOUNT.NAME`; empty for a name without a
    /// dot.
    public static Optional<String> account(String name) {
        int dot = name.lastIndexOf('.');
        return dot > 0 ? Optional.of(name.substring(0, dot)) : Optional.empty();
    }

    /// Checks whether everyone may read it.
    public boolean isForEverybody() {
        return readers.contains(EVERYBODY);
    }

    /// Returns its volume id without a claim.
    ///
    /// @param defaultCluster the cluster if the dataset declares none
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the id would be too long
    public VolumeId.DatasetVolume volume(String defaultCluster) {
        return new VolumeId.DatasetVolume(
                cluster.orElse(defaultCluster), fileSystem, digest.beginning(), Optional.empty(), path);
    }

    /// Returns the whole object for `kubectl apply`.
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

    /// Returns the `spec` that [#parse] reads.
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
