package dev.siphon.controller.key;

import dev.siphon.controller.volume.CephNames;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A cephx identity that reads a dataset. `siphon-dataset.FS.DATASET.OWNER` is the one whose key the volumes of
/// claims have copies of; `siphon-dataset.FS.DATASET.OWNER.SLOT.NODE` is one node's alone. Without Kubernetes
/// there is no OWNER.
///
/// @param dataset a short name for it, see [dev.siphon.controller.volume.CephNames#dataset]
/// @param owner the Kubernetes cluster that it was made for, see [dev.siphon.controller.volume.CephNames#owner]:
///     several may declare one dataset, and each removes its own identities alone. Empty without Kubernetes, and
///     of what a controller of before made
/// @param node whose it is; empty if all nodes share it
public record DatasetIdentity(String fileSystem, String dataset, Optional<String> owner, Optional<AtNode> node) {
    /// How they all begin: like no volume's.
    public static final String PREFIX = "siphon-dataset.";

    /// How many identities a node may have for one dataset: one is in use, and others are being revoked.
    public static final int SLOTS = 9;

    /// A node's name may have dots, so it comes last.
    private static final Pattern BEHIND_FILE_SYSTEM =
            Pattern.compile("([0-9a-v]+)(?:\\.(k[0-9a-v]{9}))?(?:\\.([1-9])\\.([A-Za-z0-9][A-Za-z0-9._-]*))?");

    /// Nodes take ids of 128 characters at most.
    private static final int LONGEST_NAME = 48;

    /// A node's identity.
    ///
    /// @param name the node's, as [#nameOf] writes it
    /// @param slot from 1 to [#SLOTS]
    public record AtNode(String name, int slot) {}

    /// A node's name as it stands in ids: a long one is cut and ends with a digest.
    public static String nameOf(String node) {
        if (node.length() <= LONGEST_NAME) {
            return node;
        }
        String digest = CephNames.node(node);
        return node.substring(0, LONGEST_NAME - digest.length() - 1) + "_" + digest;
    }

    /// The identity's id, without `client.`.
    public String userId() {
        return allOf(fileSystem, dataset)
                + owner.map(of -> "." + of).orElse("")
                + node.map(at -> "." + at.slot() + "." + at.name()).orElse("");
    }

    /// How the ids of all identities of a dataset begin.
    public static String allOf(String fileSystem, String dataset) {
        return PREFIX + fileSystem + "." + dataset;
    }

    /// Which dataset's identity an id is; empty if it is none of that file system's.
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
