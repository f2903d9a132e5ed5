package dev.siphon.controller.ceph;

import dev.siphon.controller.ceph.rados.ClusterAccess;
import dev.siphon.controller.config.JsonFile;
import dev.siphon.controller.config.JsonObjectReader;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeId;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
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
/// A Rook cluster has `"rook": "NAMESPACE"` instead of the monitors. If it lists both, its monitors apply until
/// Rook's are readable.
///
/// @param clusters at least one, with unique ids
/// @param defaultCluster the id of the cluster marked `default`, or of the only one
/// @param rook Rook's namespace by cluster id, for clusters whose monitors Rook moves
public record ClustersFile(List<ClusterAccess> clusters, Optional<String> defaultCluster, Map<String, String> rook) {
    private static final Set<String> KEYS = Set.of("id", "monitors", "rook", "user", "keyringFile", "default");
    private static final JsonFile FILE = new JsonFile("clusters file", Set.of("clusters"));
    private static final String HOST = "([A-Za-z0-9][A-Za-z0-9.-]*|\\[[0-9A-Fa-f:]+\\])";
    private static final String ADDRESS = "v[12]:" + HOST + ":[0-9]{1,5}(/[0-9]+)?";
    private static final Pattern MONITOR =
            Pattern.compile(HOST + "(:[0-9]{1,5})?|" + ADDRESS + "|\\[" + ADDRESS + "(," + ADDRESS + ")*\\]");
    /// Same as in [dev.siphon.controller.kubernetes.KubernetesAccess].
    private static final Pattern NAMESPACE = Pattern.compile("[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?");

    private static final Pattern USER = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]*");

    public ClustersFile {
        clusters = List.copyOf(clusters);
        rook = Map.copyOf(rook);
    }

    /// Creates the list for clusters whose monitors do not move.
    public ClustersFile(List<ClusterAccess> clusters, Optional<String> defaultCluster) {
        this(clusters, defaultCluster, Map.of());
    }

    /// Returns a copy in which some clusters have other monitors.
    ///
    /// @param monitors the new monitors by cluster id
    public ClustersFile at(Map<String, List<String>> monitors) {
        return new ClustersFile(
                clusters.stream()
                        .map(each -> each.at(monitors.getOrDefault(each.cluster(), each.monitors())))
                        .toList(),
                defaultCluster,
                rook);
    }

    /// Reads the file.
    ///
    /// @throws JsonFile.Invalid if the file cannot be read or has any error
    public static ClustersFile read(Path file) {
        return FILE.read(file, ClustersFile::of);
    }

    /// Parses the text of a file.
    ///
    /// @throws JsonFile.Invalid if the text has any error
    static ClustersFile parse(Path file, String text) {
        return FILE.parse(file, text, ClustersFile::of);
    }

    private static ClustersFile of(JsonObjectReader root) {
        List<ClusterAccess> clusters = new ArrayList<>();
        Set<String> ids = new HashSet<>();
        List<String> marked = new ArrayList<>();
        Map<String, String> rook = new HashMap<>();
        for (JsonObjectReader fields : root.objects("clusters", KEYS)) {
            ClusterAccess cluster = cluster(fields);
            clusters.add(cluster);
            if (!cluster.cluster().isEmpty() && !ids.add(cluster.cluster())) {
                fields.wrong("id", QuotedText.of(cluster.cluster()) + " is there twice");
            }
            if (fields.flag("default")) {
                marked.add(cluster.cluster());
            }
            rookNamespace(fields).ifPresent(namespace -> rook.put(cluster.cluster(), namespace));
        }
        if (clusters.isEmpty()) {
            root.wrong("clusters", "must be a list of at least one cluster");
        }
        if (marked.size() > 1) {
            root.wrong("default", "is set on more than one cluster: " + String.join(", ", marked));
        }
        Optional<String> only =
                clusters.size() == 1 ? Optional.of(clusters.getFirst().cluster()) : Optional.empty();
        return new ClustersFile(clusters, marked.stream().findFirst().or(() -> only), rook);
    }

    private static ClusterAccess cluster(JsonObjectReader fields) {
        return new ClusterAccess(
                fields.need("id", "", "", ClustersFile::id),
                monitors(fields),
                fields.need("user", "", "", ClustersFile::user),
                fields.need("keyringFile", "", Path.of("/"), JsonObjectReader::absolute));
    }

    private static List<String> monitors(JsonObjectReader fields) {
        List<String> monitors = fields.texts("monitors");
        if (monitors.isEmpty() && fields.text("rook").isEmpty()) {
            fields.wrong("monitors", "must be a list of at least one address; or \"rook\" names Rook's namespace");
        }
        for (int i = 0; i < monitors.size(); i++) {
            if (!MONITOR.matcher(monitors.get(i)).matches()) {
                fields.wrong("monitors[" + i + "]", "must be HOST, HOST:PORT or [v2:HOST:PORT/0,v1:HOST:PORT/0]");
            }
        }
        return monitors;
    }

    private static Optional<String> rookNamespace(JsonObjectReader fields) {
        return fields.text("rook").filter(namespace -> {
            boolean fits = NAMESPACE.matcher(namespace).matches();
            if (!fits) {
                fields.wrong(
                        "rook",
                        "must be the namespace of Rook's cluster, but " + QuotedText.of(namespace)
                                + " is not a namespace");
            }
            return fits;
        });
    }

    private static String id(String text) {
        if (!VolumeId.Part.CLUSTER.fits(text)) {
            throw new IllegalArgumentException("must match " + VolumeId.Part.CLUSTER.form());
        }
        return text;
    }

    /// Returns the name of a cephx user if the file accepts it.
    ///
    /// @throws IllegalArgumentException if the form is wrong; the message states the right one
    public static String user(String text) {
        if (!USER.matcher(text).matches() || text.startsWith("client.")) {
            throw new IllegalArgumentException(
                    "must be a cephx user without \"client.\", of letters, digits, '.', '_' and '-'");
        }
        return text;
    }
}
