package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonParser;
import dev.siphon.e2e.isolation.KeyHolder;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Command;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/// Two nodes read a dataset through one claim, and one of them is stolen.
@Tag("kubernetes")
@AloneOnCluster
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class StolenNodeIT {
    private static final Cluster CLUSTER = Cluster.here();
    private static final String IDLE = "exec sleep 3600";

    @SuppressWarnings("NullAway.Init")
    private static Installation siphon;

    @SuppressWarnings("NullAway.Init")
    private static Tenant tenant;

    @SuppressWarnings("NullAway.Init")
    private static KernelNode stolen;

    @SuppressWarnings("NullAway.Init")
    private static SealedDataset dataset;

    @SuppressWarnings("NullAway.Init")
    private static TestPod here;

    @TempDir
    private Path folder = Path.of("");

    @BeforeAll
    static void readOnBothNodes() {
        siphon = Installation.in(CLUSTER);
        siphon.folder().cephCaps("--key-commands", "--change");
        stolen = KernelNode.join(siphon, CLUSTER);
        tenant = Tenant.ofAccount(CLUSTER, 54);
        dataset = SealedDataset.seal(CLUSTER, tenant).declare(tenant.account());
        var _ = tenant.datasetClaim("digits", dataset.reference());
        here = reader("here", CLUSTER.node());
        assertEquals("seven", reader("there", stolen.name()).run("cat", "/data/two/7"));
    }

    private static TestPod reader(String name, String node) {
        return tenant.pod(name, IDLE).withClaim("digits").on(node).create().ready();
    }

    @AfterAll
    static void end() {
        tenant.close();
        dataset.delete();
        stolen.leave();
        siphon.folder().cephCaps("--change");
    }

    private static String identityOf(String node) {
        return dataset.identities().stream()
                .filter(identity -> identity.endsWith("." + node))
                .findFirst()
                .orElseThrow()
                .substring("client.".length());
    }

    /// Returns a holder of a copied key.
    private KeyHolder thief(String identity) {
        String key = CLUSTER.ceph("auth", "print-key", "client." + identity).strip();
        return KeyHolder.with(identity, key, folder);
    }

    private static Set<Long> sessions(String identity) {
        String said = CLUSTER.ceph(
                "tell", "mds." + CLUSTER.lab().fileSystem() + ":0", "session", "ls", "auth_name=" + identity);
        return JsonParser.parseString(said.substring(said.indexOf('['))).getAsJsonArray().asList().stream()
                .map(session -> session.getAsJsonObject().get("id").getAsLong())
                .collect(Collectors.toSet());
    }

    private static void assertCannotMount(KeyHolder thief) {
        assertThrows(KeyHolder.Refused.class, () -> {
            try (KeyHolder.Mounted mounted = thief.mount(dataset.path())) {
                throw new AssertionError("mounted at " + mounted.root());
            }
        });
    }

    @Test
    @Order(1)
    void theClaimsSecretHasNoKeyAndEachNodeItsOwn() {
        String volume = tenant.claimCalled("digits").volume().getMetadata().getName();
        Map<String, String> data = CLUSTER.client()
                .secrets()
                .inNamespace(Installation.NAMESPACE)
                .withName(volume)
                .get()
                .getData();

        assertEquals(Set.of("volumeID"), data.keySet());
        assertEquals(2, dataset.identities().size(), dataset.identities()::toString);
        assertNotEquals(identityOf(CLUSTER.node()), identityOf(stolen.name()));
    }

    @Test
    @Order(2)
    void whatTheDocsSayShutsTheNodeOutAndReadersElsewhereNoticeNothing() throws Exception {
        String identity = identityOf(stolen.name());
        KeyHolder thief = thief(identity);
        Set<Long> reading = sessions(identityOf(CLUSTER.node()));
        assertEquals(1, reading.size(), reading::toString);
        String address = stolen.address();
        try (KeyHolder.Mounted open = thief.mount(dataset.path())) {
            assertNotEquals("", Files.readString(open.root().resolve("image.manifest")));

            String said = DocumentedBlock.below("## A node was stolen", "how-to/recovery.md")
                    .with("NODE=gpu-7 ADDRESS=", "NODE=" + stolen.name() + " ADDRESS=" + address)
                    .run(folder);

            assertTrue(said.contains(identity), said);
            assertThrows(IOException.class, () -> Files.readAllBytes(open.root().resolve("image")), said);
        }
        assertCannotMount(thief);
        assertFalse(dataset.identities().contains("client." + identity));
        assertEquals(reading, sessions(identityOf(CLUSTER.node())), "the session of a reader elsewhere");
        assertEquals("seven", here.run("cat", "/data/two/7"));
        assertEquals("50", here.run("sh", "-c", "md5sum /data/one/* | wc -l"));
        TestPod next = reader("next", CLUSTER.node());
        assertEquals("seven", next.run("cat", "/data/two/7"));
        next.delete();
    }

    @Test
    @Order(3)
    void aKeyThatNoSessionUsesIsRotatedAndAnotherIsGivenNext() {
        KeyHolder before = thief(identityOf(CLUSTER.node()));
        Command.Result used = siphon.siphon("key", "rotate", "dataset:" + dataset.reference());
        assertEquals(1, used.exit(), used::output);
        assertTrue(used.output().contains(CLUSTER.node()), used::output);
        assertEquals("seven", here.run("cat", "/data/two/7"));

        here.delete();
        var _ = Await.until(
                "no session", Cluster.PATIENCE, () -> sessions(before.userId()).isEmpty());
        Command.Result rotated = siphon.siphon("key", "rotate", "dataset:" + dataset.reference());

        assertEquals(0, rotated.exit(), rotated::output);
        assertCannotMount(before);
        here = reader("after", CLUSTER.node());
        assertEquals("seven", here.run("cat", "/data/two/7"));
    }

    @Test
    @Order(4)
    void allKeysOfADatasetAreRevokedAndPodsThatStartReadAgain() throws Exception {
        KeyHolder thief = thief(identityOf(CLUSTER.node()));
        try (KeyHolder.Mounted open = thief.mount(dataset.path())) {
            assertNotEquals("", Files.readString(open.root().resolve("image.manifest")));

            Command.Result revoked = siphon.siphon("key", "revoke", "dataset:" + dataset.reference());

            assertEquals(0, revoked.exit(), revoked::output);
            assertThrows(IOException.class, () -> Files.readAllBytes(open.root().resolve("image")));
        }
        assertCannotMount(thief);
        here.delete();
        here = reader("again", CLUSTER.node());
        assertEquals("seven", here.run("cat", "/data/two/7"));
        assertEquals(List.of("client." + identityOf(CLUSTER.node())), dataset.identities());
    }
}
