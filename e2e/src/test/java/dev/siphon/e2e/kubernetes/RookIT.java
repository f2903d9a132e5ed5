package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Project;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/// Siphon on a Ceph that Rook manages, as docs/how-to/rook.md sets it up.
@Tag("kubernetes")
@AloneOnCluster
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class RookIT {
    private static final Cluster CLUSTER = Cluster.here();

    /// In TEST-NET-1 (RFC 5737): unreachable.
    private static final String NOWHERE = "192.0.2.1:6789";

    /// The lab's Siphon already uses the default name.
    private static final String USER = "siphon-rook";

    @SuppressWarnings("NullAway.Init")
    private static Installation siphon;

    @SuppressWarnings("NullAway.Init")
    private static RookOperator rook;

    @SuppressWarnings("NullAway.Init")
    private static Tenant tenant;

    @TempDir
    private Path folder = Path.of("");

    @BeforeAll
    static void begin() {
        siphon = Installation.in(CLUSTER);
        tenant = Tenant.ofAccount(CLUSTER, 62);
        rook = RookOperator.start(
                CLUSTER, "b=" + NOWHERE + ",c=" + CLUSTER.lab().address() + ":6789");
    }

    @AfterAll
    static void end() {
        tenant.close();
        siphon.folder().write();
        siphon.apply();
        rook.close();
        var _ = CLUSTER.ceph("auth", "rm", "client." + USER);
    }

    private static Map<String, JsonObject> check() {
        Command.Result said = siphon.siphon("check", "controller", "--json", "--timeout=20");
        Map<String, JsonObject> lines = new LinkedHashMap<>();
        said.output().lines().filter(line -> line.startsWith("{")).forEach(line -> {
            JsonObject object = JsonParser.parseString(line).getAsJsonObject();
            lines.put(object.get("check").getAsString(), object);
        });
        return lines;
    }

    private static void assertLine(Map<String, JsonObject> lines, String what, String result, String... words) {
        JsonObject line = lines.getOrDefault(what, new JsonObject());
        assertEquals(result, line.has("result") ? line.get("result").getAsString() : "none", lines::toString);
        for (String word : words) {
            assertTrue(line.toString().contains(word), () -> word + " in " + line);
        }
    }

    /// Rook replaces the monitors that it was given by those of the cluster.
    @Test
    @Order(1)
    void rookKeepsItsConfigMapAndMakesItsIdentities() {
        var _ = CLUSTER.await(
                "Rook has written down the monitors that there are",
                rook.monitors(),
                map -> map != null && map.getData().getOrDefault("data", "").startsWith("a="));
        assertTrue(CLUSTER.cephIdentities().anyMatch("client.csi-cephfs-node"::equals));
    }

    @Test
    @Order(2)
    void rookIsRecognizedAndAddressesByHandAreWarnedOf() {
        Map<String, JsonObject> lines = check();
        assertLine(lines, "lab: rook", "ok", "this Ceph is Rook's", "client.csi-cephfs-provisioner");
        assertLine(lines, "lab: rook monitors", "warning", "`ceph mon dump`", "ceph.rook.namespace");
    }

    /// Follows the docs: an identity created in a toolbox, the chart's rule, and Rook's namespace in the clusters
    /// file.
    @Test
    @Order(3)
    void siphonFollowsRooksConfigMap() throws IOException {
        Path keyring = makeIdentity();
        DeployFolder deploy = siphon.folder();
        Files.copy(keyring, deploy.path().resolve("ceph/keyring"), StandardCopyOption.REPLACE_EXISTING);
        Files.writeString(deploy.path().resolve("ceph/clusters.json"), """
                {"clusters": [{"id": "lab", "rook": "rook-ceph", "user": "%s", "keyringFile": "/etc/siphon/ceph/keyring",
                  "default": true}]}
                """.formatted(USER));
        Path rule = Files.writeString(
                folder.resolve("rook.yaml"),
                Chart.rendered("--set", "ceph.rook.namespace=rook-ceph", "-s", "templates/rook.yaml"));
        var _ = CLUSTER.kubectl("apply", "-f", rule.toString());
        siphon.apply();

        Map<String, JsonObject> lines = check();
        assertLine(
                lines,
                "lab: rook monitors",
                "ok",
                "followed: ConfigMap rook-ceph/rook-ceph-mon-endpoints",
                "[v2:" + CLUSTER.lab().address() + ":3300,v1:" + CLUSTER.lab().address() + ":6789]");
        assertLine(lines, "lab: login", "ok");
        var _ = tenant.claim("data", "64Mi");
        var _ = tenant.pod("writer", "echo hello >/data/file")
                .withClaim("data")
                .create()
                .succeeded();
    }

    /// @return the identity's keyring
    private Path makeIdentity() throws IOException {
        Path tools = Files.writeString(
                folder.resolve("tools"), "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n");
        Files.setPosixFilePermissions(tools, PosixFilePermissions.fromString("rwx------"));
        var _ = DocumentedBlock.below("## An identity for Siphon", "how-to/rook.md")
                .with("TOOLS='kubectl -n rook-ceph exec deploy/rook-ceph-tools'", "TOOLS=" + tools)
                .replacing(
                        "siphon ceph-caps --fs myfs",
                        Project.launcher() + " ceph-caps --user " + USER + " --fs "
                                + CLUSTER.lab().fileSystem())
                .run(folder);
        Path keyring = folder.resolve("keyring");
        assertTrue(Files.readString(keyring).startsWith("[client." + USER + "]"));
        return keyring;
    }

    @Test
    @Order(4)
    void aVolumeWhoseMonitorsAreGoneIsMountedByThoseOfNow() {
        var _ = CLUSTER.await(
                "nodes are told",
                told(),
                found -> found != null
                        && found.getData()
                                .getOrDefault("lab", "")
                                .contains(CLUSTER.lab().address() + ":3300"));
        var volume = tenant.claimCalled("data").volume();
        String handle = volume.getSpec().getCsi().getVolumeHandle();
        CLUSTER.apply(tenant.namespace(), """
                apiVersion: v1
                kind: PersistentVolume
                metadata: {name: moved-data}
                spec:
                  capacity: {storage: 64Mi}
                  accessModes: [ReadWriteMany]
                  persistentVolumeReclaimPolicy: Retain
                  storageClassName: ''
                  claimRef: {namespace: %1$s, name: moved}
                  csi:
                    driver: cephfs.siphon.dev
                    volumeHandle: %2$s
                    volumeAttributes: {monitors: "%3$s", fsName: %4$s}
                    nodeStageSecretRef: {name: %5$s, namespace: siphon}
                    nodePublishSecretRef: {name: %5$s, namespace: siphon}
                """.formatted(
                        tenant.namespace(),
                        handle,
                        NOWHERE,
                        CLUSTER.lab().fileSystem(),
                        volume.getMetadata().getName()));
        var _ = tenant.claim(
                "moved",
                "64Mi",
                claim -> claim.editSpec()
                        .withStorageClassName("")
                        .withVolumeName("moved-data")
                        .endSpec());
        var _ = tenant.pod("reader", "test \"$(cat /data/file)\" = hello")
                .withClaim("moved")
                .create()
                .succeeded();
        var _ = CLUSTER.kubectl("-n", tenant.namespace(), "delete", "pod/reader", "pvc/moved");
        var _ = CLUSTER.kubectl("delete", "pv", "moved-data");
    }

    /// Writes what Rook writes if it requires messenger v2, and then what it writes otherwise.
    @Test
    @Order(5)
    void whatRookWritesReachesNodesByItself() {
        String address = CLUSTER.lab().address();
        for (String port : List.of("3300", "6789")) {
            var _ = rook.monitors().edit(map -> {
                map.getData().put("data", "a=" + address + ":" + port);
                return map;
            });
            String expected =
                    "[v2:" + address + ":3300" + (port.equals("3300") ? "" : ",v1:" + address + ":6789") + "]";
            var _ = CLUSTER.await(
                    "nodes are told of " + expected,
                    told(),
                    map -> map != null && expected.equals(map.getData().get("lab")));
        }
    }

    private static Resource<ConfigMap> told() {
        return CLUSTER.client().configMaps().inNamespace(Installation.NAMESPACE).withName("siphon-monitors");
    }
}
