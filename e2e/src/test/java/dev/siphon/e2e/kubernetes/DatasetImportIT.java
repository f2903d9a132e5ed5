package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.siphon.e2e.lab.Await;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// People of a namespace import datasets: docs/how-to/import-datasets.md and dataset-import.yaml.
@Tag("kubernetes")
@AloneOnCluster
final class DatasetImportIT {
    private static final Cluster CLUSTER = Cluster.here();
    private static final byte[] FILE = "learn\n".repeat(1000).getBytes(StandardCharsets.UTF_8);
    private static final CountDownLatch SLOW = new CountDownLatch(1);

    @SuppressWarnings("NullAway.Init")
    private static Tenant owner;

    /// A member of group `everyone`, as the owner is.
    @SuppressWarnings("NullAway.Init")
    private static Tenant other;

    @SuppressWarnings("NullAway.Init")
    private static HttpServer server;

    @BeforeAll
    static void start() {
        Installation siphon = Installation.in(CLUSTER);
        SnapshotController.addTo(siphon, CLUSTER);
        siphon.folder()
                .useChart(
                        "--set",
                        "image=siphon:lab,snapshots=true,groupSnapshots=true,imports.enabled=true",
                        "--set",
                        "imports.allowPrivate={" + CLUSTER.lab().address() + "/32}");
        siphon.apply();
        owner = Tenant.ofAccount(CLUSTER, 82);
        other = Tenant.ofAccount(CLUSTER, 83);
        var _ = owner.claim("raw", "1Gi");
        var _ = owner.pod(
                        "writer", "mkdir -p /data/photos/2026; for n in 1 2 3; do echo $n >/data/photos/2026/$n; done")
                .withClaim("raw")
                .create()
                .succeeded();
        server = serve();
    }

    @AfterAll
    static void end() {
        SLOW.countDown();
        server.stop(0);
        var _ = CLUSTER.kubectl("-n", owner.namespace(), "delete", "datasetimports", "--all");
        other.close();
        owner.close();
    }

