package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.controller.ceph.CephLab;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/// A real API server; SIPHON_TEST_KUBECONFIG names its administrator's kubeconfig.
final class KubernetesLab {
    private static final String VARIABLE = "SIPHON_TEST_KUBECONFIG";

    /// Contains the RBAC rules of the driver's service account.
    private static final Path MANUAL = Path.of("..", "..", "docs", "reference", "objects.md");

    private static final Path DATASETS = template("datasets.yaml");
    private static final Path ACCESSES = template("datasetaccesses.yaml");
    private static final Path NAMESPACES = template("namespaceaccesses.yaml");
    private static final Path ROOK = template("rook.yaml");
    private static final Path REPLICAS = template("datasetreplicas.yaml");
    private static final Path WARMUPS = template("datasetwarmups.yaml");

    private static final String SERVICE_ACCOUNT = "siphon-controller";

    private KubernetesLab() {}

    private static Path template(String name) {
        return Path.of("..", "..", "deploy", "chart", "templates", name);
    }

    /// Returns the real cluster, with a driver that has exactly the rights in docs/reference/objects.md.
    ///
    /// @param folder for the driver's kubeconfig
    static TestCluster start(Path folder) {
        return start(folder, true);
    }

    /// Returns the same with a driver without any rights.
    static TestCluster startWithoutRules(Path folder) {
        return start(folder, false);
    }

