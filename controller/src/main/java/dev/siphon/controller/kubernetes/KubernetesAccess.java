package dev.siphon.controller.kubernetes;

import dev.siphon.csi.QuotedText;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;

/// Which Kubernetes the driver belongs to, and where it is there. Holds no secret: the kubeconfig is read when
/// it is used.
///
/// @param namespace the driver's own, where the keys of volumes are Secrets and grants a ConfigMap
/// @param kubeconfig how to reach the API server; empty for the service account of the pod that this process is
///     in
public record KubernetesAccess(String namespace, Optional<Path> kubeconfig) {
    /// The name of a namespace (Kubernetes, "Object Names and IDs": RFC 1123 label).
    private static final Pattern NAMESPACE = Pattern.compile("[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?");

    /// @throws IllegalArgumentException if `namespace` can be no namespace, or the kubeconfig cannot be read
    public KubernetesAccess {
        if (!NAMESPACE.matcher(namespace).matches()) {
            throw new IllegalArgumentException(QuotedText.of(namespace)
                    + " is no namespace: expected at most 63 lower-case letters, digits and '-'");
        }
        kubeconfig.filter(file -> !Files.isReadable(file)).ifPresent(file -> {
            throw new IllegalArgumentException("the kubeconfig cannot be read: " + file);
        });
    }

    /// Looks whether this says how to reach an API server, and asks none.
    ///
    /// @throws IllegalArgumentException if the kubeconfig is none or has no current context, or there is none and
    ///     this process is in no pod
    public void check() {
        var _ = Connection.config(this);
    }
}
