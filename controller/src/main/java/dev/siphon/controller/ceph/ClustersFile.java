package dev.siphon.controller.ceph;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import dev.siphon.controller.ceph.rados.ClusterAccess;
import dev.siphon.csi.Quoted;
import dev.siphon.csi.VolumeId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/// The file that lists the Ceph clusters:
///
/// ```json
/// {"clusters": [{"id": "lab", "monitors": ["10.1.1.1", "[v2:10.1.1.2:3300/0,v1:10.1.1.2:6789/0]"],
///                "user": "siphon", "keyringFile": "/etc/ceph/keyring", "default": true}]}
/// ```
///
/// @param clusters at least one, ids differ
/// @param defaultCluster the id of the one marked `default`, or of the only one
public record ClustersFile(List<ClusterAccess> clusters, Optional<String> defaultCluster) {
    private static final Set<String> KEYS = Set.of("id", "monitors", "user", "keyringFile", "default");
    private static final String HOST = "([A-Za-z0-9][A-Za-z0-9.-]*|\\[[0-9A-Fa-f:]+\\])";
    private static final String ADDRESS = "v[12]:" + HOST + ":[0-9]{1,5}(/[0-9]+)?";
    private static final Pattern MONITOR =
            Pattern.compile(HOST + "(:[0-9]{1,5})?|" + ADDRESS + "|\\[" + ADDRESS + "(," + ADDRESS + ")*\\]");
    private static final Pattern USER = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]*");

    public ClustersFile {
        clusters = List.copyOf(clusters);
    }

    /// Says what is wrong with a clusters file, all of it at once.
    public static final class Invalid extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Invalid(Path file, List<String> errors) {
            super("clusters file " + file + ": " + String.join("; ", errors));
        }
    }

    /// Reads the file.
    ///
    /// @throws Invalid if it cannot be read, or anything in it is wrong
    public static ClustersFile read(Path file) {
        try {
            return parse(file, Files.readString(file));
        } catch (IOException e) {
            throw new Invalid(file, List.of("cannot be read: " + e));
        }
    }

    /// Reads the text of a file.
    ///
    /// @throws Invalid if anything in it is wrong
    static ClustersFile parse(Path file, String text) {
        Reader reader = new Reader();
        List<ClusterAccess> clusters = reader.clusters(text);
        if (!reader.errors.isEmpty()) {
            throw new Invalid(file, reader.errors);
        }
        Optional<String> only =
                clusters.size() == 1 ? Optional.of(clusters.getFirst().cluster()) : Optional.empty();
        return new ClustersFile(clusters, reader.marked.stream().findFirst().or(() -> only));
    }

    /// Goes through the tree and collects what is wrong.
    private static final class Reader {
        private final List<String> errors = new ArrayList<>();
        private final List<String> marked = new ArrayList<>();
        private final Set<String> ids = new HashSet<>();

        List<ClusterAccess> clusters(String text) {
            List<ClusterAccess> result = new ArrayList<>();
            JsonArray array = root(text);
            for (int i = 0; i < array.size(); i++) {
                String where = "clusters[" + i + "]";
                if (array.get(i) instanceof JsonObject object) {
                    cluster(where, object).ifPresent(result::add);
                } else {
                    errors.add(where + " must be an object");
                }
            }
            if (marked.size() > 1) {
                errors.add("default is set on more than one cluster: " + String.join(", ", marked));
            }
            return result;
        }

        private JsonArray root(String text) {
            try {
                if (JsonParser.parseString(text) instanceof JsonObject root
                        && root.get("clusters") instanceof JsonArray array
                        && !array.isEmpty()) {
                    return array;
                }
                errors.add("must be an object with a list \"clusters\" of at least one");
            } catch (JsonParseException e) {
                errors.add("is not JSON: " + e.getMessage());
            }
            return new JsonArray();
        }

        private Optional<ClusterAccess> cluster(String where, JsonObject object) {
            int before = errors.size();
            for (String key : object.keySet()) {
                check(KEYS.contains(key), where + "." + key + " is not known: expected " + sorted(KEYS));
            }
            String id = text(where, object, "id");
            check(
                    id.isEmpty() || VolumeId.Part.CLUSTER.fits(id),
                    where + ".id must match " + VolumeId.Part.CLUSTER.form());
            check(id.isEmpty() || ids.add(id), where + ".id " + Quoted.of(id) + " is there twice");
            String user = text(where, object, "user");
            check(
                    user.isEmpty() || (USER.matcher(user).matches() && !user.startsWith("client.")),
                    where + ".user must be a cephx user without \"client.\"");
            String keyring = text(where, object, "keyringFile");
            check(keyring.isEmpty() || keyring.startsWith("/"), where + ".keyringFile must be an absolute path");
            List<String> monitors = monitors(where, object);
            readDefault(where, object, id);
            return errors.size() == before
                    ? Optional.of(new ClusterAccess(id, monitors, user, Path.of(keyring)))
                    : Optional.empty();
        }

        private List<String> monitors(String where, JsonObject object) {
            List<String> monitors = new ArrayList<>();
            if (!(object.get("monitors") instanceof JsonArray array) || array.isEmpty()) {
                errors.add(where + ".monitors must be a list of at least one address");
                return monitors;
            }
            for (int i = 0; i < array.size(); i++) {
                String monitor = string(array.get(i)).orElse("");
                check(
                        MONITOR.matcher(monitor).matches(),
                        where + ".monitors[" + i + "] must be HOST, HOST:PORT or [v2:HOST:PORT/0,v1:HOST:PORT/0]");
                monitors.add(monitor);
            }
            return monitors;
        }

        private void readDefault(String where, JsonObject object, String id) {
            JsonElement value = object.get("default");
            if (value instanceof JsonPrimitive primitive && primitive.isBoolean()) {
                if (primitive.getAsBoolean()) {
                    marked.add(id);
                }
            } else {
                check(value == null, where + ".default must be true or false");
            }
        }

        private String text(String where, JsonObject object, String key) {
            String value = string(object.get(key)).orElse("");
            check(!value.isEmpty(), where + "." + key + " must be a string that is not empty");
            return value;
        }

        private static Optional<String> string(@org.jspecify.annotations.Nullable JsonElement element) {
            return element instanceof JsonPrimitive primitive && primitive.isString()
                    ? Optional.of(primitive.getAsString())
                    : Optional.empty();
        }

        private void check(boolean holds, String error) {
            if (!holds) {
                errors.add(error);
            }
        }

        private static String sorted(Set<String> keys) {
            return String.join(", ", keys.stream().sorted().toList());
        }
    }
}