    private static TestCluster start(Path folder, boolean rules) {
        Path kubeconfig = Path.of(Optional.ofNullable(System.getenv(VARIABLE))
                .orElseThrow(() -> new IllegalStateException(VARIABLE + " must name the kubeconfig of a Kubernetes")));
        KubernetesAccess asAdmin = new KubernetesAccess("default", Optional.of(kubeconfig));
        KubernetesClient admin = Connection.open(asAdmin, TestCluster.PATIENT);
        String namespace = "siphon-test-" + UUID.randomUUID();
        admin.namespaces()
                .resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(namespace)
                        .endMetadata()
                        .build())
                .create();
        List<HasMetadata> made = rules ? makeRules(admin, namespace) : List.of();
        makeAccount(admin, namespace);
        Path own = TestCluster.kubeconfig(folder.resolve("kubeconfig"), cluster(asAdmin), token(admin, namespace));
        return new TestCluster(admin, new KubernetesAccess(namespace, Optional.of(own)), () -> {
            try (KubernetesClient last = Connection.open(asAdmin, TestCluster.PATIENT)) {
                made.forEach(each -> last.resource(each).delete());
                last.namespaces().withName(namespace).delete();
            }
        });
    }

    /// Waits up to `limit` until the API server serves.
    static void awaitApi(TestCluster cluster, Duration limit) {
        CephLab.await(limit, () -> {
            try {
                return "ok".equals(cluster.admin().raw("/readyz"));
            } catch (KubernetesClientException notYet) {
                return false;
            }
        });
    }

    private static void makeAccount(KubernetesClient admin, String namespace) {
        admin.serviceAccounts()
                .inNamespace(namespace)
                .resource(new ServiceAccountBuilder()
                        .withNewMetadata()
                        .withName(SERVICE_ACCOUNT)
                        .endMetadata()
                        .build())
                .create();
    }

    private static String token(KubernetesClient admin, String namespace) {
        String request = "{\"apiVersion\": \"authentication.k8s.io/v1\", \"kind\": \"TokenRequest\", \"spec\": {}}";
        String path = "/api/v1/namespaces/" + namespace + "/serviceaccounts/" + SERVICE_ACCOUNT + "/token";
        return JsonParser.parseString(admin.raw(path, "POST", request))
                .getAsJsonObject()
                .getAsJsonObject("status")
                .get("token")
                .getAsString();
    }

    /// Returns the cluster part of the administrator's kubeconfig.
    private static JsonObject cluster(KubernetesAccess access) {
        var config = Connection.config(access);
        JsonObject cluster = new JsonObject();
        cluster.addProperty("server", config.getMasterUrl());
        Optional.ofNullable(config.getCaCertData())
                .ifPresent(data -> cluster.addProperty("certificate-authority-data", data));
        Optional.ofNullable(config.getCaCertFile())
                .ifPresent(file -> cluster.addProperty("certificate-authority", file));
        if (config.isTrustCerts()) {
            cluster.addProperty("insecure-skip-tls-verify", true);
        }
        return cluster;
    }

    /// Creates the manual's rules in this namespace. Cluster-wide objects are named after it, so that concurrent
    /// tests do not conflict.
    private static List<HasMetadata> makeRules(KubernetesClient admin, String namespace) {
        String text = manual().replace("name: " + SERVICE_ACCOUNT + "-cluster", "name: " + namespace)
                .replace("namespace: siphon", "namespace: " + namespace);
        List<HasMetadata> made = new ArrayList<>();
        for (String document : text.split("(?m)^---$", -1)) {
            GenericKubernetesResource rule =
                    admin.getKubernetesSerialization().unmarshal(document, GenericKubernetesResource.class);
            made.add(admin.resource(rule).create());
        }
        return made;
    }

    /// Lets the driver read Rook's monitors, through the chart's rule.
    static void applyRookRule(TestCluster cluster, String rookNamespace) {
        String rules = text(ROOK)
                .lines()
                .filter(line -> !line.startsWith("{{"))
                .collect(Collectors.joining("\n"))
                .replace("{{ . }}", rookNamespace)
                .replace("{{ $.Release.Namespace }}", cluster.access().namespace());
        KubernetesClient admin = cluster.admin();
        for (String rule : rules.split("(?m)^---$", -1)) {
            var _ = admin.resource(admin.getKubernetesSerialization().unmarshal(rule, GenericKubernetesResource.class))
                    .create();
        }
    }

    /// Creates the chart's custom resource for datasets if it is missing, and waits until it is served.
    static void serveDatasets(KubernetesClient admin) {
        serve(admin, DATASETS);
    }

    /// Deletes it again, so that an installation starts without it.
    static void endDatasets(KubernetesClient admin) {
        end(admin, DATASETS);
    }

    /// Creates the custom resource for nodes' questions likewise.
    static void serveAccesses(KubernetesClient admin) {
        serve(admin, ACCESSES);
    }

    static void endAccesses(KubernetesClient admin) {
        end(admin, ACCESSES);
    }

    /// Creates the custom resources for replicas and warmups likewise.
    static void serveReplicas(KubernetesClient admin) {
        serve(admin, REPLICAS);
        serve(admin, WARMUPS);
    }

    static void endReplicas(KubernetesClient admin) {
        end(admin, REPLICAS);
        end(admin, WARMUPS);
    }

    /// Creates the custom resource for namespace access likewise.
    static void serveNamespaceAccess(KubernetesClient admin) {
        serve(admin, NAMESPACES);
    }

    static void endNamespaceAccess(KubernetesClient admin) {
        end(admin, NAMESPACES);
    }

    private static void serve(KubernetesClient admin, Path file) {
        GenericKubernetesResource definition = definition(admin, file);
        var _ = admin.resource(definition).serverSideApply();
        var _ = admin.resource(definition)
                .waitUntilCondition(
                        made -> String.valueOf(made.getAdditionalProperties().get("status"))
                                .contains("Established, "),
                        TestCluster.PATIENT.toSeconds(),
                        TimeUnit.SECONDS);
    }

    private static void end(KubernetesClient admin, Path file) {
        GenericKubernetesResource definition = definition(admin, file);
        var _ = admin.resource(definition).delete();
        // a resource under deletion is served for a while, and could be mistaken for an existing one
        var _ = admin.resource(definition)
                .waitUntilCondition(Objects::isNull, TestCluster.PATIENT.toSeconds(), TimeUnit.SECONDS);
    }

    private static GenericKubernetesResource definition(KubernetesClient admin, Path file) {
        return admin.getKubernetesSerialization().unmarshal(text(file), GenericKubernetesResource.class);
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String manual() {
        String text = text(MANUAL);
        int named = text.indexOf("metadata: {name: " + SERVICE_ACCOUNT);
        int begin = text.lastIndexOf("apiVersion: rbac.authorization.k8s.io/v1", named);
        int end = text.indexOf("```", begin);
        if (begin < 0 || end < 0) {
            throw new IllegalStateException(MANUAL + " has no rules for the service account");
        }
        return text.substring(begin, end);
    }
}
