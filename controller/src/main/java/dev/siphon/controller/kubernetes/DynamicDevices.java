package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.controller.warm.ResourceAmounts;
import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Counts the devices of Dynamic Resource Allocation that gated pods request and that nodes have
/// (`resource.k8s.io/v1`). It sends no request while no gated pod has a ResourceClaim. What cannot be read counts
/// as not requested, and is read again after [#AGE].
///
/// Not thread-safe.
final class DynamicDevices {
    private static final Logger LOG = LoggerFactory.getLogger(DynamicDevices.class);

    /// Lifetime of cached claims and devices.
    private static final Duration AGE = Duration.ofSeconds(10);

    /// Most claims and templates read per [#AGE]; pods of one job share a template. Namespaces take turns. Each
    /// gets at most half of what the others left, so that something remains for later ones.
    private static final int MOST_SPECS = 200;

    /// Most time spent reading them per [#AGE], because the gate waits for it. Shared like [#MOST_SPECS].
    private static final long MOST_NANOS = Duration.ofSeconds(1).toNanos();

    /// Most classes read per [#AGE].
    private static final int MOST_CLASSES = 200;

    /// Most claims whose allocations are counted.
    private static final int MOST_CLAIMS = 20_000;

    private static final String GROUP = PodResourceClaim.GROUP;
    private static final String METADATA = "metadata";
    private static final String SPEC = "spec";
    private static final Keep OF_CLAIMS =
            Keep.of("metadata.namespace", "metadata.name", "status.allocation.devices.results");
    private static final Keep OF_SPECS = Keep.of("spec.devices.requests", "spec.spec.devices.requests");
    private static final Keep OF_CLASSES = Keep.of("spec.selectors");

    /// Drivers write these: up to 128 devices with many attributes each.
    private static final Keep OF_SLICES =
            new Keep(Set.of("spec.driver", "spec.nodeName", "spec.pool", "spec.devices"), 100_000);

    private final KubernetesApi api;
    private final LongSupplier nanoTime;
    private KnownDevices known;

    /// Why the last count failed.
    private Optional<String> trouble = Optional.empty();

    DynamicDevices(KubernetesApi api, LongSupplier nanoTime) {
        this.api = api;
        this.nanoTime = nanoTime;
        this.known = new KnownDevices(nanoTime.getAsLong(), 0);
    }

    /// Results, valid for [#AGE].
    private static final class KnownDevices {
        private final long since;

        /// How many results there were before.
        private final int turn;

        /// Requested devices by path; an empty list for an object that cannot be read.
        private final Map<String, List<DeviceAsk>> specs = new HashMap<>();

        /// How many of these belong to each namespace.
        private final Map<String, Integer> shares = new HashMap<>();

        /// How long reading them took, for each namespace and in all.
        private final Map<String, Long> nanos = new HashMap<>();

        private long allNanos;

        /// Drivers by class; empty if its devices are not known to be of one driver.
        private final Map<String, Optional<String>> drivers = new HashMap<>();

        /// Drivers whose devices were queried, and those of them that can be counted.
        private Set<String> tried = Set.of();

        private Set<String> counted = Set.of();

        /// Claims with allocated devices, as NAMESPACE/NAME.
        private Set<String> allocated = Set.of();

        private Map<String, ResourceAmounts> room = Map.of();
        private Map<String, ResourceAmounts> taken = Map.of();

        private boolean troubled;

        KnownDevices(long since, int turn) {
            this.since = since;
            this.turn = turn;
        }
    }

    /// Returns what pods need in addition to their containers' requests.
    ///
    /// @param claimed the claims of all gated pods that have some, by uid
    /// @return by uid
    Map<String, ResourceAmounts> needs(Map<String, List<PodResourceClaim>> claimed) {
        if (claimed.isEmpty() || nanoTime.getAsLong() - known.since > AGE.toNanos()) {
            known = new KnownDevices(nanoTime.getAsLong(), known.turn + 1);
        }
        try {
            Set<String> drivers = inTurns(claimed.values()).stream()
                    .flatMap(each -> asks(each).stream())
                    .flatMap(ask -> driver(ask.deviceClass()).stream())
                    .collect(Collectors.toSet());
            if (!known.tried.containsAll(drivers)) {
                known.tried = drivers; // even if the count fails, so that it is not repeated
                count(
                        drivers,
                        claimed.values().stream()
                                .flatMap(List::stream)
                                .flatMap(each -> each.claim().stream())
                                .collect(Collectors.toSet()));
            }
        } catch (DriverException notNow) {
            known.troubled = true;
            warnOnce(String.valueOf(notNow.getMessage()));
        }
        if (!known.troubled) {
            trouble = Optional.empty();
        }
        return claimed.entrySet().stream().collect(Collectors.toMap(Map.Entry::getKey, each -> needs(each.getValue())));
    }

