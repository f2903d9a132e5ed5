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

/// Which namespaces may use the volumes of which account, and which datasets. The controller knows and publishes
/// it; a node, which has no directory to ask, compares the pod's namespace with it. All names in its JSON are in
/// this file.
///
/// @param groups what each account's subvolumegroup may be used from
/// @param datasets those that there are, by their names
/// @param partial which of them are not all that there are: what has no room where these are published is in the
///     objects of namespaces
public record Grants(Map<GroupKey, Grant> groups, Map<String, Shared> datasets, Set<Part> partial) {
    /// Nobody may use anything.
    public static final Grants NONE = new Grants(Map.of(), Map.of());

    /// What grants consist of.
    public enum Part {
        GROUPS,
        DATASETS,
        /// Those of the datasets that lie outside [dev.siphon.csi.dataset.DatasetVolume#DIRECTORY].
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

    /// All that there are.
    public Grants(Map<GroupKey, Grant> groups, Map<String, Shared> datasets) {
        this(groups, datasets, Set.of());
    }

    /// The same with a namespace that may use what is in other groups too, whosever these are.
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
        /// Reads what [#toString] wrote; empty if it is something else.
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

        /// The same with one namespace more, under the account's name of today.
        public Grant with(String accountNow, String namespace) {
            SortedSet<String> more = new TreeSet<>(namespaces);
            more.add(namespace);
            return new Grant(accountNow, more);
        }

        /// One JSON object.
        public String toJson() {
            return json().toString();
        }

        /// Reads what [#toJson] wrote.
        ///
        /// @throws DriverException.BackendFault (INTERNAL) if it is something else
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
    /// @param volume where it is; for no claim
    /// @param everybody whether every namespace may, also one that is not there yet
    /// @param namespaces that may
    public record Shared(VolumeId.DatasetVolume volume, boolean everybody, SortedSet<String> namespaces) {
        public Shared {
            namespaces = Collections.unmodifiableSortedSet(new TreeSet<>(namespaces));
        }

        /// The same with the namespaces that `other` has, if that is the same image.
        public Shared with(Shared other) {
            SortedSet<String> more = new TreeSet<>(namespaces);
            if (!everybody && other.volume().equals(volume)) {
                more.addAll(other.namespaces());
            }
            return new Shared(volume, everybody, more);
        }

        /// Whether a namespace may read it.
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

        /// Empty for what no version of this driver can have written.
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

    /// The dataset of that name; empty if there is none.
    public Optional<Shared> dataset(String name) {
        return Optional.ofNullable(datasets.get(name));
    }

    /// The datasets that are at the place that `volume` shows: one image may have several names.
    public List<Shared> datasetsOf(VolumeId.DatasetVolume volume) {
        return datasets.values().stream()
                .filter(shared -> shared.volume().equals(volume.forNobody()))
                .toList();
    }

    /// What is granted for a group; empty if nothing ever was.
    public Optional<Grant> of(GroupKey place) {
        return Optional.ofNullable(groups.get(place));
    }

    /// The text of the file: a JSON object whose `groups` has one entry per account, and whose `datasets`, if
    /// there are any, one for each of them.
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

    /// Reads what [#toJson] wrote; entries that no version of this driver writes are left out, so that they grant
    /// nothing.
    ///
    /// @throws DriverException.BackendFault (INTERNAL) if it is something else
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

    /// Gson gives numbers and lists of one a text as well, and fails as no parser does for the rest.
    private static String text(JsonElement value) {
        if (value.isJsonPrimitive() && value.getAsJsonPrimitive().isString()) {
            return value.getAsString();
        }
        throw new JsonParseException("a name must be a text");
    }

    private static DriverException unreadable(RuntimeException cause) {
        return new DriverException.BackendFault("the grants of namespaces cannot be read", cause);
    }
}
