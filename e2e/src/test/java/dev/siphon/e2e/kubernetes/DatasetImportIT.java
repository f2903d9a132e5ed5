package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Command;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Optional;
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

    @SuppressWarnings("NullAway.Init")
    private static Tenant owner;

    /// A member of group `everyone`, as the owner is.
    @SuppressWarnings("NullAway.Init")
    private static Tenant other;

    @SuppressWarnings("NullAway.Init")
    private static ImportServers servers;

    @BeforeAll
    static void start() throws IOException, GeneralSecurityException {
        servers = ImportServers.start(CLUSTER.lab());
        Installation siphon = Installation.in(CLUSTER);
        SnapshotController.addTo(siphon, CLUSTER);
        siphon.folder()
                .useChart(
                        "--set",
                        "image=siphon:lab,snapshots=true,groupSnapshots=true,imports.enabled=true",
                        "--set",
                        "imports.allowPrivate={" + CLUSTER.lab().address() + "/32}",
                        "--set-file",
                        "imports.caBundle=" + servers.authority());
        siphon.apply();
        owner = Tenant.ofAccount(CLUSTER, 82);
        other = Tenant.ofAccount(CLUSTER, 83);
        var _ = owner.claim("raw", "1Gi");
        var _ = owner.pod(
                        "writer", "mkdir -p /data/photos/2026; for n in 1 2 3; do echo $n >/data/photos/2026/$n; done")
                .withClaim("raw")
                .create()
                .succeeded();
    }

    @AfterAll
    static void end() {
        servers.close();
        var _ = CLUSTER.kubectl("-n", owner.namespace(), "delete", "datasetimports", "--all");
        other.close();
        owner.close();
    }

    private static String sha256() {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(ImportServers.FILE));
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

    private static void applyWeb(String name, String url, String check) {
        apply(name, "{\"source\": {\"https\": {\"url\": \"" + url + "\", " + check + "}}, \"size\": \"1Gi\"}");
    }

    private static void applyBucket(String name, String secretKey) {
        CLUSTER.apply(owner.namespace(), """
                {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "%s"},
                 "stringData": {"access-key": "%s", "secret-key": "%s"}}
                """.formatted(name, ImportServers.ACCESS_KEY, secretKey));
        apply(name, """
                {"source": {"s3": {"endpoint": "%s", "bucket": "data", "prefix": "birds", "credentials": "%s"}}, "size": "1Gi"}
                """.formatted(servers.endpoint(), name));
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
        applyWeb("web", servers.url("/file"), "\"sha256\": \"" + sha256() + "\"");
        awaitReady("web");
        var _ = owner.pod("web-reader", "test $(cat /data/* | wc -l) = 1000")
                .withDataset("u82/web")
                .create()
                .succeeded();
        owner.podCalled("web-reader").delete();
    }

    @Test
    void aFileOfAServerWithACertificateOfThePrivateAuthorityBecomesADataset() {
        applyWeb("encrypted", servers.encryptedUrl("/file"), "\"sha256\": \"" + sha256() + "\"");
        awaitReady("encrypted");
    }

    /// Its owner sees why pods get it no more, and an administrator gives it back.
    @Test
    void anImportSaysThatItsDatasetWasDeletedUntilItIsDeclaredAgain() {
        apply("lost", "{\"source\": {\"claim\": {\"name\": \"raw\"}}, \"size\": \"1Gi\"}");
        awaitReady("lost");
        String spec = CLUSTER.kubectl("get", "dataset", "u82.lost", "-o", "jsonpath={.spec}");

        var _ = CLUSTER.kubectl("delete", "dataset", "u82.lost");
        GenericKubernetesResource told = await("lost", each -> "DatasetDeleted".equals(each.get("status", "reason")));
        assertEquals("Ready", told.get("status", "phase"));

        CLUSTER.apply(owner.namespace(), """
                {"apiVersion": "siphon.dev/v1alpha1", "kind": "Dataset", "metadata": {"name": "u82.lost"}, "spec": %s}
                """.formatted(spec));
        var _ = await("lost", each -> "Ready".equals(each.get("status", "reason")));
        var _ = owner.pod("lost-reader", "cat /data/photos/2026/3")
                .withDataset("u82/lost")
                .create()
                .succeeded();
        owner.podCalled("lost-reader").delete();
    }

    @Test
    void objectsOfABucketBecomeADataset() throws IOException {
        servers.put("birds/a/owl", "hoot\n");
        servers.put("birds/wren", "tweet\n");
        servers.put("fish/eel", "not of it\n");
        applyBucket("birds", ImportServers.SECRET_KEY);
        awaitReady("birds");
        String log = owner.pod("birds-reader", "cd /data; find . -type f | sort; cat a/owl wren")
                .withDataset("u82/birds")
                .create()
                .succeeded()
                .log();
        assertEquals("./a/owl\n./wren\nhoot\ntweet\n", log);
        owner.podCalled("birds-reader").delete();
    }

    @Test
    void aWrongKeyOfABucketIsSaidAndLeavesNothing() {
        applyBucket("unsigned", "not-the-key");
        awaitFailed("unsigned", "WrongKey", "https://.*refuses access: status 403");
        assertFalse(imported("unsigned").get().toString().contains("not-the-key"));
    }

    /// An import creates a VolumeSnapshot for its owner, too: who may not, imports nothing.
    @Test
    void whoMayNotTakeSnapshotsMayNotImport() throws IOException {
        String namespace = owner.namespace();
        var _ = CLUSTER.kubectl(
                "-n",
                namespace,
                "create",
                "role",
                "no-snapshots",
                "--verb=create,get",
                "--resource=jobs.batch,persistentvolumeclaims,datasetimports.siphon.dev");
        var _ = CLUSTER.kubectl(
                "-n", namespace, "create", "rolebinding", "no-snapshots", "--role=no-snapshots", "--user=half");
        var _ = CLUSTER.kubectl(
                "-n", namespace, "create", "rolebinding", "editor", "--clusterrole=edit", "--user=editor");
        Path file = Files.writeString(servers.folder().resolve("import.json"), """
                {"apiVersion": "siphon.dev/v1alpha1", "kind": "DatasetImport", "metadata": {"name": "mine"},
                 "spec": {"source": {"claim": {"name": "raw"}}, "size": "1Gi"}}
                """);
        Command.Result refused = createAs("half", file);
        assertTrue(refused.output().contains("the right to create VolumeSnapshots in this"), refused::output);
        var _ = Await.until(
                "an editor may import",
                Cluster.PATIENCE,
                () -> createAs("editor", file).exit() == 0);
    }

    private static Command.Result createAs(String user, Path file) {
        return CLUSTER.tryKubectl(
                "--as=" + user, "-n", owner.namespace(), "create", "--dry-run=server", "-f", file.toString());
    }

    @Test
    void aWrongChecksumLeavesNothing() {
        applyWeb("changed", servers.url("/file"), "\"sha256\": \"" + "0".repeat(64) + "\"");
        awaitFailed("changed", "WrongChecksum", ".");
    }

    @Test
    void aServerThatSendsToTheClustersOwnAddressesIsNotFollowed() {
        applyWeb("away", servers.url("/away"), "\"checksum\": \"none\"");
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
        applyWeb("half", servers.url("/slow"), "\"checksum\": \"none\"");
        var _ = await("half", each -> "Fetching".equals(each.get("status", "phase")));
        var _ = CLUSTER.kubectl("-n", owner.namespace(), "delete", "datasetimport", "half");
        assertNothingLeft("half");
    }
}
