package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// PyTorch learns digits on a volume: training.yaml, and ranks.yaml twice on the same volume.
@Tag("kubernetes")
@OnCluster
final class TrainingIT {
    private static final Cluster CLUSTER = Cluster.here();
    private static final String LEARNT = "rank %d of %d: .* (9[0-9]|100)%% of";

    @SuppressWarnings("NullAway.Init")
    private static Tenant tenant;

    @SuppressWarnings("NullAway.Init")
    private static List<String> first;

    @SuppressWarnings("NullAway.Init")
    private static List<String> second;

    @BeforeAll
    static void train() {
        var _ = Installation.in(CLUSTER);
        tenant = Tenant.ofAccount(CLUSTER, 17);
        Examples examples = new Examples(tenant);
        examples.addTraining();
        examples.apply("training.yaml");
        examples.apply("ranks.yaml");
        first = examples.job("ranks").complete().log();
        examples.job("ranks").delete();
        examples.apply("ranks.yaml");
        second = examples.job("ranks").complete().log();
    }

    @AfterAll
    static void end() {
        tenant.close();
    }

    @Test
    void oneRankLearns() {
        assertSaid(
                LEARNT.formatted(0, 1),
                tenant.podCalled("training").succeeded().log().lines().toList());
    }

    @Test
    void twoRanksOnOneVolumeLearn() {
        assertSaid(LEARNT.formatted(0, 2), first);
        assertSaid(LEARNT.formatted(1, 2), first);
    }

    @Test
    void noRankHasToBeginAgain() {
        assertEquals(List.of(), matching("^rank [0-9]: |Error", first));
    }

    @Test
    void ranksThatAreStartedAgainGoOnFromTheCheckpoint() {
        assertEquals(2, matching("goes on after epoch 10", second).size(), () -> String.join("\n", second));
    }

    private static void assertSaid(String pattern, List<String> lines) {
        assertTrue(!matching(pattern, lines).isEmpty(), () -> String.join("\n", lines));
    }

    private static List<String> matching(String pattern, List<String> lines) {
        return lines.stream().filter(Pattern.compile(pattern).asPredicate()).toList();
    }
}
