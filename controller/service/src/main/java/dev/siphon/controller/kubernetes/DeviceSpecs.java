package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Reads the devices that gated pods' claims and templates request, and the drivers of their classes. One worker
/// reads them, so nobody waits for the API server. What cannot be read counts as not requested, and is read again
/// after [#AGE].
final class DeviceSpecs {
    private static final Logger LOG = LoggerFactory.getLogger(DeviceSpecs.class);

    /// When results are read again.
    private static final Duration AGE = Duration.ofSeconds(10);

    /// Most claims and templates read per [#AGE]; pods of one job share a template. Namespaces take turns, and have
    /// [NamespaceShares] of it.
    private static final int MOST_SPECS = 200;

    /// Most time spent reading them, and the classes, per [#AGE]. Shared like [#MOST_SPECS].
    private static final long MOST_NANOS = Duration.ofSeconds(5).toNanos();

    /// Most classes read per [#AGE]. Shared like [#MOST_SPECS].
    private static final int MOST_CLASSES = 200;

    private static final Keep OF_SPECS = Keep.of("spec.devices.requests", "spec.spec.devices.requests");
    private static final Keep OF_CLASSES = Keep.of("spec.selectors");
    private static final String SPEC = "spec";

    private final KubernetesApi api;
    private final LongSupplier nanoTime;
    private final Executor worker;
    private final Runnable changed;
    private final AtomicBoolean isReading = new AtomicBoolean();
    private volatile Known known = new Known(Map.of(), Map.of());

    /// When the next reading begins; the earliest if all is known.
    private volatile long next;

    /// Only the worker uses it.
    private Period period;

    /// Whether a failure was logged; only the worker uses it.
    private boolean isTold;

    /// Results.
    ///
    /// @param specs requested devices by path; an empty list for an object that cannot be read
    /// @param drivers by class; empty if its devices are not known to be of one driver
    record Known(Map<String, List<DeviceAsk>> specs, Map<String, Optional<String>> drivers) {
        Known {
            specs = Map.copyOf(specs);
            drivers = Map.copyOf(drivers);
        }

        /// Whether a claim's devices and their drivers are known.
        boolean has(PodResourceClaim claim) {
            return specs.containsKey(claim.path())
                    && specs.getOrDefault(claim.path(), List.of()).stream()
                            .allMatch(ask -> drivers.containsKey(ask.deviceClass()));
        }
    }

    /// What was read since the results were last old.
    private static final class Period {
        private final long since;
        private final int turn;
        private final Known before;
        private final Map<String, List<DeviceAsk>> specs = new HashMap<>();
        private final Map<String, Optional<String>> drivers = new HashMap<>();

        private final NamespaceShares specShares = new NamespaceShares(MOST_SPECS);
        private final NamespaceShares classShares = new NamespaceShares(MOST_CLASSES);

        /// How long reading took.
        private final NamespaceShares nanos = new NamespaceShares(MOST_NANOS);

        /// Whether something could not be read.
        private boolean isTroubled;

        Period(long since, int turn, Known before) {
            this.since = since;
            this.turn = turn;
            this.before = before;
        }

        /// Whether a namespace may read no more, for their number or for the time that it took.
        private boolean isUsedUp(NamespaceShares shares, String namespace) {
            return shares.isUsedUp(namespace) || nanos.isUsedUp(namespace);
        }

        /// Returns these results, and those of the period before that were not read again yet.
        private Known known() {
            Map<String, List<DeviceAsk>> allSpecs = new HashMap<>(before.specs());
            allSpecs.putAll(specs);
            Map<String, Optional<String>> allDrivers = new HashMap<>(before.drivers());
            allDrivers.putAll(drivers);
            return new Known(allSpecs, allDrivers);
        }
    }

    /// @param worker runs one reading at a time; on the caller's own thread, the caller waits
    /// @param changed called after each reading with new results, on the worker: must return at once
    DeviceSpecs(KubernetesApi api, LongSupplier nanoTime, Executor worker, Runnable changed) {
        this.api = api;
        this.nanoTime = nanoTime;
        this.worker = worker;
        this.changed = changed;
        this.next = nanoTime.getAsLong();
        this.period = new Period(next - AGE.toNanos() - 1, 0, known);
    }

    /// Returns what is known, and has the rest read.
    ///
    /// @param claimed the claims of each pod
    Known of(Collection<List<PodResourceClaim>> claimed) {
        boolean isOld = nanoTime.getAsLong() - next >= 0;
        boolean isMissing = !claimed.stream().flatMap(List::stream).allMatch(known::has);
        if ((isOld || isMissing) && isReading.compareAndSet(false, true)) {
            try {
                worker.execute(() -> read(claimed));
            } catch (RejectedExecutionException _) {
                isReading.set(false); // the process ends
            }
        }
        return known;
    }

