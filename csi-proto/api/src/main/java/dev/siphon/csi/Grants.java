package dev.siphon.csi;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/// The namespaces that may use each account's volumes and each dataset. The controller publishes them. Nodes cannot
/// ask a directory, so they compare a pod's namespace with these grants. This file defines all names in their JSON.
///
/// @param groups the grants per subvolumegroup of an account
/// @param datasets the shared datasets by name
/// @param partial the parts that are incomplete here: what did not fit is in objects of the namespaces
public record Grants(Map<GroupKey, Grant> groups, Map<String, Shared> datasets, Set<Part> partial) {
    /// Grants nothing to anyone.
    public static final Grants NONE = new Grants(Map.of(), Map.of());

    /// The parts of grants.
    public enum Part {
        GROUPS,
        DATASETS,
        /// The datasets outside [dev.siphon.csi.dataset.Dataset#DIRECTORY].
        PLACES
    }

    private static final String PARTIAL = "partial";
    private static final String GROUPS = "groups";
    private static final String DATASETS = "datasets";
    private static final String VOLUME = "volume";
    private static final String EVERYBODY = "everybody";
    private static final String ACCOUNT = "account";
    private static final String NAMESPACES = "namespaces";

    public Grants {
        groups = Collections.unmodifiableMap(new TreeMap<>(groups));
        datasets = Collections.unmodifiableMap(new TreeMap<>(datasets));
        partial = Set.copyOf(partial);
    }

    /// Creates complete grants.
    public Grants(Map<GroupKey, Grant> groups, Map<String, Shared> datasets) {
        this(groups, datasets, Set.of());
    }

    /// Returns these grants, with `namespace` added to the given groups of any account.
    public Grants with(String namespace, Set<GroupKey> places) {
        Map<GroupKey, Grant> more = new TreeMap<>(groups);
        places.forEach(place -> {
            Grant before = groups.getOrDefault(place, new Grant("", new TreeSet<>()));
            more.put(place, before.with(before.account(), namespace));
        });
        return new Grants(more, datasets, partial);
    }

    /// A subvolumegroup, written `CLUSTER:FS:GROUP`.
    public record GroupKey(String cluster, String fileSystem, String group) implements Comparable<GroupKey> {
        /// Parses the text of [#toString]; empty for any other text.
        public static Optional<GroupKey> parse(String text) {
            String[] parts = text.split(":", -1);
            return parts.length == 3 ? Optional.of(new GroupKey(parts[0], parts[1], parts[2])) : Optional.empty();
        }

        @Override
        public int compareTo(GroupKey other) {
            return toString().compareTo(other.toString());
        }

        @Override
        public String toString() {
            return cluster + ":" + fileSystem + ":" + group;
        }
    }

    /// An account, with the namespaces whose pods may use its volumes.
    public record Grant(String account, SortedSet<String> namespaces) {
        public Grant {
            namespaces = Collections.unmodifiableSortedSet(new TreeSet<>(namespaces));
        }

        /// Returns this grant with one more namespace, and the account's current name.
        public Grant with(String accountNow, String namespace) {
            SortedSet<String> more = new TreeSet<>(namespaces);
            more.add(namespace);
            return new Grant(accountNow, more);
        }

        /// Formats the grant as a JSON object.
        public String toJson() {
            return json().toString();
        }

        /// Parses the text of [#toJson].
        ///
        /// @throws DriverException.BackendFault (INTERNAL) if it is anything else
        public static Grant parse(String text) {
            try {
                return read(JsonParser.parseString(text).getAsJsonObject());
            } catch (JsonParseException | IllegalStateException e) {
                throw unreadable(e);
            }
        }

        private JsonObject json() {
            JsonObject json = new JsonObject();
            json.addProperty(ACCOUNT, account);
            json.add(NAMESPACES, list(namespaces));
            return json;
        }

        private static Grant read(JsonObject json) {
            return new Grant(field(json, ACCOUNT).map(Grants::text).orElse(""), texts(json, NAMESPACES));
        }
    }

    /// A dataset, with the namespaces whose pods may read it.
    ///
    /// @param volume its place, as the id of a volume without a claim
    /// @param everybody whether all namespaces may read it, including future ones
    /// @param namespaces the namespaces that may read it
    public record Shared(VolumeId.DatasetVolume volume, boolean everybody, SortedSet<String> namespaces) {
        public Shared {
            namespaces = Collections.unmodifiableSortedSet(new TreeSet<>(namespaces));
        }

        /// Returns this dataset, with the namespaces of `other` added if both are the same image.
        public Shared with(Shared other) {
            SortedSet<String> more = new TreeSet<>(namespaces);
            if (!everybody && other.volume().equals(volume)) {
                more.addAll(other.namespaces());
            }
            return new Shared(volume, everybody, more);
        }

        /// Checks whether a namespace may read the dataset.
        public boolean isFor(String namespace) {
            return everybody || namespaces.contains(namespace);
        }

