package dev.siphon.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.node.replica.ReplicaPolicy;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine.ParameterException;

final class CacheOptionsTest {
    private static ReplicaPolicy read(String... flags) {
        return NodeFlags.read(List.of(flags)).replicas();
    }

    @Test
    void withoutFlagsTheUsualLimitsHold() {
        assertEquals(ReplicaPolicy.usual(), read());
    }

    @Test
    void anAdministratorLimitsFillsAndChecks() {
        ReplicaPolicy policy = read("--fills-at-once=5", "--fill-rate=200Mi", "--scrub-rate=1Mi");
        assertEquals(5, policy.fillsAtOnce());
        assertEquals(OptionalLong.of(200L << 20), policy.fillBytesPerSecond());
        assertEquals(OptionalLong.of(1L << 20), policy.scrubBytesPerSecond());
        assertEquals(ReplicaPolicy.usual().scrubPeriod(), policy.scrubPeriod());
    }

    @ParameterizedTest
    @CsvSource({"24h, PT24H", "90m, PT1H30M", "0, PT0S", "0h, PT0S"})
    void anAdministratorSaysForHowLongReplicasServeWithoutCeph(String text, Duration time) {
        assertEquals(time, NodeFlags.read(List.of("--offline-for=" + text)).offlineFor());
    }

    @ParameterizedTest
    @CsvSource({
        "--fills-at-once=0, --fills-at-once: must be at least 1",
        "--fill-rate=1023Ki, --fill-rate: \"1023Ki\" must be at least 1Mi",
        "--fill-rate=fast, --fill-rate: ",
        "--scrub-rate=0, --scrub-rate: \"0\" must be at least 1Mi",
        "--offline-for=1d, --offline-for: \"1d\" must be a time",
        "--offline-for=-1h, --offline-for: must not be negative"
    })
    void whatWouldNeverEndIsRefused(String flag, String why) {
        ParameterException refused = assertThrows(ParameterException.class, () -> read(flag));
        assertTrue(String.valueOf(refused.getMessage()).contains(why), refused::getMessage);
    }
}
