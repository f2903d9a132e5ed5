package dev.siphon.node.kubernetes;

import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/// How this process reaches the Kubernetes API, and as whom.
public sealed interface ApiAccess {
    /// As the pod that it runs in.
    ///
    /// @param account the folder with the pod's `token` and the API's `ca.crt`
    record PodAccess(URI server, Path account) implements ApiAccess {}

    /// As a kubeconfig file says.
    record Kubeconfig(Path file) implements ApiAccess {}

    /// Where the kubelet puts a pod's service account ("Configure Service Accounts for Pods").
    Path ACCOUNT = Path.of("/var/run/secrets/kubernetes.io/serviceaccount");

    /// Whether `environment` is a pod's.
    static boolean isPod(Map<String, String> environment) {
        return environment.containsKey("KUBERNETES_SERVICE_HOST") && environment.containsKey("KUBERNETES_SERVICE_PORT");
    }

    /// As the pod that `environment` is of.
    ///
    /// @throws IllegalArgumentException if it is none's
    static PodAccess ofPod(Map<String, String> environment) {
        Optional<String> host = Optional.ofNullable(environment.get("KUBERNETES_SERVICE_HOST"));
        Optional<String> port = Optional.ofNullable(environment.get("KUBERNETES_SERVICE_PORT"));
        if (host.isEmpty() || port.isEmpty()) {
            throw new IllegalArgumentException(
                    "required outside a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
        }
        String name = host.get().contains(":") ? "[" + host.get() + "]" : host.get();
        return new PodAccess(URI.create("https://" + name + ":" + port.get()), ACCOUNT);
    }
}
