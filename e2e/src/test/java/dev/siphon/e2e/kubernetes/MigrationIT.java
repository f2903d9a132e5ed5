package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.e2e.isolation.KeyHolder;
import dev.siphon.e2e.lab.CephSubvolumes;
import dev.siphon.e2e.lab.Command;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The scripts of docs/how-to/migrate-from-ceph-csi.md, pasted, on volumes created as ceph-csi does it.
@Tag("kubernetes")
@OnCluster
final class MigrationIT {
    private static final Cluster CLUSTER = Cluster.here();
    private static final String PAGE = "how-to/migrate-from-ceph-csi.md";
    private static final String COPY = "## Copy";
    private static final String TAKE_OVER = "## Take over without copying";
    private static final String TOOLBOX =
            "ceph() { kubectl -n rook-ceph exec deploy/rook-ceph-tools -- ceph \"$@\"; }\n";

    /// The caps of Rook's `client.csi-cephfs-node`, with which ceph-csi mounts.
    private static final String[] NODE_CAPS = {
        "mon",
        "allow r",
        "mgr",
        "allow rw",
        "osd",
        "allow rwx tag cephfs metadata=*, allow rw tag cephfs data=*",
        "mds",
        "allow rw"
    };

    @SuppressWarnings("NullAway.Init")
    private static Installation siphon;

    @SuppressWarnings("NullAway.Init")
    private static Tenant tenant;

    @SuppressWarnings("NullAway.Init")
    private static KeyHolder cephCsi;

    @TempDir
    private static Path keys;

    @TempDir
    private Path folder = Path.of("");

    @BeforeAll
    static void begin() {
        siphon = Installation.in(CLUSTER);
        tenant = Tenant.ofAccount(CLUSTER, 61);
        List<String> make = new ArrayList<>(List.of("auth", "get-or-create-key", "client.csi-cephfs-node"));
        make.addAll(List.of(NODE_CAPS));
        cephCsi = KeyHolder.with(
                "csi-cephfs-node", CLUSTER.ceph(make.toArray(String[]::new)).strip(), keys);
    }

    @AfterAll
    static void end() {
        tenant.close();
        var _ = CLUSTER.ceph("auth", "rm", "client.csi-cephfs-node");
    }

    private String paste(DocumentedBlock block) throws IOException {
        return block.run(Files.createTempDirectory(folder, "pasted-"));
    }

    /// Writes what users have in a ceph-csi volume: files with the group that Kubernetes set, links, and files that
    /// only their owner reads.
    private static void fill(Path root) {
        Command.run("bash", "-euc", """
                chown 0:"$2" "$1"; chmod 2775 "$1"
                mkdir "$1/empty" "$1/deep"
                echo one >"$1/one"; echo two >"$1/deep/two"; chown 4711:"$2" "$1/one" "$1/deep/two"
                chmod 0660 "$1/one"; chmod 0440 "$1/deep/two"
                ln -s deep/two "$1/link"; ln "$1/one" "$1/same"
                """, "fill", root.toString(), Integer.toString(tenant.uid()));
    }

