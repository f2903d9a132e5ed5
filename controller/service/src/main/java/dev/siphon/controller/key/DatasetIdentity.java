package dev.siphon.controller.key;

import dev.siphon.controller.volume.CephNames;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A cephx identity that reads a dataset. All claims of the dataset share the key of
/// `siphon-dataset.FS.DATASET.CLUSTERUID`; `siphon-dataset.FS.DATASET.CLUSTERUID.N.NODE` belongs to one node.
/// Without Kubernetes there is no CLUSTERUID. N is an attempt number: a new one while the last is being revoked.
///
/// @param dataset the dataset's short name, see [dev.siphon.controller.volume.CephNames#dataset]
/// @param owner the Kubernetes cluster that it was created for, see
///     [dev.siphon.controller.volume.CephNames#owner]. Several clusters may declare one dataset; each removes
///     only its own identities. Empty without Kubernetes, and for identities of older controllers
/// @param node the node that owns it; empty if all nodes share it
public record DatasetIdentity(String fileSystem, String dataset, Optional<String> owner, Optional<AtNode> node) {
    /// The prefix of all dataset identities; no volume's identity has it.
    public static final String PREFIX = "siphon-dataset.";

    /// How many identities a node may have for one dataset: one in use, the others being revoked.
    public static final int ATTEMPTS = 9;

    /// The node's name may contain dots, so it comes last.
    private static final Pattern BEHIND_FILE_SYSTEM =
            Pattern.compile("([0-9a-v]+)(?:\\.(k[0-9a-v]{9}))?(?:\\.([1-9])\\.([A-Za-z0-9][A-Za-z0-9._-]*))?");

    /// Nodes accept identity ids of at most 128 characters, so longer node names are cut.
    private static final int LONGEST_NAME = 48;

    /// A node's own identity.
    ///
    /// @param name the node's name, as [#nameOf] writes it
    /// @param attempt from 1 to [#ATTEMPTS]
    public record AtNode(String name, int attempt) {}

    /// Returns a node's name as used in ids: a long name is cut and ends with a digest.
    public static String nameOf(String node) {
        if (node.length() <= LONGEST_NAME) {
            return node;
        }
        String digest = CephNames.node(node);
        return node.substring(0, LONGEST_NAME - digest.length() - 1) + "_" + digest;
    }

    /// Returns the identity's id, without `client.`.
    public String userId() {
        return allOf(fileSystem, dataset)
                + owner.map(of -> "." + of).orElse("")
                + node.map(at -> "." + at.attempt() + "." + at.name()).orElse("");
    }

    /// Returns the common prefix of the ids of a dataset's identities.
    public static String allOf(String fileSystem, String dataset) {
        return PREFIX + fileSystem + "." + dataset;
    }

    /// Parses an id; empty if it is no dataset's identity of that file system.
    public static Optional<DatasetIdentity> parse(String fileSystem, String userId) {
        String begin = PREFIX + fileSystem + ".";
        if (!userId.startsWith(begin)) {
            return Optional.empty();
        }
        Matcher rest = BEHIND_FILE_SYSTEM.matcher(userId.substring(begin.length()));
        return rest.matches()
                ? Optional.of(new DatasetIdentity(
                        fileSystem,
                        rest.group(1),
                        Optional.ofNullable(rest.group(2)),
                        Optional.ofNullable(rest.group(4))
                                .map(name -> new AtNode(name, Integer.parseInt(rest.group(3))))))
                : Optional.empty();
    }
}