    private void read(Collection<List<PodResourceClaim>> claimed) {
        Known before = known;
        try {
            long now = nanoTime.getAsLong();
            if (now - period.since > AGE.toNanos()) {
                // not the results before those, which nobody may need any more
                period = new Period(now, period.turn + 1, new Known(period.specs, period.drivers));
                next = now + AGE.toNanos() + 1;
            }
            for (PodResourceClaim claim : inTurns(claimed)) {
                try {
                    asks(claim).forEach(ask -> readDriver(claim.namespace(), ask.deviceClass()));
                } catch (DriverException notNow) {
                    period.isTroubled = true;
                    tell(notNow);
                }
            }
            isTold = period.isTroubled;
            known = period.known();
        } finally {
            isReading.set(false);
        }
        if (!known.equals(before)) {
            changed.run();
        }
    }

    private void tell(DriverException failure) {
        if (!isTold) {
            LOG.warn("devices by ResourceClaims are not counted for pods at the gate: {}", failure.getMessage());
        }
        isTold = true;
    }

    /// Returns each claim once, in round-robin order over the namespaces; each refresh starts at another namespace.
    private List<PodResourceClaim> inTurns(Collection<List<PodResourceClaim>> claims) {
        List<Iterator<PodResourceClaim>> queues = claims.stream()
                .flatMap(List::stream)
                .distinct()
                .collect(Collectors.groupingBy(PodResourceClaim::namespace, TreeMap::new, Collectors.toList()))
                .values()
                .stream()
                .map(List::iterator)
                .collect(Collectors.toCollection(ArrayList::new));
        if (!queues.isEmpty()) {
            Collections.rotate(queues, -(period.turn * MOST_SPECS / 2) % queues.size());
        }
        Deque<Iterator<PodResourceClaim>> left = new ArrayDeque<>(queues);
        List<PodResourceClaim> ordered = new ArrayList<>();
        while (!left.isEmpty()) {
            Iterator<PodResourceClaim> queue = left.removeFirst();
            ordered.add(queue.next());
            if (queue.hasNext()) {
                left.addLast(queue);
            }
        }
        return ordered;
    }

    /// Returns the devices that a claim or template requests; none if it does not exist yet or the limit is
    /// reached, until the next refresh.
    private List<DeviceAsk> asks(PodResourceClaim claimed) {
        Optional<List<DeviceAsk>> read = Optional.ofNullable(period.specs.get(claimed.path()));
        if (read.isPresent() || period.isUsedUp(period.specShares, claimed.namespace())) {
            return read.orElse(List.of());
        }
        period.specShares.take(claimed.namespace(), 1);
        period.specs.put(claimed.path(), List.of());
        return timed(claimed.namespace(), () -> readSpec(claimed));
    }

    private <T> T timed(String namespace, Supplier<T> reading) {
        long begun = nanoTime.getAsLong();
        try {
            return reading.get();
        } finally {
            period.nanos.take(namespace, nanoTime.getAsLong() - begun);
        }
    }

    private List<DeviceAsk> readSpec(PodResourceClaim claimed) {
        List<DeviceAsk> asks = find(claimed.path(), OF_SPECS)
                .flatMap(found -> JsonParts.object(found, SPEC, SPEC).or(() -> JsonParts.object(found, SPEC)))
                .map(DeviceAsk::of)
                .orElse(List.of());
        period.specs.put(claimed.path(), asks);
        return asks;
    }

    private void readDriver(String namespace, String deviceClass) {
        if (period.drivers.containsKey(deviceClass) || period.isUsedUp(period.classShares, namespace)) {
            return;
        }
        period.classShares.take(namespace, 1);
        period.drivers.put(deviceClass, Optional.empty());
        period.drivers.put(
                deviceClass,
                timed(
                        namespace,
                        () -> find(PodResourceClaim.GROUP + "deviceclasses/" + deviceClass, OF_CLASSES)
                                .flatMap(found -> JsonParts.object(found, SPEC))
                                .flatMap(DeviceAsk::driver)));
    }

    private Optional<JsonObject> find(String path, Keep keep) {
        return ObjectParts.find(api, "get " + path.substring(PodResourceClaim.GROUP.length()), path, keep)
                .map(ObjectParts::kept);
    }
}