    @Test
    void aCopyIsTheAccountsAndMayHaveTheOldName() throws Exception {
        List<KeyHolder.Mounted> mounts = new ArrayList<>();
        try (CephCsiVolume old = CephCsiVolume.shown(CLUSTER, tenant, "papers", path -> {
            KeyHolder.Mounted mounted = mount(path);
            mounts.add(mounted);
            fill(mounted.root());
            return mounted.root().toString();
        })) {
            String said = paste(DocumentedBlock.below(COPY, PAGE)
                    .with("NS=vision OLD=data", "NS=u61 OLD=papers NEW=papers-siphon")
                    .replacing("image: busybox:1.37", "image: siphon.test/pause:1\n          imagePullPolicy: Never"));
            assertTrue(said.contains("equal: 3 files"), said);
            TestClaim copy = tenant.claimCalled("papers-siphon");
            PersistentVolume volume = copy.volume();
            assertTrue(volume.getSpec().getCsi().getVolumeHandle().startsWith("s1:lab:"));

            paste(DocumentedBlock.below(COPY, PAGE, 2)
                    .with("NS=vision OLD=data", "NS=u61 OLD=papers NEW=papers-siphon"));

            assertEquals("Retain", old.policy());
            TestClaim renamed = tenant.claimCalled("papers").bound();
            assertEquals(
                    volume.getMetadata().getName(),
                    renamed.volume().getMetadata().getName());
            assertEquals("Delete", renamed.volume().getSpec().getPersistentVolumeReclaimPolicy());
            TestPod reader = tenant.pod("reader", "exec sleep 3600")
                    .withClaim("papers")
                    .create()
                    .ready();
            assertEquals(
                    "one two two one",
                    reader.run("sh", "-c", "echo $(cat /data/one /data/deep/two /data/link /data/same)"));
            assertEquals(tenant.uid() + " 700", reader.run("stat", "-c", "%u %a", "/data"));
            assertEquals(tenant.uid() + " 660", reader.run("stat", "-c", "%u %a", "/data/one"));
            var _ = reader.run("sh", "-c", "echo more >>/data/one");
            reader.delete();
            TestClaim.Subvolume made = renamed.subvolume();
            renamed.delete();
            var _ = CLUSTER.await(
                    "the copy's volume is deleted",
                    CLUSTER.client()
                            .persistentVolumes()
                            .withName(volume.getMetadata().getName()),
                    Objects::isNull);
            assertFalse(
                    CephSubvolumes.all().contains(made.toString()), "what had the old name was deleted with its claim");
            mounts.forEach(KeyHolder.Mounted::close);
        }
    }

    private static KeyHolder.Mounted mount(String path) {
        try {
            return cephCsi.mount(path);
        } catch (KeyHolder.Refused refused) {
            throw new IllegalStateException(refused);
        }
    }

    private static DocumentedBlock takeOver(CephCsiVolume volume) {
        return DocumentedBlock.below(TAKE_OVER, PAGE)
                .with(
                        "NS=vision CLAIM=data PV=",
                        "NS=u61 CLAIM=" + volume.claim() + " PV=" + volume.name() + " FS=" + volume.fileSystem()
                                + " CLUSTER=lab")
                .replacing(TOOLBOX, "");
    }

    @Test
    void whatIsTakenOverIsUsedWhereItIsAndCanGoBack() throws Exception {
        try (CephCsiVolume volume = CephCsiVolume.make(CLUSTER, tenant, "images", Map.of())) {
            try (KeyHolder.Mounted mounted = mount(volume.path())) {
                fill(mounted.root());
            }
            String looked = paste(
                    DocumentedBlock.below("## Look first", PAGE).with("NS=vision CLAIM=data", "NS=u61 CLAIM=images"));
            assertTrue(looked.contains("\"subvolumePath\":\"" + volume.path() + "\""), looked);
            String journal = volume.journal();
            String data = volume.path();

            String said = paste(takeOver(volume));

            assertTrue(said.contains("persistentvolumeclaim/images condition met"), said);
            assertEquals("Retain", volume.policy());
            usesIt(volume);
            hasAKeyForNothingElse(volume);
            String audited = siphon.siphon("audit", "--json", "--pause", "1").output();
            assertFalse(audited.contains(volume.uuid()), audited);
            // a second run changes nothing
            String again = paste(takeOver(volume));
            assertTrue(again.contains("images is taken over already"), again);
            assertEquals(
                    "taken-" + volume.subvolume(),
                    tenant.claimCalled("images").volume().getMetadata().getName());

            paste(DocumentedBlock.below("## Back to ceph-csi", PAGE)
                    .with("NS=vision CLAIM=data PV=", "NS=u61 CLAIM=images PV=" + volume.name())
                    .replacing(TOOLBOX, ""));

            assertEquals(
                    volume.name(),
                    tenant.claimCalled("images").volume().getMetadata().getName());
            assertEquals(data, volume.path());
            assertEquals(journal, volume.journal());
            assertFalse(CLUSTER.cephIdentities().anyMatch(("client.taken-" + volume.subvolume())::equals));
            try (KeyHolder.Mounted mounted = mount(volume.path())) {
                assertEquals("one\nthree\n", Files.readString(mounted.root().resolve("one")));
            }
        }
    }

