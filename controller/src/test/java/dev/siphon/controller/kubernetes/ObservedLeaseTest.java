package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaderElectionRecord;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.Lock;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ObservedLeaseTest {
    private static final ZonedDateTime THEIR_CLOCK = ZonedDateTime.of(2001, 2, 3, 4, 5, 6, 0, ZoneOffset.UTC);

    /// What the server has.
    private static final class Stored implements Lock {
        private Optional<LeaderElectionRecord> stored = Optional.empty();

        @Override
        public @Nullable LeaderElectionRecord get(KubernetesClient client) {
            return stored.orElse(null);
        }

        @Override
        public void create(KubernetesClient client, LeaderElectionRecord made) {
            stored = Optional.of(made);
        }

        @Override
        public void update(KubernetesClient client, LeaderElectionRecord changed) {
            stored = Optional.of(changed);
        }

        @Override
        public String identity() {
            return "own";
        }

        @Override
        public String describe() {
            return "stored";
        }
    }

    private final Stored stored = new Stored();
    private final AtomicLong nanos = new AtomicLong();
    private final ObservedLease lease = new ObservedLease(stored, nanos::get);
    private Optional<TestCluster> cluster = Optional.empty();

    /// For the client, which the library hands on and nobody uses here.
    @BeforeEach
    void start(@TempDir Path folder) {
        cluster = Optional.of(TestCluster.inMemory(folder));
    }

    @AfterEach
    void stop() {
        cluster.orElseThrow().close();
    }

    private KubernetesClient client() {
        return cluster.orElseThrow().admin();
    }

    private static LeaderElectionRecord record(String holder, ZonedDateTime renewed) {
        return new LeaderElectionRecord(holder, Leadership.HELD, THEIR_CLOCK, renewed, 3);
    }

    private void pass(Duration time) {
        nanos.addAndGet(time.toNanos());
    }

    /// How old the Lease is, to the second.
    private long ageSeconds() {
        ZonedDateTime renewed = Objects.requireNonNull(lease.get(client())).getRenewTime();
        return Duration.between(renewed, ZonedDateTime.now(ZoneOffset.UTC)).toSeconds();
    }

    @Test
    void aLeaseIsAsOldAsItsLastChangeWhateverTheHoldersClockSays() {
        stored.create(client(), record("other", THEIR_CLOCK));
        assertEquals(0, ageSeconds());
        pass(Duration.ofSeconds(9));
        assertEquals(9, ageSeconds());
        stored.update(client(), record("other", THEIR_CLOCK.plusSeconds(2)));
        assertEquals(0, ageSeconds());
        pass(Duration.ofSeconds(16));
        assertEquals(16, ageSeconds());
        stored.update(client(), record("third", THEIR_CLOCK.plusYears(90)));
        assertEquals(0, ageSeconds());
    }

    @Test
    void whatElseTheLeaseSaysIsHandedOn() {
        assertEquals(Optional.empty(), Optional.ofNullable(lease.get(client())));
        stored.create(client(), record("other", THEIR_CLOCK));
        LeaderElectionRecord found = Objects.requireNonNull(lease.get(client()));
        assertEquals("other", found.getHolderIdentity());
        assertEquals(Leadership.HELD, found.getLeaseDuration());
        assertEquals(THEIR_CLOCK, found.getAcquireTime());
        assertEquals(3, found.getLeaderTransitions());
        assertEquals("own", lease.identity());
        assertEquals("stored", lease.describe());
    }

    @Test
    void aRenewalCountsFromWhenItWasBegun() {
        assertTrue(lease.sinceRenewal().isEmpty());
        var _ = lease.get(client());
        pass(Duration.ofSeconds(4)); // for an answer
        lease.create(client(), record("own", THEIR_CLOCK));
        assertEquals(Optional.of(Duration.ofSeconds(4)), lease.sinceRenewal());
        pass(Duration.ofSeconds(2));
        var _ = lease.get(client());
        pass(Duration.ofSeconds(1));
        lease.update(client(), record("own", THEIR_CLOCK));
        assertEquals(Optional.of(Duration.ofSeconds(1)), lease.sinceRenewal());
        lease.update(client(), record("", THEIR_CLOCK));
        pass(Duration.ofSeconds(1));
        assertEquals(Optional.of(Duration.ofSeconds(2)), lease.sinceRenewal(), "to give it back is no renewal");
    }
}
