package dev.siphon.csi;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/// Which namespaces may use the volumes of which account. The controller knows and publishes it; a node, which has
/// no directory to ask, compares the pod's namespace with it. All names in its JSON are in this file.
///
/// @param groups what each account's subvolumegroup may be used from
public record Grants(Map<Place, Grant> groups) {
    /// Nobody may use anything.
    public static final Grants NONE = new Grants(Map.of());

    private static final String GROUPS = "groups";
    private static final String ACCOUNT = "account";
    private static final String NAMESPACES = "namespaces";

    public Grants {
        groups = Collections.unmodifiableMap(new TreeMap<>(groups));
    }

    /// A subvolumegroup, written `CLUSTER:FS:GROUP`.
    public record Place(String cluster, String fileSystem, String group) implements Comparable<Place> {
        private static Optional<Place> parse(String text) {
            String[] parts = text.split(":", -1);
            return parts.length == 3 ? Optional.of(new Place(parts[0], parts[1], parts[2])) : Optional.empty();
        }

        @Override
        public int compareTo(Place other) {
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
            JsonArray list = new JsonArray();
            namespaces.forEach(list::add);
            json.add(NAMESPACES, list);
            return json;
        }

        private static Grant read(JsonObject json) {
            SortedSet<String> namespaces = new TreeSet<>();
            for (JsonElement namespace :
                    field(json, NAMESPACES).map(JsonElement::getAsJsonArray).orElseGet(JsonArray::new)) {
                namespaces.add(text(namespace));
            }
            return new Grant(field(json, ACCOUNT).map(Grants::text).orElse(""), namespaces);
        }
    }

    /// What is granted for a group; empty if nothing ever was.
    public Optional<Grant> of(Place place) {
        return Optional.ofNullable(groups.get(place));
    }

    /// The text of the file: a JSON object whose `groups` has one entry per account.
    public String toJson() {
        JsonObject all = new JsonObject();
        groups.forEach((place, grant) -> all.add(place.toString(), grant.json()));
        JsonObject json = new JsonObject();
        json.add(GROUPS, all);
        return json + "\n";
    }

    /// Reads what [#toJson] wrote; entries that no version of this driver writes are left out, so that they grant
    /// nothing.
    ///
    /// @throws DriverException.BackendFault (INTERNAL) if it is something else
    public static Grants parse(String text) {
        try {
            JsonObject all = field(JsonParser.parseString(text).getAsJsonObject(), GROUPS)
                    .map(JsonElement::getAsJsonObject)
                    .orElseGet(JsonObject::new);
            Map<Place, Grant> groups = new TreeMap<>();
            for (Map.Entry<String, JsonElement> entry : all.entrySet()) {
                Grant grant = Grant.read(entry.getValue().getAsJsonObject());
                Place.parse(entry.getKey()).ifPresent(place -> groups.put(place, grant));
            }
            return new Grants(groups);
        } catch (JsonParseException | IllegalStateException e) {
            throw unreadable(e);
        }
    }

    private static Optional<JsonElement> field(JsonObject json, String name) {
        return Optional.ofNullable(json.get(name)).filter(value -> !value.isJsonNull());
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
