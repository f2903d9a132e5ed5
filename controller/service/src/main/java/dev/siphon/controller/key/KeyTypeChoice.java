package dev.siphon.controller.key;

import dev.siphon.controller.key.NodeKernels.NodeKernel;
import dev.siphon.csi.KernelKeys;
import java.util.List;
import java.util.Optional;

/// The type of a cluster's new keys.
///
/// @param requested the type to request; empty for the cluster's default, which is never requested
/// @param reason why, for people; empty if an administrator has chosen
public record KeyTypeChoice(Optional<String> requested, String reason) {
    private static final String AES = "aes";
    private static final String AES256K = "aes256k";

    /// Returns the cluster's default.
    static KeyTypeChoice ofCluster(String reason) {
        return new KeyTypeChoice(Optional.empty(), reason);
    }

    /// Chooses `aes256k` if the kernels of all nodes can use it; otherwise `aes` if the cluster makes such keys anyway;
    /// otherwise `aes256k`, with which ceph-fuse mounts. One node that cannot use it outweighs others that have not
    /// said, so that no upgrade of the nodes changes the type.
    static KeyTypeChoice byKernels(List<NodeKernel> nodes, CephCiphers ciphers) {
        List<String> unable = named(nodes, Optional.of(KernelKeys.ONLY_AES));
        List<String> silent = named(nodes, Optional.empty());
        if (nodes.isEmpty()) {
            return ofCluster("no node has a pod of siphon-node");
        }
        if (!unable.isEmpty()) {
            String why = "the kernel of " + inWords(unable) + " cannot use aes256k";
            return ciphers.makesAes()
                    ? request(AES, ciphers, why)
                    : request(
                            AES256K, ciphers, why + ", but the cluster makes no new aes keys: ceph-fuse mounts there");
        }
        return silent.isEmpty()
                ? request(AES256K, ciphers, "every node can use it")
                : ofCluster("it is not known yet what the kernel of " + inWords(silent) + " can use");
    }

    private static KeyTypeChoice request(String type, CephCiphers ciphers, String reason) {
        return ciphers.allowed().contains(type)
                ? new KeyTypeChoice(Optional.of(type).filter(each -> !each.equals(ciphers.preferred())), reason)
                : ofCluster(reason + ", but the cluster allows no " + type);
    }

    private static List<String> named(List<NodeKernel> nodes, Optional<KernelKeys> keys) {
        return nodes.stream()
                .filter(each -> each.keys().equals(keys))
                .map(NodeKernel::node)
                .distinct()
                .sorted()
                .toList();
    }

    private static String inWords(List<String> nodes) {
        return "node " + nodes.getFirst() + (nodes.size() > 1 ? " and " + (nodes.size() - 1) + " more" : "");
    }
}
