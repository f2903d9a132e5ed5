package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Optional;

/// A Kubernetes cluster for tests.
///
/// @param admin has all rights
/// @param access the driver's access, with its own namespace
/// @param stop removes what the test created
public record TestCluster(KubernetesClient admin, KubernetesAccess access, Runnable stop) implements AutoCloseable {
    /// Longer than anything takes on a busy machine.
    static final Duration PATIENT = Duration.ofSeconds(20);

    private static final String IN_MEMORY = "siphon";

    /// Returns a cluster in memory.
    ///
    /// @param folder for its kubeconfig
    public static TestCluster inMemory(Path folder) {
        return inMemory(folder, new InMemoryApiServer());
    }

    /// Returns the same over a server that the test inspects.
    static TestCluster inMemory(Path folder, InMemoryApiServer server) {
        JsonObject cluster = new JsonObject();
        cluster.addProperty("server", server.url());
        KubernetesAccess access =
                new KubernetesAccess(IN_MEMORY, Optional.of(kubeconfig(folder.resolve("kubeconfig"), cluster, "any")));
        KubernetesClient admin = Connection.open(access, PATIENT);
        TestCluster started = new TestCluster(admin, access, server::close);
        started.createNamespace(IN_MEMORY);
        return started;
    }

    void createNamespace(String name) {
        var _ = admin.namespaces()
                .resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .endMetadata()
                        .build())
                .create();
    }

    /// Writes a kubeconfig.
    ///
    /// @param cluster its cluster entry
    public static Path kubeconfig(Path file, JsonObject cluster, String token) {
        String text = """
                {"apiVersion": "v1", "kind": "Config", "current-context": "it",
                 "clusters": [{"name": "it", "cluster": %s}],
                 "users": [{"name": "it", "user": {"token": "%s"}}],
                 "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}]}
                """.formatted(cluster, token);
        try {
            if (!Files.exists(file)) {
                Files.createFile(
                        file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            }
            return Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Opens the adapter like a process of the driver.
    KubernetesAdapter adapter() {
        return KubernetesAdapter.open(access, "cephfs.siphon.dev", () -> PATIENT);
    }

    @Override
    public void close() {
        admin.close();
        stop.run();
    }
}
