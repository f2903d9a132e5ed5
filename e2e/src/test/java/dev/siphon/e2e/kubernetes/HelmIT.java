package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/// A release is pushed to a registry, and Helm installs it from there with five values. `e2e/kubernetes` made its
/// files.
@Tag("kubernetes")
@AloneOnCluster
@Order(5)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class HelmIT {
    private static final Cluster CLUSTER = Cluster.here();
    private static final Path RELEASE = Project.folder().resolve("e2e/target/release");
    private static final Duration INSTALL = Duration.ofMinutes(5);

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private static Path folder;

    @SuppressWarnings("NullAway.Init")
    private static Installation siphon;

    @SuppressWarnings("NullAway.Init")
    private static LocalRegistry registry;

    @SuppressWarnings("NullAway.Init")
    private static Tenant tenant;

    /// The release's.
    @SuppressWarnings("NullAway.Init")
    private static String version;

    @BeforeAll
    static void push() throws IOException {
        siphon = Installation.in(CLUSTER);
        siphon.uninstall();
        version = builtVersion();
        registry = LocalRegistry.start(folder);
        registry.push(RELEASE.resolve("siphon-" + version + "-image.tar"), "siphon:" + version);
        registry.push(RELEASE.resolve("siphon-" + version + "-chart.tar"), "charts/siphon:" + version);
        tenant = Tenant.ofAccount(CLUSTER, 61);
    }

    @AfterAll
    static void end() {
        tenant.close();
        registry.close();
    }

    private static String builtVersion() throws IOException {
        try (Stream<Path> files = Files.list(RELEASE)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith("-image.tar"))
                    .map(name -> name.substring("siphon-".length(), name.length() - "-image.tar".length()))
                    .findFirst()
                    .orElseThrow();
        }
    }

    @Test
    @Order(1)
    void fiveValuesInstallIt() throws IOException {
        Path values = siphon.folder().path();
        helm(
                "install",
                "--create-namespace",
                "--set-json",
                "ceph.monitors=[\"" + CLUSTER.lab().address() + "\"]",
                "--set-file",
                "ceph.keyring=" + values.resolve("ceph/keyring"),
                "--set-json",
                "directory.config=" + Files.readString(values.resolve("directory/directory.json")),
                "--set-file",
                "directory.password=" + values.resolve("directory/password"),
                "--set-file",
                "directory.ca=" + values.resolve("directory/ca.pem"));
        siphon.rolledOut();

        String images = CLUSTER.kubectl(
                "-n",
                Installation.NAMESPACE,
                "get",
                "pods",
                "-o",
                "jsonpath={range .items[*].status.containerStatuses[*]}{.image}{\"\\n\"}{end}");
        assertEquals(
                Set.of(LocalRegistry.NAME + "/siphon:" + version),
                images.lines().collect(Collectors.toCollection(TreeSet::new)));
    }

    @Test
    @Order(2)
    void aPodWritesToItsClaim() {
        var _ = tenant.claim("data", "1Gi").bound();
        TestPod writer = tenant.pod("writer", "echo kept >/data/file && cat /data/file")
                .withClaim("data")
                .create();

        assertEquals("kept", writer.succeeded().lastLine());
        writer.delete();
    }

    /// As docs/reference/values.md says: classes cannot be changed, so they are deleted first. Running pods keep their
    /// volume; the first installation's values stay.
    @Test
    @Order(3)
    void anotherValueIsAnUpgrade() {
        TestPod reader = tenant.pod("reader", "while sleep 1; do cat /data/file; done")
                .withClaim("data")
                .create();
        assertEquals("kept", reader.says("kept"));

        var _ = CLUSTER.kubectl("delete", "storageclass", "siphon", "siphon-home");
        helm("upgrade", "--reuse-values", "--set", "allowance=3Gi");
        siphon.rolledOut();

        assertEquals("kept", reader.run("cat", "/data/file"));
        var _ = tenant.claim("more", "1Gi").bound();
        assertEquals("3Gi", CLUSTER.kubectl("get", "storageclass", "siphon", "-o", "jsonpath={.parameters.allowance}"));
        reader.delete();
        tenant.claimCalled("more").delete();
    }

    @Test
    @Order(4)
    void uninstallingLeavesNoPodAndNoRightButAllDatasets() {
        tenant.close(); // nobody deletes volumes without the driver
        var _ = Command.run(INSTALL, List.of(program(), "uninstall", "siphon", "-n", Installation.NAMESPACE, "--wait"));

        var _ = CLUSTER.kubectl("delete", "namespace", Installation.NAMESPACE, "--timeout=60s");

        String left = CLUSTER.kubectl("get", "pods,storageclasses,csidrivers,clusterroles", "-A", "-o", "name");
        assertEquals(
                List.of(), left.lines().filter(each -> each.contains("siphon")).toList());
        assertEquals(
                List.of(
                        "customresourcedefinition.apiextensions.k8s.io/datasetimports.siphon.dev",
                        "customresourcedefinition.apiextensions.k8s.io/datasets.siphon.dev"),
                CLUSTER.kubectl("get", "customresourcedefinitions", "-o", "name")
                        .lines()
                        .filter(each -> each.contains("siphon.dev"))
                        .toList());
    }

    private static void helm(String verb, String... options) {
        List<String> words = new ArrayList<>(List.of(
                program(),
                verb,
                "siphon",
                "oci://" + LocalRegistry.NAME + "/charts/siphon",
                "--version",
                version,
                "--plain-http",
                "-n",
                Installation.NAMESPACE));
        words.addAll(List.of(options));
        var _ = Command.run(INSTALL, words);
    }

    private static String program() {
        return Chart.program("helm").toString();
    }
}
