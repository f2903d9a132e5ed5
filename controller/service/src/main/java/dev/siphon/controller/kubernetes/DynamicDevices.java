package dev.siphon.controller.kubernetes;

import dev.siphon.controller.warm.ResourceAmounts;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Counts the devices of Dynamic Resource Allocation that gated pods request and that nodes have
/// (`resource.k8s.io/v1`). It sends no request while no gated pod has a ResourceClaim, and never waits for the API
/// server once it is followed.
///
/// Not thread-safe.
final class DynamicDevices {
    private static final Logger LOG = LoggerFactory.getLogger(DynamicDevices.class);

    /// How long a pod waits until what it requests is known. After that, what is unknown counts as not requested.
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final KubernetesApi api;
    private final LongSupplier nanoTime;
    private final DeviceObjects objects;
    private DeviceSpecs specs;

    /// When each pod with claims was first seen, by uid.
    private Map<String, Long> since = Map.of();

    private Map<String, ResourceAmounts> room = Map.of();
    private Map<String, ResourceAmounts> taken = Map.of();

    /// Whether the last count failed, which is logged once.
    private boolean isTroubled;

    DynamicDevices(KubernetesApi api, LongSupplier nanoTime) {
        this.api = api;
        this.nanoTime = nanoTime;
        this.objects = new DeviceObjects(api, nanoTime);
        this.specs = new DeviceSpecs(api, nanoTime, Runnable::run, () -> {});
    }

    /// What pods request in addition to their containers' requests.
    ///
    /// @param amounts by pod uid
    /// @param unknown uids of pods for which it is being found out
    record DeviceNeeds(Map<String, ResourceAmounts> amounts, Set<String> unknown) {
        private static final DeviceNeeds NONE = new DeviceNeeds(Map.of(), Set.of());
    }

    /// Reads by a worker and by watches from now on, until the task is closed. Before, each read is a request.
    ///
    /// @param changed as for [Informer#follow]
    BackgroundTasks.Task follow(BackgroundTasks tasks, Runnable changed) {
        ExecutorService worker = Executors.newSingleThreadExecutor(
                Thread.ofPlatform().daemon().name("gate-devices").factory());
        specs = new DeviceSpecs(
                api, nanoTime, reading -> worker.execute(tasks.guarded("gate-devices", reading)), changed);
        BackgroundTasks.Task watches = objects.follow(tasks, changed);
        return () -> {
            worker.shutdownNow();
            watches.close();
        };
    }

    /// Returns what pods request.
    ///
    /// @param claimed the claims of all gated pods that have some, by uid
    DeviceNeeds needs(Map<String, List<PodResourceClaim>> claimed) {
        if (claimed.isEmpty()) {
            since = Map.of();
            room = Map.of();
            taken = Map.of();
            objects.idle();
            return DeviceNeeds.NONE;
        }
        Map<String, Long> seen = new HashMap<>();
        claimed.keySet().forEach(uid -> seen.put(uid, since.getOrDefault(uid, nanoTime.getAsLong())));
        since = seen;
        objects.need();
        DeviceSpecs.Known known = specs.of(claimed.values());
        Counted counted = count(known);
        Map<String, ResourceAmounts> amounts = new HashMap<>();
        Set<String> unknown = new HashSet<>();
        claimed.forEach((uid, claims) -> {
            boolean isKnown = counted.isKnown() && claims.stream().allMatch(known::has);
            if (!isKnown && nanoTime.getAsLong() - seen.getOrDefault(uid, 0L) < PATIENCE.toNanos()) {
                unknown.add(uid);
            }
            amounts.put(uid, needs(claims, known, counted));
        });
        return new DeviceNeeds(amounts, unknown);
    }

    /// @param drivers whose devices were counted
    /// @param allocated the claims that have devices, by [DeviceAllocation#key]
    /// @param isKnown false while slices and claims are being listed
    private record Counted(Set<String> drivers, Set<Long> allocated, boolean isKnown) {}

    private Counted count(DeviceSpecs.Known known) {
        room = Map.of();
        taken = Map.of();
        Set<String> drivers =
                known.drivers().values().stream().flatMap(Optional::stream).collect(Collectors.toSet());
        if (drivers.isEmpty()) {
            return new Counted(Set.of(), Set.of(), true);
        }
        try {
            Optional<List<DeviceSlice>> slices = objects.slices();
            Optional<List<DeviceAllocation>> allocations = objects.allocations();
            if (slices.isEmpty() || allocations.isEmpty()) {
                return new Counted(Set.of(), Set.of(), false);
            }
            DeviceCount count = new DeviceCount(drivers);
            slices.get().forEach(count::add);
            allocations.get().forEach(count::subtract);
            room = count.room();
            taken = count.taken();
            isTroubled = false;
            return new Counted(
                    count.countable(),
                    allocations.get().stream().map(DeviceAllocation::claim).collect(Collectors.toSet()),
                    true);
        } catch (DriverException notNow) {
            if (!isTroubled) {
                LOG.warn("devices by ResourceClaims are not counted for pods at the gate: {}", notNow.getMessage());
            }
            isTroubled = true;
            return new Counted(Set.of(), Set.of(), true);
        }
    }

    private static ResourceAmounts needs(List<PodResourceClaim> claims, DeviceSpecs.Known known, Counted counted) {
        return claims.stream()
                // an allocated claim takes no more devices
                .filter(each ->
                        each.claim().filter(counted.allocated()::contains).isEmpty())
                .flatMap(each -> known.specs().getOrDefault(each.path(), List.of()).stream())
                .flatMap(ask -> known.drivers().getOrDefault(ask.deviceClass(), Optional.empty()).stream()
                        .filter(counted.drivers()::contains)
                        .map(driver -> DeviceCount.amount(driver, ask.count())))
                .reduce(ResourceAmounts.NONE, ResourceAmounts::plus);
    }

    /// Returns the devices of a node.
    ResourceAmounts room(String node) {
        return room.getOrDefault(node, ResourceAmounts.NONE);
    }

    /// Returns how many of these are taken.
    ResourceAmounts taken(String node) {
        return taken.getOrDefault(node, ResourceAmounts.NONE);
    }
}