    private void warnOnce(String why) {
        if (!trouble.equals(Optional.of(why))) {
            LOG.warn("devices by ResourceClaims are not counted for pods at the gate: {}", why);
        }
        trouble = Optional.of(why);
    }

    /// Returns the devices of a node.
    ResourceAmounts room(String node) {
        return known.room.getOrDefault(node, ResourceAmounts.NONE);
    }

    /// Returns how many of these are taken.
    ResourceAmounts taken(String node) {
        return known.taken.getOrDefault(node, ResourceAmounts.NONE);
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
            Collections.rotate(queues, -(known.turn * MOST_SPECS / 2) % queues.size());
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

    private ResourceAmounts needs(List<PodResourceClaim> claims) {
        return claims.stream()
                // an allocated claim takes no more devices
                .filter(each -> each.claim().filter(known.allocated::contains).isEmpty())
                .flatMap(each -> known.specs.getOrDefault(each.path(), List.of()).stream())
                .flatMap(ask -> known.drivers.getOrDefault(ask.deviceClass(), Optional.empty()).stream()
                        .filter(known.counted::contains)
                        .map(driver -> DeviceCount.amount(driver, ask.count())))
                .reduce(ResourceAmounts.NONE, ResourceAmounts::plus);
    }

    /// Returns the devices that a claim or template requests; none if it does not exist yet or the limit is
    /// reached, until the next refresh.
    private List<DeviceAsk> asks(PodResourceClaim claimed) {
        Optional<List<DeviceAsk>> read = Optional.ofNullable(known.specs.get(claimed.path()));
        int own = known.shares.getOrDefault(claimed.namespace(), 0);
        long ownNanos = known.nanos.getOrDefault(claimed.namespace(), 0L);
        boolean isEnough = own >= MOST_SPECS - known.specs.size() || ownNanos >= MOST_NANOS - known.allNanos;
        if (read.isPresent() || isEnough) {
            return read.orElse(List.of());
        }
        known.shares.put(claimed.namespace(), own + 1);
        known.specs.put(claimed.path(), List.of());
        long begun = nanoTime.getAsLong();
        try {
            return read(claimed);
        } finally {
            long took = nanoTime.getAsLong() - begun;
            known.nanos.merge(claimed.namespace(), took, Long::sum);
            known.allNanos += took;
        }
    }

    private List<DeviceAsk> read(PodResourceClaim claimed) {
        List<DeviceAsk> asks = find(claimed.path(), OF_SPECS)
                .flatMap(found -> JsonParts.object(found, SPEC, SPEC).or(() -> JsonParts.object(found, SPEC)))
                .map(DeviceAsk::of)
                .orElse(List.of());
        known.specs.put(claimed.path(), asks);
        return asks;
    }

    private Optional<String> driver(String deviceClass) {
        if (!known.drivers.containsKey(deviceClass) && known.drivers.size() < MOST_CLASSES) {
            known.drivers.put(deviceClass, Optional.empty());
            known.drivers.put(
                    deviceClass,
                    find(GROUP + "deviceclasses/" + deviceClass, OF_CLASSES)
                            .flatMap(found -> JsonParts.object(found, SPEC))
                            .flatMap(DeviceAsk::driver));
        }
        return known.drivers.getOrDefault(deviceClass, Optional.empty());
    }

    private Optional<JsonObject> find(String path, Keep keep) {
        return ObjectParts.find(api, "get " + path.substring(GROUP.length()), path, keep)
                .map(ObjectParts::kept);
    }

    /// @param shared claims whose allocation matters
    private void count(Set<String> drivers, Set<String> shared) {
        DeviceCount count = new DeviceCount(drivers);
        for (String driver : drivers) {
            boolean _ = ObjectParts.list(
                    api,
                    "list ResourceSlices",
                    GROUP + "resourceslices?limit=100&fieldSelector=spec.driver%3D" + driver,
                    OF_SLICES,
                    slice -> count.slice(slice.kept()));
        }
        Set<String> allocated = new HashSet<>();
        AtomicInteger claims = new AtomicInteger();
        boolean _ =
                ObjectParts.list(api, "list ResourceClaims", GROUP + "resourceclaims?limit=100", OF_CLAIMS, found -> {
                    JsonObject claim = found.kept();
                    if (claims.incrementAndGet() > MOST_CLAIMS) {
                        throw new DriverException.BackendFault(
                                "there are more than " + MOST_CLAIMS + " ResourceClaims");
                    }
                    count.subtractClaim(claim);
                    String name = JsonParts.text(claim, METADATA, "namespace").orElse("") + "/"
                            + JsonParts.text(claim, METADATA, "name").orElse("");
                    if (shared.contains(name)
                            && JsonParts.at(claim, "status", "allocation").isPresent()) {
                        allocated.add(name);
                    }
                });
        known.counted = count.countable();
        known.allocated = allocated;
        known.room = count.room();
        known.taken = count.taken();
    }
}
