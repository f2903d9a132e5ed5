package dev.siphon.e2e.kubernetes;

import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.LabLdap;
import dev.siphon.e2e.lab.Project;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/// JupyterHub as the chart of Zero to JupyterHub renders it from the example's values, with a pod whose browser logs
/// in to it.
///
/// @param tenant its namespace
/// @param browser a pod there, which runs as root and has a shell
record JupyterHub(Tenant tenant, TestPod browser) implements AutoCloseable {
    /// A group of the lab's LDAP with all its accounts.
    static final String GROUP = "everyone";

    static final int GROUP_ID = 20_003;

    private static final String NAMESPACE = "jupyterhub";
    private static final String IMAGE = "siphon.test/jupyterhub:1";
    private static final String SECRET = "passwords";
    private static final String URL = "http://proxy-public." + NAMESPACE + ":8000";
    private static final Path LAB = Project.folder().resolve("e2e/lab.d/kubernetes/jupyterhub");

    /// Installs the hub for people, each with a new password.
    ///
    /// @param datasets the two that each server shows
    static JupyterHub install(Cluster cluster, List<Tenant> people, List<SealedDataset> datasets) {
        Tenant tenant = Tenant.of(cluster, NAMESPACE, people.getFirst().number(), Map.of());
        var _ = cluster.kubectl(
                "-n", NAMESPACE, "create", "configmap", "ldap-ca", "--from-file=ca.pem=" + LabLdap.certificate());
        addPeople(cluster, people);
        apply(cluster, rendered(cluster, datasets));
        for (String each : List.of("hub", "proxy")) {
            var _ = cluster.kubectl("-n", NAMESPACE, "rollout", "status", "--timeout=120s", "deployment/" + each);
        }
        return new JupyterHub(tenant, startBrowser(tenant));
    }

    private static void addPeople(Cluster cluster, List<Tenant> people) {
        SecretBuilder passwords =
                new SecretBuilder().withNewMetadata().withName(SECRET).endMetadata();
        for (Tenant each : people) {
            String password = UUID.randomUUID().toString();
            LabLdap.setPassword(each.account(), password);
            passwords.addToStringData(each.account(), password);
            Path objects = written(
                    cluster,
                    "jupyterhub-" + each.namespace(),
                    read(Examples.path("jupyterhub-namespace.yaml"))
                            .replace("vision", GROUP)
                            .replaceAll("\\bu1\\b", each.namespace()));
            var _ = cluster.kubectl("apply", "--server-side", "--force-conflicts", "-f", objects.toString());
        }
        var _ = cluster.client()
                .secrets()
                .inNamespace(NAMESPACE)
                .resource(passwords.build())
                .create();
    }

    private static String rendered(Cluster cluster, List<SealedDataset> datasets) {
        Path values = written(
                cluster,
                "jupyterhub",
                read(Examples.path("jupyterhub.yaml"))
                        .replace("vision/imagenet-v1", datasets.getFirst().reference())
                        .replace("vision/coco-v1", datasets.getLast().reference())
                        .replace("cn=vision", "cn=" + GROUP)
                        .replace("20002", Integer.toString(GROUP_ID))
                        .replace("dc=example,dc=org", LabLdap.baseDn())
                        .replace("ldap1.example.org", LabLdap.host()));
        return Command.run(
                Chart.program("helm").toString(),
                "template",
                NAMESPACE,
                LAB.resolve("chart.tgz").toString(),
                "--namespace=" + NAMESPACE,
                "--kube-version=1.36",
                "--values=" + values,
                "--values=" + LAB.resolve("lab.yaml"),
                "--set=hub.extraPodSpec.hostAliases[0].ip=" + cluster.lab().address()
                        + ",hub.extraPodSpec.hostAliases[0].hostnames[0]=" + LabLdap.host());
    }

    private static void apply(Cluster cluster, String manifest) {
        KubernetesClient client = cluster.client();
        List<HasMetadata> objects = client.load(new ByteArrayInputStream(manifest.getBytes(StandardCharsets.UTF_8)))
                .items();
        for (HasMetadata each : objects) {
            if (each instanceof Service service) {
                // without a service proxy, only names of pods lead anywhere
                service.getSpec().setType("ClusterIP");
                service.getSpec().setClusterIP("None");
            }
            var _ = client.resource(each).inNamespace(NAMESPACE).create();
        }
    }

    private static TestPod startBrowser(Tenant tenant) {
        return tenant.pod("browser", "exec sleep 3600")
                .as(0)
                .with(spec -> spec.editFirstContainer()
                        .withImage(IMAGE)
                        .addNewEnv()
                        .withName("HOME")
                        .withValue("/tmp")
                        .endEnv()
                        .addNewVolumeMount()
                        .withName(SECRET)
                        .withMountPath("/passwords")
                        .endVolumeMount()
                        .endContainer()
                        .addNewVolume()
                        .withName(SECRET)
                        .withNewSecret()
                        .withSecretName(SECRET)
                        .endSecret()
                        .endVolume())
                .create()
                .ready();
    }

    /// Logs a person in, and runs a cell in a new notebook on that person's server.
    ///
    /// @return what the cell printed
    String runCell(Tenant person, String code) {
        return browse(person, person, "cell", code);
    }

    /// Logs a person in, and opens the page of another one's server.
    ///
    /// @return the HTTP status
    String open(Tenant person, Tenant other) {
        return browse(person, person, "other", other.account());
    }

    /// Tries to log in as a person with another one's password.
    ///
    /// @return what the page says
    String logInWith(Tenant other, Tenant person) {
        return browse(person, other, "error", "");
    }

    private String browse(Tenant person, Tenant password, String task, String argument) {
        return browser.run(
                "python3",
                "-c",
                read(LAB.resolve("browse.py")),
                URL,
                person.account(),
                "/passwords/" + password.account(),
                task,
                argument);
    }

    /// Returns whether the hub may create pods in a namespace.
    boolean mayCreatePodsIn(String namespace) {
        return tenant.cluster()
                        .tryKubectl(
                                "-n",
                                namespace,
                                "auth",
                                "can-i",
                                "create",
                                "pods",
                                "--as=system:serviceaccount:" + NAMESPACE + ":hub")
                        .exit()
                == 0;
    }

    private static Path written(Cluster cluster, String name, String text) {
        try {
            return Files.writeString(cluster.lab().run().resolve(name + ".yaml"), text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        tenant.close();
        var _ = tenant.cluster().kubectl("delete", "clusterrole", "jupyterhub-servers");
    }
}
