package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.e2e.lab.Await;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Which pods use a dataset and where, and the removal of a reader.
@Tag("kubernetes")
@OnCluster
final class DatasetReadersIT {
    private static final Cluster CLUSTER = Cluster.here();
    private static final String STAY = "cat /data/two/7; exec sleep 600";

    @SuppressWarnings("NullAway.Init")
    private static Tenant owner;

    @SuppressWarnings("NullAway.Init")
    private static Tenant reader;

    @SuppressWarnings("NullAway.Init")
    private static SealedDataset dataset;

    @BeforeAll
    static void seal() {
        var _ = Installation.in(CLUSTER);
        owner = Tenant.ofAccount(CLUSTER, 35);
        reader = Tenant.ofAccount(CLUSTER, 36);
        dataset = SealedDataset.seal(CLUSTER, owner);
    }

    @AfterAll
    static void end() {
        reader.close();
        owner.close();
        dataset.delete();
    }

    /// Counts a claim's pod in one namespace and an inline pod in another; an ended pod no longer counts.
    @Test
    void itSaysHowManyPodsUseItOnWhichNodes() {
        var _ = dataset.declare("u35", "u36");
        var _ = reader.datasetClaim("used", dataset.reference());
        TestPod ended = reader.pod("ended", "cat /data/two/7")
                .withClaim("used")
                .create()
                .succeeded();
        dataset.awaitPods(List.of());

        TestPod staying = reader.pod("staying", STAY).withClaim("used").create().ready();
        TestPod naming = owner.pod("naming", STAY)
                .withDataset(dataset.reference())
                .create()
                .ready();

        dataset.awaitPods(List.of(new SealedDataset.Usage(CLUSTER.node(), 2, List.of("u35", "u36"))));
        String shown = CLUSTER.kubectl("get", "dataset", dataset.name(), "--no-headers");
        assertTrue(shown.matches("(?s)u35\\.digits .* 2 +[0-9ms]+\\s*"), shown);

        staying.delete();
        naming.delete();
        ended.delete();
        dataset.awaitPods(List.of());
    }

    @Test
    void aReaderThatIsTakenAwayStartsNoNewPod() {
        var _ = dataset.declare("u35", "u36");
        var _ = reader.datasetClaim("left", dataset.reference()).bound();
        TestPod before = reader.pod("before", STAY).withClaim("left").create().ready();

        var _ = dataset.declare("u35");

        // a node's grants may be a minute old
        var _ = Await.until("a new pod is refused", Cluster.PATIENCE, () -> refused(reader));
        assertEquals("seven", before.run("cat", "/data/two/7"));
        before.delete();
    }

    /// Returns whether a new pod is rejected instead of started.
    private static boolean refused(Tenant tenant) {
        TestPod late = tenant.pod("late", "cat /data/two/7").withClaim("left").create();
        try {
            List<String> told =
                    CLUSTER.awaitEvents(tenant.namespace(), late.name(), "code = PermissionDenied|^Started: ");
            return told.stream()
                    .anyMatch(each -> each.matches(
                            "(?s).*code = PermissionDenied desc = .*is (no|not a) reader of (the )?dataset.*"));
        } finally {
            late.delete();
        }
    }
}