    /// Uses it as the account, in the files' group; the quota stops it and can be raised.
    private static void usesIt(CephCsiVolume volume) {
        TestPod pod = tenant.pod("user", "exec sleep 3600")
                .withClaim("images")
                .create()
                .ready();
        assertEquals("one two", pod.run("sh", "-c", "echo $(cat /data/one /data/link)"));
        assertEquals("4711", pod.run("stat", "-c", "%u", "/data/one"), "files keep their owner");
        var _ = pod.run("sh", "-c", "echo three >>/data/one");
        String more = "dd if=/dev/zero of=/data/large bs=1M count=100 conv=fsync";
        Command.Result full = pod.attempt("sh", "-c", more);
        assertTrue(full.output().contains("quota") || full.output().contains("Quota"), full::output);
        tenant.claimCalled("images").resize("128Mi");
        assertTrue(volume.info().contains("\"bytes_quota\": " + (128L << 20)), volume::info);
        var _ = pod.run("sh", "-c", more);
        var _ = pod.run("rm", "/data/large");
        pod.delete();
    }

    /// The key opens no other account's objects in the same pool, no other directory, and no quota.
    private static void hasAKeyForNothingElse(CephCsiVolume volume) throws Exception {
        String key = new String(
                Base64.getDecoder()
                        .decode(CLUSTER.client()
                                .secrets()
                                .inNamespace(Installation.NAMESPACE)
                                .withName("taken-" + volume.subvolume())
                                .get()
                                .getData()
                                .get("userKey")),
                StandardCharsets.UTF_8);
        KeyHolder thief = KeyHolder.with("taken-" + volume.subvolume(), key, keys);
        TestClaim other = tenant.claim("other", "1Gi").bound();
        String info = CLUSTER.ceph(
                "fs",
                "subvolume",
                "info",
                volume.fileSystem(),
                other.subvolume().name(),
                "--group_name",
                other.subvolume().group());
        String namespace = info.replaceAll("(?s).*\"pool_namespace\": \"([^\"]*)\".*", "$1");
        assertNotEquals("", namespace);
        String pool = volume.fileSystem() + ".data";
        Command.Result own = thief.tool("rados", "-p", pool, "ls");
        assertEquals(0, own.exit(), own::output);
        Command.Result refused = thief.tool("rados", "-p", pool, "-N", namespace, "ls");
        assertNotEquals(0, refused.exit(), refused::output);
        for (String path : List.of("/", "/volumes", "/volumes/csi", "/volumes/" + other.subvolume())) {
            assertThrows(KeyHolder.Refused.class, () -> {
                try (KeyHolder.Mounted mounted = thief.mount(path)) {
                    throw new AssertionError("mounted " + path + " at " + mounted.root());
                }
            });
        }
        other.delete();
    }

    @Test
    void whatOnlyCephCsiCanReadIsNotTakenOver() {
        try (CephCsiVolume volume = CephCsiVolume.make(CLUSTER, tenant, "secrets", Map.of("encrypted", "true"))) {
            IllegalStateException refused = assertThrows(IllegalStateException.class, () -> paste(takeOver(volume)));
            assertTrue(String.valueOf(refused.getMessage()).contains("copy this one"), refused.getMessage());
            assertEquals("Delete", volume.policy());
            assertEquals(
                    volume.name(),
                    tenant.claimCalled("secrets").volume().getMetadata().getName());
            var _ = CLUSTER.kubectl(
                    "patch", "pv", volume.name(), "-p", "{\"spec\":{\"persistentVolumeReclaimPolicy\":\"Retain\"}}");
            tenant.claimCalled("secrets").delete();
        }
    }
}
