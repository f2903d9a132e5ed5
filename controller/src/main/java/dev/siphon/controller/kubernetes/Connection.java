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

/// Makes clients of an API server. Nothing is taken from the environment of the process but what Kubernetes
/// itself puts there: the service account's files and the address.
final class Connection {
    /// Kubernetes, "Accessing the Kubernetes API from a Pod".
    private static final Path SERVICE_ACCOUNT = Path.of("/var/run/secrets/kubernetes.io/serviceaccount");

    private static final String HOST = "KUBERNETES_SERVICE_HOST";
    private static final String PORT = "KUBERNETES_SERVICE_PORT";

    private Connection() {}

    /// A client; it connects when it is asked something.
    ///
    /// @param patience how long one request may take; none is made twice
    /// @throws IllegalArgumentException as [#config]
    static KubernetesClient open(KubernetesAccess access, Duration patience) {
        Config config = config(access);
        int millis = Math.toIntExact(patience.toMillis());
        config.setRequestTimeout(millis);
        config.setConnectionTimeout(millis);
        config.setRequestRetryBackoffLimit(0);
        // With HTTP/2 all requests share one connection, and one whose packets are dropped stays in use for minutes.
        config.setHttp2Disable(true);
        return new KubernetesClientBuilder()
                .withConfig(config)
                .withHttpClientFactory(new JdkHttpClientFactory())
                // or each kind of object that there is would be loaded to understand one answer
                .withKubernetesSerialization(new KubernetesSerialization(new ObjectMapper(), false))
                .build();
    }

    /// @throws IllegalArgumentException if there is no way to an API server; its message quotes no kubeconfig
    static Config config(KubernetesAccess access) {
        return access.kubeconfig().map(Connection::fromFile).orElseGet(Connection::fromPod);
    }

    private static Config fromFile(Path kubeconfig) {
        Config config;
        try {
            config = Config.fromKubeconfig(kubeconfig.toFile());
        } catch (RuntimeException _) {
            // several libraries read it, each with exceptions of its own, which quote it, tokens included
            throw new IllegalArgumentException("is no kubeconfig: " + kubeconfig);
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
                    "this process is in no pod with a service account: say --kubeconfig as well");
        }
        Config config = Config.empty();
        config.setMasterUrl("https://" + (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port);
        config.setCaCertFile(SERVICE_ACCOUNT.resolve("ca.crt").toString());
        // the kubelet writes another one every hour
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
