package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A member of a group seals a directory of their home for the group, by the commands of docs/how-to/datasets.md.
@Tag("kubernetes")
@AloneOnCluster
final class OwnDirectoryIT {
    private static final Cluster CLUSTER = Cluster.here();
    private static final String PAGE = "how-to/datasets.md";
    private static final String HEADING = "## A directory of your own";
    private static final String GROUP = "ml";
    private static final int GID = 20_002;
    private static final String DATASET = GROUP + "/faces-v1";
    private static final String READ = "cat /data/one";
    private static final Duration PATIENCE = Duration.ofMinutes(4);

    @SuppressWarnings("NullAway.Init")
    private static Tenant owner;

    @SuppressWarnings("NullAway.Init")
    private static Tenant member;

    @SuppressWarnings("NullAway.Init")
    private static Tenant stranger;

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private static Path folder;

    @BeforeAll
    static void seal() throws IOException {
        Installation siphon = Installation.in(CLUSTER);
        SnapshotController.addTo(siphon, CLUSTER);
        owner = Tenant.of(CLUSTER, "u9", 9, Map.of("siphon.dev/owners", "group:" + GROUP));
        member = Tenant.ofAccount(CLUSTER, 8);
        stranger = Tenant.ofAccount(CLUSTER, 928);
        var _ = owner.claim("home", "1Gi");
        TestPod writer = owner.pod(
                        "writer", "mkdir /data/faces && echo a face >/data/faces/one && echo other >/data/more")
                .withClaim("home")
                .create()
                .succeeded();
        writer.delete();
        String manifest = DocumentedBlock.yamlBelow(HEADING, PAGE)
                .replacing(
                        "metadata: {name: folder}",
                        "metadata: {name: folder, annotations: {siphon.dev/owner: 'group:" + GROUP + "'}}")
                .replacing("runAsUser: 10001, runAsGroup: 10001", "runAsUser: " + owner.uid() + ", runAsGroup: " + GID)
                .replacing("storage: 50Gi", "storage: 1Gi")
                .replacing("busybox:1.37", "siphon.test/pause:1")
                .script();
        Files.writeString(folder.resolve("folder.yaml"), manifest);
        var _ = DocumentedBlock.below(HEADING, PAGE)
                .replacing("kubectl ", "kubectl -n " + owner.namespace() + " ")
                .run(folder, PATIENCE);
    }

    @AfterAll
    static void end() {
        stranger.close();
        member.deleteSnapshots();
        member.close();
        owner.deleteSnapshots();
        owner.close();
    }

    @Test
    void anotherMemberReadsItAtOnce() {
        TestPod reader = member.pod("reader", READ).withDataset(DATASET).create();
        assertEquals("a face", reader.succeeded().log().strip());
        reader.delete();
    }

    @Test
    void onlyThatDirectoryIsInIt() {
        TestPod reader = owner.pod("lister", "ls -A /data").withDataset(DATASET).create();
        assertEquals("one", reader.succeeded().log().strip());
        reader.delete();
    }

    @Test
    void whoIsNotInTheGroupIsRefused() {
        TestPod reader = stranger.pod("reader", READ).withDataset(DATASET).create();
        var _ = reader.told("code = PermissionDenied desc = .*");
        reader.delete();
    }
}