    /// `/file` is a file, `/away` redirects to an address of the cluster's nodes, `/slow` begins and does not end.
    private static HttpServer serve() {
        try {
            HttpServer made = HttpServer.create(new InetSocketAddress("0.0.0.0", 0), 0);
            made.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
            made.createContext("/file", exchange -> {
                try (exchange) {
                    exchange.sendResponseHeaders(200, FILE.length);
                    exchange.getResponseBody().write(FILE);
                }
            });
            made.createContext("/away", exchange -> {
                try (exchange) {
                    exchange.getResponseHeaders().set("Location", "http://169.254.169.254/latest/meta-data");
                    exchange.sendResponseHeaders(302, -1);
                }
            });
            made.createContext("/slow", exchange -> {
                try (exchange) {
                    exchange.sendResponseHeaders(200, 1 << 30);
                    exchange.getResponseBody().write(FILE);
                    exchange.getResponseBody().flush();
                    SLOW.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            made.start();
            return made;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String url(String path) {
        return "http://" + CLUSTER.lab().address() + ":" + server.getAddress().getPort() + path;
    }

    private static String sha256() {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(FILE));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Resource<GenericKubernetesResource> imported(String name) {
        return CLUSTER.client()
                .genericKubernetesResources("siphon.dev/v1alpha1", "DatasetImport")
                .inNamespace(owner.namespace())
                .withName(name);
    }

    private static void apply(String name, String spec) {
        CLUSTER.apply(owner.namespace(), """
                {"apiVersion": "siphon.dev/v1alpha1", "kind": "DatasetImport", "metadata": {"name": "%s"}, "spec": %s}
                """.formatted(name, spec));
    }

    private static void applyWeb(String name, String path, String check) {
        apply(name, "{\"source\": {\"https\": {\"url\": \"" + url(path) + "\", " + check + "}}, \"size\": \"1Gi\"}");
    }

    private static GenericKubernetesResource await(String name, Predicate<GenericKubernetesResource> condition) {
        return CLUSTER.await(
                "import " + name,
                Cluster.PATIENCE.multipliedBy(2),
                imported(name),
                each -> each != null && each.get("status", "phase") != null && condition.test(each));
    }

    private static void awaitReady(String name) {
        GenericKubernetesResource ended = await(
                name, each -> Pattern.matches("Ready|Failed", String.valueOf(each.<Object>get("status", "phase"))));
        assertEquals("Ready", ended.get("status", "phase"), () -> String.valueOf(ended.<Object>get("status")));
    }

    /// Waits until the import has failed for that reason, and nothing is left of it.
    private static void awaitFailed(String name, String reason, String message) {
        GenericKubernetesResource ended = await(
                name,
                each -> "Failed".equals(each.get("status", "phase"))
                        && each.get("status", "settledGeneration") instanceof Number settled
                        && settled.intValue() > 0);
        String said = String.valueOf(ended.<Object>get("status"));
        assertEquals(reason, ended.get("status", "reason"), said);
        assertTrue(Pattern.compile(message).matcher(said).find(), said);
        assertNothingLeft(name);
    }

    private static void assertNothingLeft(String name) {
        for (String what :
                new String[] {"pvc/" + name + "-import", "job/" + name + "-import", "volumesnapshot/" + name}) {
            var _ = Await.until(
                    "no " + what,
                    Cluster.PATIENCE,
                    () -> CLUSTER.kubectl("-n", owner.namespace(), "get", what, "--ignore-not-found")
                            .isBlank());
        }
        var _ = CLUSTER.awaitAll(
                "no volume of import " + name,
                CLUSTER.client().persistentVolumes(),
                volumes -> volumes.stream()
                        .flatMap(volume -> Optional.ofNullable(volume.getSpec().getClaimRef()).stream())
                        .noneMatch(claim -> owner.namespace().equals(claim.getNamespace())
                                && (name + "-import").equals(claim.getName())));
    }

    @Test
    void aFolderOfAClaimBecomesADatasetThatPodsReadUntilItIsDeleted() {
        new Examples(owner).apply("dataset-import.yaml");
        awaitReady("photos");
        String log = owner.pod("reader", "cat /data/1 /data/2 /data/3; touch /data/x 2>&1 || true")
                .withDataset("u82/photos")
                .create()
                .succeeded()
                .log();
        assertTrue(log.contains("1\n2\n3\n"), log);
        assertTrue(log.contains("Read-only file system"), log);
        var _ = other.pod("reader", "cat /data/3")
                .withDataset("u82/photos")
                .create()
                .succeeded();
        String shown = CLUSTER.kubectl("-n", owner.namespace(), "get", "datasetimports", "photos");
        assertTrue(
                Pattern.compile("(?m)^photos +Ready +u82/photos ")
                        .matcher(shown)
                        .find(),
                shown);
        var _ = CLUSTER.awaitEvent(owner.namespace(), "photos", "DatasetReady: is dataset u82/photos");
        var _ = Await.until(
                "the volume is gone",
                Cluster.PATIENCE,
                () -> CLUSTER.kubectl("-n", owner.namespace(), "get", "pvc", "photos-import", "--ignore-not-found")
                        .isBlank());
        // the owner takes the group back
        var _ = CLUSTER.kubectl(
                "-n",
                owner.namespace(),
                "patch",
                "datasetimport",
                "photos",
                "--type=merge",
                "-p",
                "{\"spec\": {\"readers\": {\"groups\": []}}}");
        var _ = Await.until(
                "only the account reads it",
                Cluster.PATIENCE,
                () -> CLUSTER.kubectl("get", "dataset", "u82.photos", "-o", "jsonpath={.spec.readers}")
                        .equals("[\"u82\"]"));
        owner.podCalled("reader").delete();
        other.podCalled("reader").delete();
        var _ = CLUSTER.kubectl("-n", owner.namespace(), "delete", "datasetimport", "photos");
        var _ = CLUSTER.await(
                "no dataset u82.photos",
                CLUSTER.client()
                        .genericKubernetesResources("siphon.dev/v1alpha1", "Dataset")
                        .withName("u82.photos"),
                Objects::isNull);
        assertNothingLeft("photos");
    }

    @Test
    void aFileOfAServerBecomesADataset() {
        applyWeb("web", "/file", "\"sha256\": \"" + sha256() + "\"");
        awaitReady("web");
        var _ = owner.pod("web-reader", "test $(cat /data/* | wc -l) = 1000")
                .withDataset("u82/web")
                .create()
                .succeeded();
        owner.podCalled("web-reader").delete();
    }

    @Test
    void aWrongChecksumLeavesNothing() {
        applyWeb("changed", "/file", "\"sha256\": \"" + "0".repeat(64) + "\"");
        awaitFailed("changed", "WrongChecksum", ".");
    }

    @Test
    void aServerThatSendsToTheClustersOwnAddressesIsNotFollowed() {
        applyWeb("away", "/away", "\"checksum\": \"none\"");
        awaitFailed("away", "ForbiddenAddress", ".");
    }

    @Test
    void aFullAllowanceIsSaidAndNothingIsCounted() {
        apply("large", "{\"source\": {\"claim\": {\"name\": \"raw\"}}, \"size\": \"200Gi\"}");
        awaitFailed("large", "AllowanceFull", "allowance");
    }

    @Test
    void aGroupThatTheAccountIsNotInIsRefused() {
        apply(
                "shared",
                "{\"source\": {\"claim\": {\"name\": \"raw\"}}, \"size\": \"1Gi\", \"readers\": {\"groups\": [\"lab\"]}}");
        awaitFailed("shared", "NotAMember", "u82 is not in group");
    }

    @Test
    void aClaimOfSomebodyElseIsNotTaken() {
        var _ = owner.claim("taken-import", "1Gi").bound();
        apply("taken", "{\"source\": {\"claim\": {\"name\": \"raw\"}}, \"size\": \"1Gi\"}");
        GenericKubernetesResource ended = await("taken", each -> "NameTaken".equals(each.get("status", "reason")));
        assertEquals("Failed", ended.get("status", "phase"));
        var _ = owner.claimCalled("taken-import").bound();
    }

    @Test
    void whatIsHalfFetchedIsGoneWithItsImport() {
        applyWeb("half", "/slow", "\"checksum\": \"none\"");
        var _ = await("half", each -> "Fetching".equals(each.get("status", "phase")));
        var _ = CLUSTER.kubectl("-n", owner.namespace(), "delete", "datasetimport", "half");
        assertNothingLeft("half");
    }
}
