package dev.siphon.controller.kubernetes;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.jdkhttp.JdkHttpClientFactory;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/// Creates clients of an API server. From the process environment it takes only what Kubernetes puts there: the
/// service account's files and the address.
final class Connection {
    /// Kubernetes, "Accessing the Kubernetes API from a Pod".
    private static final Path SERVICE_ACCOUNT = Path.of("/var/run/secrets/kubernetes.io/serviceaccount");

    private static final String HOST = "KUBERNETES_SERVICE_HOST";
    private static final String PORT = "KUBERNETES_SERVICE_PORT";

    private Connection() {}

    /// Creates a client, which connects at its first request.
    ///
    /// @param patience deadline of one request; the client does not retry
    /// @throws IllegalArgumentException as [#config]
    static KubernetesClient open(KubernetesAccess access, Duration patience) {
        Config config = config(access);
        int millis = Math.toIntExact(patience.toMillis());
        config.setRequestTimeout(millis);
        config.setConnectionTimeout(millis);
        config.setRequestRetryBackoffLimit(0);
        // With HTTP/2 all requests share one connection, and one whose packets are dropped stays in use for
        // minutes.
        config.setHttp2Disable(true);
        return new KubernetesClientBuilder()
                .withConfig(config)
                .withHttpClientFactory(new JdkHttpClientFactory())
                // otherwise the first reply loads the classes of all resource kinds
                .withKubernetesSerialization(new KubernetesSerialization(new ObjectMapper(), false))
                .build();
    }

    /// @throws IllegalArgumentException if no API server is configured; its message quotes no kubeconfig
    static Config config(KubernetesAccess access) {
        return access.kubeconfig().map(Connection::fromFile).orElseGet(Connection::fromPod);
    }

    private static Config fromFile(Path kubeconfig) {
        Config config;
        try {
            config = Config.fromKubeconfig(kubeconfig.toFile());
        } catch (RuntimeException _) {
            // several libraries parse it, and their exceptions quote it, tokens included
            throw new IllegalArgumentException("not a valid kubeconfig: " + kubeconfig);
        }
        if (config.getCurrentContext() == null) {
            throw new IllegalArgumentException("the kubeconfig has no current context: " + kubeconfig);
        }
        return config;
    }

    private static Config fromPod() {
        String host = Optional.ofNullable(System.getenv(HOST)).orElse("");
        String port = Optional.ofNullable(System.getenv(PORT)).orElse("");
        Path token = SERVICE_ACCOUNT.resolve("token");
        if (host.isEmpty() || port.isEmpty() || !Files.isReadable(token)) {
            throw new IllegalArgumentException(
                    "this process is not in a pod with a service account: give --kubeconfig as well");
        }
        Config config = Config.empty();
        config.setMasterUrl("https://" + (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port);
        config.setCaCertFile(SERVICE_ACCOUNT.resolve("ca.crt").toString());
        // the kubelet rotates the token every hour
        config.setOauthTokenProvider(() -> read(token));
        return config;
    }

    private static String read(Path token) {
        try {
            return Files.readString(token).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
