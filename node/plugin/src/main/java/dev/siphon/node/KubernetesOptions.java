package dev.siphon.node;

import dev.siphon.csi.QuotedText;
import dev.siphon.csi.server.ConfigProblems;
import dev.siphon.csi.server.ServerConfig;
import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.node.kubernetes.ApiAccess;
import dev.siphon.node.registration.KubeletPlugin;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;
import picocli.CommandLine.Option;

/// The node's optional flags for Kubernetes, for picocli's `@Mixin`.
final class KubernetesOptions {
    /// RFC 1123, "label".
    private static final Pattern NAMESPACE = Pattern.compile("[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?");

    @Option(
            names = "--kubelet-registration-dir",
            paramLabel = "DIR",
            defaultValue = "${env:SIPHON_KUBELET_REGISTRATION_DIR:-}",
            description =
                    "Register with the kubelet, which watches this directory: /var/lib/kubelet/plugins_registry as"
                            + " this process sees it (default: do not).")
    private String registrationDirectory = "";

    @Option(
            names = "--kubelet-endpoint",
            paramLabel = "URI",
            defaultValue = "${env:SIPHON_KUBELET_ENDPOINT:-}",
            description = "The CSI socket as the kubelet sees it (default: as --endpoint).")
    private String kubeletEndpoint = "";

    @Option(
            names = "--kubernetes-namespace",
            paramLabel = "NAMESPACE",
            defaultValue = "${env:SIPHON_KUBERNETES_NAMESPACE:-}",
            description = "Like --grants-file, but read the ConfigMap siphon-grants that the controller writes in this"
                    + " namespace.")
    private String namespace = "";

    @Option(
            names = "--kubeconfig",
            paramLabel = "FILE",
            defaultValue = "${env:SIPHON_KUBECONFIG:-}",
            description = "How to reach the Kubernetes API (default: as the pod's service account).")
    private String kubeconfig = "";

    /// Returns the registration with the kubelet; empty without its flag.
    ConfigProblems.ParsedValue<Optional<KubeletPlugin>> registration(
            ConfigProblems problems, ConfigProblems.ParsedValue<ServerConfig> server) {
        if (registrationDirectory.isEmpty()) {
            if (!kubeletEndpoint.isEmpty()) {
                problems.add("--kubelet-endpoint", "needs --kubelet-registration-dir");
            }
            return problems.read("--kubelet-registration-dir", Optional::empty);
        }
        var endpoint = problems.read(
                "--kubelet-endpoint",
                server,
                config -> kubeletEndpoint.isEmpty() ? config.endpoint() : UnixEndpoint.parse(kubeletEndpoint));
        return problems.read(
                "--kubelet-registration-dir",
                endpoint,
                seen -> Optional.of(KubeletPlugin.in(
                        Path.of(registrationDirectory), server.get().driverName(), seen.path())));
    }

    /// Returns the source of grants: the API, otherwise `file`, otherwise nowhere, which admits every pod.
    ConfigProblems.ParsedValue<GrantsSourceOption> grants(
            ConfigProblems problems, ConfigProblems.ParsedValue<Optional<Path>> file) {
        if (namespace.isEmpty()) {
            if (!kubeconfig.isEmpty()) {
                problems.add("--kubeconfig", "needs --kubernetes-namespace");
            }
            return problems.read(
                    "--grants-file",
                    file,
                    path -> path.<GrantsSourceOption>map(GrantsSourceOption.File::new)
                            .orElseGet(GrantsSourceOption.Nowhere::new));
        }
        var name = problems.read("--kubernetes-namespace", () -> namespace(namespace));
        var access = problems.read("--kubeconfig", this::access);
        if (file.isRead() && file.get().isPresent()) {
            problems.add("--kubernetes-namespace", "excludes --grants-file");
        }
        return problems.readIfNone(() -> new GrantsSourceOption.Api(access.get(), name.get()));
    }

    private ApiAccess access() {
        if (kubeconfig.isEmpty()) {
            return ApiAccess.ofPod(System.getenv());
        }
        Path file = Path.of(kubeconfig);
        if (!file.isAbsolute()) {
            throw new IllegalArgumentException("must be absolute: " + file);
        }
        return new ApiAccess.Kubeconfig(file);
    }

    private static String namespace(String name) {
        if (!NAMESPACE.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    QuotedText.of(name) + " must be a namespace's name: at most 63 of a-z, 0-9 and '-'");
        }
        return name;
    }
}
