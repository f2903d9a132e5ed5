package dev.siphon.controller.key;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.siphon.controller.key.NodeKernels.NodeKernel;
import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

final class KeyTypesTest {
    private static final String VOLUME = "siphon.cephfs.a0123456789abcdefghij.v0123456789abcdefghij";
    private static final String HOME = "siphon.my.fs.a0123456789abcdefghij.d0123456789abcdefghij";

    private String said = "both aes";
    private boolean silent;
    private int asked;
    private long now;
    private final KeyTypes types = new KeyTypes(new KeyTypes.Rule.ByKernels(this::nodes), this::ciphers, () -> now);

    private List<NodeKernel> nodes() {
        if (silent) {
            throw new DriverException.BackendUnavailable("the API server is silent");
        }
        return KeyTypeChoiceTest.nodes(said);
    }

    private CephCiphers ciphers(String cluster) {
        asked++;
        return KeyTypeChoiceTest.cluster(cluster);
    }

    private void later() {
        now += Duration.ofMinutes(3).toNanos();
    }

    @Test
    void theClusterIsNotAskedForEachKey() {
        for (int keys = 0; keys < 100; keys++) {
            assertEquals(Optional.of("aes"), types.requested("aes256k", VOLUME));
        }
        assertEquals(1, asked);
        said = "both both";
        assertEquals(Optional.of("aes"), types.requested("aes256k", VOLUME));
        later();
        assertEquals(Optional.empty(), types.requested("aes256k", VOLUME));
        assertEquals(2, asked);
        assertEquals(Optional.of("aes256k"), types.requested("aes", VOLUME), "another cluster");
    }

    @Test
    void aSilentApiServerMeansTheClustersDefault() {
        assertEquals(Optional.of("aes"), types.requested("aes256k", VOLUME));
        silent = true;
        later();
        assertEquals(Optional.empty(), types.requested("aes256k", VOLUME));
        assertTrue(types.choose(KeyTypeChoiceTest.cluster("aes256k")).reason().contains("silent"));
    }

    /// Login hosts have kernels that nobody knows.
    @Test
    void homesHaveTheClustersDefaultUnlessATypeIsSet() {
        for (String home : List.of(HOME, HOME + ".2")) {
            assertEquals(Optional.empty(), types.requested("aes256k", home));
            assertEquals(Optional.of("aes"), of(new KeyTypes.Rule.Fixed("aes"), home));
        }
        assertEquals(0, asked);
    }

    @Test
    void otherRulesAskNobody() {
        assertEquals(Optional.of("aes256k"), of(new KeyTypes.Rule.Fixed("aes256k"), VOLUME));
        assertEquals(Optional.empty(), of(new KeyTypes.Rule.OfCluster(), VOLUME));
        assertEquals(0, asked);
    }

    private Optional<String> of(KeyTypes.Rule rule, String userId) {
        return new KeyTypes(rule, this::ciphers, () -> now).requested("aes256k", userId);
    }

    @Test
    void aChangeIsLoggedOnceWithTheNode() {
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        Logger logger = (Logger) LoggerFactory.getLogger(KeyTypes.class);
        logger.addAppender(lines);
        try {
            for (String each : List.of("both", "both aes", "both aes", "aes aes", "both", "both", "both")) {
                said = each;
                later();
                var _ = types.requested("aes256k", VOLUME);
            }
        } finally {
            logger.detachAppender(lines);
        }
        List<String> logged =
                lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
        assertEquals(3, logged.size(), logged.toString());
        assertTrue(logged.get(1).contains("aes: the kernel of node n2 cannot"), logged.toString());
    }
}