        private JsonObject json() {
            JsonObject json = new JsonObject();
            json.addProperty(VOLUME, volume.toString());
            if (everybody) {
                json.addProperty(EVERYBODY, true);
            } else {
                json.add(NAMESPACES, list(namespaces));
            }
            return json;
        }

        /// Returns empty for an entry that no version of this driver can have written.
        private static Optional<Shared> read(JsonObject json) {
            return field(json, VOLUME)
                    .map(Grants::text)
                    .flatMap(VolumeId.DatasetVolume::tryParse)
                    .map(volume -> new Shared(
                            volume,
                            field(json, EVERYBODY)
                                    .filter(JsonElement::isJsonPrimitive)
                                    .filter(value -> value.getAsJsonPrimitive().isBoolean())
                                    .filter(JsonElement::getAsBoolean)
                                    .isPresent(),
                            texts(json, NAMESPACES)));
        }
    }

    /// Returns the dataset with this name; empty if there is none.
    public Optional<Shared> dataset(String name) {
        return Optional.ofNullable(datasets.get(name));
    }

    /// Returns the datasets at the place of `volume`: one image may have several names.
    public List<Shared> datasetsOf(VolumeId.DatasetVolume volume) {
        return datasets.values().stream()
                .filter(shared -> shared.volume().equals(volume.withoutClaim()))
                .toList();
    }

    /// Returns the grant of a group; empty if there never was one.
    public Optional<Grant> of(GroupKey place) {
        return Optional.ofNullable(groups.get(place));
    }

    /// Formats the file: a JSON object with one entry per group in `groups`, and one per dataset in `datasets`,
    /// which is omitted if empty.
    public String toJson() {
        JsonObject all = new JsonObject();
        groups.forEach((place, grant) -> all.add(place.toString(), grant.json()));
        JsonObject json = new JsonObject();
        json.add(GROUPS, all);
        if (!datasets.isEmpty()) {
            JsonObject shared = new JsonObject();
            datasets.forEach((name, dataset) -> shared.add(name, dataset.json()));
            json.add(DATASETS, shared);
        }
        if (!partial.isEmpty()) {
            SortedSet<String> parts = new TreeSet<>();
            partial.forEach(part -> parts.add(part.name()));
            json.add(PARTIAL, list(parts));
        }
        return json + "\n";
    }

    /// Parses the text of [#toJson]. Skips entries that no version of this driver writes, so that they grant
    /// nothing.
    ///
    /// @throws DriverException.BackendFault (INTERNAL) if it is anything else
    public static Grants parse(String text) {
        try {
            JsonObject json = JsonParser.parseString(text).getAsJsonObject();
            Map<GroupKey, Grant> groups = new TreeMap<>();
            object(json, GROUPS).asMap().forEach((key, value) -> {
                Grant grant = Grant.read(value.getAsJsonObject());
                GroupKey.parse(key).ifPresent(place -> groups.put(place, grant));
            });
            Map<String, Shared> datasets = new TreeMap<>();
            object(json, DATASETS)
                    .asMap()
                    .forEach((name, value) ->
                            Shared.read(value.getAsJsonObject()).ifPresent(shared -> datasets.put(name, shared)));
            SortedSet<String> parts = texts(json, PARTIAL);
            return new Grants(
                    groups,
                    datasets,
                    Arrays.stream(Part.values())
                            .filter(part -> parts.contains(part.name()))
                            .collect(Collectors.toSet()));
        } catch (JsonParseException | IllegalStateException e) {
            throw unreadable(e);
        }
    }

    private static Optional<JsonElement> field(JsonObject json, String name) {
        return Optional.ofNullable(json.get(name)).filter(value -> !value.isJsonNull());
    }

    private static JsonObject object(JsonObject json, String name) {
        return field(json, name).map(JsonElement::getAsJsonObject).orElseGet(JsonObject::new);
    }

    private static JsonArray list(SortedSet<String> texts) {
        JsonArray list = new JsonArray();
        texts.forEach(list::add);
        return list;
    }

    private static SortedSet<String> texts(JsonObject json, String name) {
        SortedSet<String> texts = new TreeSet<>();
        field(json, name)
                .map(JsonElement::getAsJsonArray)
                .orElseGet(JsonArray::new)
                .forEach(element -> texts.add(text(element)));
        return texts;
    }

    /// Accepts only JSON strings. Gson would convert numbers and one-element lists as well, and throws other
    /// exceptions than a parser's for the rest.
    private static String text(JsonElement value) {
        if (value.isJsonPrimitive() && value.getAsJsonPrimitive().isString()) {
            return value.getAsString();
        }
        throw new JsonParseException("a name must be a string");
    }

    private static DriverException unreadable(RuntimeException cause) {
        return new DriverException.BackendFault("the grants of namespaces cannot be read", cause);
    }
}
