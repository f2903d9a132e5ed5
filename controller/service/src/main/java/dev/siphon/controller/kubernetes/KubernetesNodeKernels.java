package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.key.NodeKernels;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.csi.KernelKeys;
import java.util.ArrayList;
import java.util.List;

/// What nodes' kernels can use, by the status of the node plugin's pods. Their init container [#INIT] ends with it as
/// its termination message. Only the kubelet of a pod's node may write this status.
final class KubernetesNodeKernels implements NodeKernels {
    private static final String INIT = "kernel";

    private static final Keep PARTS = Keep.of(
            "spec.nodeName",
            "status.initContainerStatuses.name",
            "status.initContainerStatuses.state.terminated.message");

    private final KubernetesApi api;

    KubernetesNodeKernels(KubernetesApi api) {
        this.api = api;
    }

    /// Lists, since a node's answer changes only when it boots.
    @Override
    public List<NodeKernel> all() {
        List<NodeKernel> all = new ArrayList<>();
        String path = "api/v1/namespaces/" + api.namespace() + "/pods?limit=100&labelSelector="
                + "app.kubernetes.io%2Fname%3Dsiphon%2Capp.kubernetes.io%2Fcomponent%3Dnode";
        boolean _ = ObjectParts.list(
                api,
                "list Pods in namespace " + api.namespace(),
                path,
                PARTS,
                pod -> JsonParts.text(pod.kept(), "spec", "nodeName")
                        .map(node -> kernel(node, pod.kept()))
                        .ifPresent(all::add));
        return all;
    }

    private static NodeKernel kernel(String node, JsonObject pod) {
        return new NodeKernel(
                node,
                JsonParts.each(pod, "status", "initContainerStatuses")
                        .filter(init -> JsonParts.text(init, "name")
                                .filter(INIT::equals)
                                .isPresent())
                        .flatMap(init -> JsonParts.text(init, "state", "terminated", "message").stream())
                        .flatMap(words -> KernelKeys.parse(words).stream())
                        .findFirst());
    }
}
