package dev.siphon.controller.kubernetes;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaderElectionRecord;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.Lock;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// A Lease by the clock of this machine alone.
///
/// The library compares the time that the holder wrote with the time here: a clock that is [Leadership#HELD] ahead
/// of the holder's would take the Lease from one who renews it all the while. Here a Lease is as old as the last
/// change of it that was seen, which is how Kubernetes' own controllers count (client-go, `leaderelection`).
final class ObservedLease implements Lock {
    private final Lock lease;
    private final LongSupplier nanoTime;
    private Optional<Seen> seen = Optional.empty();
    private long asked;
    private volatile Optional<Long> renewed = Optional.empty();

    /// What the server told.
    ///
    /// @param at when it was first seen
    private record Seen(LeaderElectionRecord told, long at) {}

    /// @param nanoTime [System#nanoTime]
    ObservedLease(Lock lease, LongSupplier nanoTime) {
        this.lease = lease;
        this.nanoTime = nanoTime;
    }

    /// How long ago the last request began that has made or renewed the Lease for this controller; nobody else may
    /// have it sooner than [Leadership#HELD] after that. Empty if it never had it.
    Optional<Duration> sinceRenewal() {
        return renewed.map(then -> Duration.ofNanos(nanoTime.getAsLong() - then));
    }

    @Override
    public synchronized @Nullable LeaderElectionRecord get(KubernetesClient client) {
        asked = nanoTime.getAsLong();
        return Optional.ofNullable(lease.get(client)).map(this::here).orElse(null);
    }

    private LeaderElectionRecord here(LeaderElectionRecord told) {
        if (seen.filter(last -> last.told().equals(told)).isEmpty()) {
            seen = Optional.of(new Seen(told, nanoTime.getAsLong()));
        }
        Duration age =
                Duration.ofNanos(nanoTime.getAsLong() - seen.orElseThrow().at());
        return new LeaderElectionRecord(
                told.getHolderIdentity(),
                told.getLeaseDuration(),
                told.getAcquireTime(),
                ZonedDateTime.now(ZoneOffset.UTC).minus(age),
                told.getLeaderTransitions());
    }

    @Override
    public synchronized void create(KubernetesClient client, LeaderElectionRecord made) {
        lease.create(client, made);
        renewed = Optional.of(asked);
    }

    @Override
    public synchronized void update(KubernetesClient client, LeaderElectionRecord changed) {
        lease.update(client, changed);
        // the library also gives the Lease back by this
        if (identity().equals(changed.getHolderIdentity())) {
            renewed = Optional.of(asked);
        }
    }

    @Override
    public String identity() {
        return lease.identity();
    }

    @Override
    public String describe() {
        return lease.describe();
    }
}
