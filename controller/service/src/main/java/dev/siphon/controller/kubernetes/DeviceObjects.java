package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.kubernetes.DeviceSlice.DevicePool;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongSupplier;

/// The ResourceSlices of the cluster, and its ResourceClaims that have devices. They are watched only while somebody
/// needs them: many clusters have thousands, and no pod at the gate that asks for any.
///
/// Not thread-safe.
final class DeviceObjects {
    /// Watches end when nobody has needed them for this long.
    private static final Duration IDLE = Duration.ofMinutes(10);

    /// Most slices, and most claims with devices, that are kept.
    static final int MOST = 20_000;

    private static final int PAGE = 100;

    private final LongSupplier nanoTime;
    private final Kept<DeviceSlice> slices;
    private final Kept<DeviceAllocation> allocations;

    /// Starts both watches; empty before [#follow].
    private Optional<Runnable> starting = Optional.empty();

    private volatile List<BackgroundTasks.Task> watches = List.of();
    private long needed;

    DeviceObjects(KubernetesApi api, LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        Interned<DevicePool> pools = new Interned<>();
        this.slices = new Kept<>(
                api,
                new Informer.Source(
                        "ResourceSlices", PodResourceClaim.GROUP + "resourceslices", "", PAGE, DeviceSlice.PARTS),
                slice -> Optional.of(DeviceSlice.of(slice)),
                nanoTime);
        this.allocations = new Kept<>(
                api,
                new Informer.Source(
                        "ResourceClaims", PodResourceClaim.GROUP + "resourceclaims", "", PAGE, DeviceAllocation.PARTS),
                claim -> DeviceAllocation.of(claim, pools::of),
                nanoTime);
    }

    /// Lets watches be started when they are needed, until the task is closed. Before, each read lists.
    ///
    /// @param changed as for [Informer#follow]
    BackgroundTasks.Task follow(BackgroundTasks tasks, Runnable changed) {
        starting = Optional.of(() ->
                watches = List.of(slices.informer.follow(tasks, changed), allocations.informer.follow(tasks, changed)));
        return () -> watches.forEach(BackgroundTasks.Task::close);
    }

    /// Starts the watches, unless they run.
    void need() {
        needed = nanoTime.getAsLong();
        if (watches.isEmpty()) {
            starting.ifPresent(Runnable::run);
        }
    }

    /// Ends the watches once nobody has needed them for [#IDLE].
    void idle() {
        if (!watches.isEmpty() && nanoTime.getAsLong() - needed > IDLE.toNanos()) {
            watches.forEach(BackgroundTasks.Task::close);
            watches = List.of();
        }
    }

    /// Returns the slices; empty until they are listed.
    ///
    /// @throws DriverException if they cannot be watched or listed, or are too many
    Optional<List<DeviceSlice>> slices() {
        return slices.known();
    }

    /// Returns the devices that claims have; empty until the claims are listed.
    ///
    /// @throws DriverException as [#slices]
    Optional<List<DeviceAllocation>> allocations() {
        return allocations.known();
    }

    /// At most [#MOST] values of objects of one kind.
    private static final class Kept<T> implements Informer.Values<T> {
        private static final int ROOM = 1_000;

        private final String kind;
        private final Function<JsonObject, Optional<T>> value;
        private final Informer<T> informer;
        private int count;

        /// Whether objects were left out.
        private volatile boolean isIncomplete;

        Kept(
                KubernetesApi api,
                Informer.Source source,
                Function<JsonObject, Optional<T>> value,
                LongSupplier nanoTime) {
            this.kind = source.kind();
            this.value = value;
            this.informer = new Informer<>(api, source, this, nanoTime);
        }

        private Optional<List<T>> known() {
            Optional<List<T>> known = informer.known();
            if (isIncomplete) {
                throw new DriverException.BackendFault("there are more than " + MOST + " " + kind);
            }
            return known;
        }

        @Override
        public Optional<T> of(ObjectParts object, Optional<T> before) {
            before.ifPresent(this::gone);
            Optional<T> found = value.apply(object.kept());
            if (found.isPresent() && count >= MOST) {
                isIncomplete = true;
                return Optional.empty();
            }
            count += found.isPresent() ? 1 : 0;
            return found;
        }

        @Override
        public void gone(T before) {
            count--;
        }

        @Override
        public boolean isToBeListed() {
            boolean isRoom = isIncomplete && count <= MOST - ROOM;
            isIncomplete = isIncomplete && !isRoom;
            return isRoom;
        }
    }
}
