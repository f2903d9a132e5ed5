package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.ceph.call.CephMetrics;
import dev.siphon.controller.ceph.call.ReconnectingHandle;
import dev.siphon.controller.volume.FileSystemRef;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/// Requests the capabilities on an account's directories from the MDS before the mgr needs them. The mgr runs the
/// commands of all accounts on one thread, which blocks until each client releases its capabilities. A client
/// that was killed, or whose node lost power, releases none until the MDS ends its session after
/// `session_timeout`, 60 s.
///
/// Probes use their own client, with a thread for each waiting account, so nobody else waits with them. Only one
/// probe per account runs at a time, in the order of arrival: until the MDS replies, the directories are locked for
/// readers too.
public final class CapabilityProbes {
    /// How long a client may take to release its capabilities. A live one takes milliseconds.
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    /// How long the MDS may take to reply to a request that waits for no client.
    private static final Duration CONTROL = Duration.ofMillis(500);

    private static final String NOTE = "get note";
    private static final String READING = "probe for reading";
    private static final String CHANGE = "probe for a change";
    private static final String REMOVAL = "probe for a removal";

    /// The probes of a group alone. The second takes everything from other clients that the first takes.
    private static final List<String> BY_STRENGTH = List.of(READING, CHANGE);

    /// Maximum number of accounts that wait at once; each holds a thread.
    static final int MOST = 64;

    private final Function<FileSystemRef, CephFs> clients;
    private final Supplier<Duration> patience;
    private final CephMetrics metrics;
    private final Executor threads;
    private final ProbeQueues queues = new ProbeQueues();
    private final PendingGroupChanges changes = new PendingGroupChanges(System::nanoTime);
    private final Map<FileSystemRef, CapabilityProbe> controls = new ConcurrentHashMap<>();

    /// When probes for the removal of a volume were sent, for those that replied lately.
    private final Map<VolumeId.Provisioned, Long> removable = new ConcurrentHashMap<>();

    private final Semaphore free = new Semaphore(MOST);

    /// @param clients returns clients whose calls may last as long as a dead client's session
    /// @param patience how long the caller on this thread waits for an MDS that replies to nobody
    CapabilityProbes(Function<FileSystemRef, CephFs> clients, Supplier<Duration> patience, CephMetrics metrics) {
        this(
                clients,
                patience,
                metrics,
                probe -> Thread.ofVirtual().name("probe").start(probe));
    }

    /// @param threads starts a thread for each probe
    CapabilityProbes(
            Function<FileSystemRef, CephFs> clients,
            Supplier<Duration> patience,
            CephMetrics metrics,
            Executor threads) {
        this.clients = clients;
        this.patience = patience;
        this.metrics = metrics;
        this.threads = threads;
    }

    /// Reads an attribute of the group's directory or of a path in it; same errors as [#read(SubvolumeGroup)]. The
    /// client usually has it: the MDS recalls attributes only when somebody changes them. So unlike the other
    /// probes this one takes nothing from the mgr, and seldom costs a round trip.
    ///
    /// @return empty if the attribute or the path does not exist
    Optional<String> attribute(SubvolumeGroup group, String path, String name) {
        AtomicReference<Optional<String>> found = new AtomicReference<>(Optional.empty());
        ask(group, CapabilityProbe.single(NOTE, mount -> found.set(mount.attribute(mount.locate(path), name))));
        return found.get();
    }

    /// Probes before the mgr reads the group's directory.
    ///
    /// @throws DriverException.OperationPending (ABORTED) if a client does not release a needed capability
    public void read(SubvolumeGroup group) {
        ask(group, READING, mount -> {
            var _ = mount.stat(mount.locate(group.path()));
        });
    }

    /// Probes before the mgr reads a volume; same errors as [#read(SubvolumeGroup)].
    public void read(VolumeId.Provisioned volume) {
        SubvolumeGroup group = SubvolumeGroup.of(volume);
        ask(group, CapabilityProbe.single(READING, mount -> {
            var _ = mount.stat(mount.locate(group.path()));
            var _ = mount.stat(directory(mount, volume));
        }));
    }

    /// Probes as [#read(SubvolumeGroup)] does, then lets the mgr create something in the group's directory.
    ///
    /// @param command sends the command to the mgr and waits for it
    public void change(SubvolumeGroup group, Runnable command) {
        long now = System.nanoTime();
        OptionalLong lately = changes.askedLately(group);
        if (lately.isEmpty()) {
            ask(group, CHANGE, mount -> mount.takeFromOthers(mount.locate(group.path())));
        }
        changes.run(group, lately.orElse(now), command);
    }

    /// Probes before the mgr changes a volume; same errors as [#read(SubvolumeGroup)].
    public void change(VolumeId.Provisioned volume) {
        SubvolumeGroup group = SubvolumeGroup.of(volume);
        ask(group, CapabilityProbe.single(CHANGE, mount -> {
            mount.takeFromOthers(mount.locate(group.path()));
            mount.takeFromOthers(directory(mount, volume));
        }));
    }

    /// Probes before this controller rearranges a volume's files for its removal; same errors as
    /// [#read(SubvolumeGroup)]. The removal uses the reply too if it follows soon.
    void beforeRemoval(VolumeId.Provisioned volume) {
        removable.values().removeIf(askedAt -> !changes.isLately(askedAt));
        removable.put(volume, probeForRemoval(volume));
    }

    /// Probes as [#read(SubvolumeGroup)] does, then lets the mgr remove a volume.
    ///
    /// @param command sends the command to the mgr and waits for it
    public void remove(VolumeId.Provisioned volume, Runnable command) {
        long askedAt = Optional.ofNullable(removable.remove(volume))
                .filter(changes::isLately)
                .orElseGet(() -> probeForRemoval(volume));
        changes.run(SubvolumeGroup.of(volume), askedAt, command);
    }

    /// @return when the probe of the group's directory was sent
    private long probeForRemoval(VolumeId.Provisioned volume) {
        SubvolumeGroup group = SubvolumeGroup.of(volume);
        AtomicLong askedAt = new AtomicLong(System.nanoTime());
        ask(group, CapabilityProbe.single(REMOVAL, mount -> {
            // only now: it may have waited for other probes, while a client took capabilities again
            OptionalLong lately = changes.askedLately(group);
            askedAt.set(lately.orElseGet(System::nanoTime));
            if (lately.isEmpty()) {
                mount.takeFromOthers(mount.locate(group.path()));
            }
            mount.takeAllFromOthers(directory(mount, volume));
        }));
        return askedAt.get();
    }

    /// Returns the subvolume's directory: every client of the volume has looked up this one, above the one with
    /// the data. Listing it to find the latter is unsafe: if others change it meanwhile, libcephfs 20.2.4 aborts
    /// the process (`insert_readdir_results`).
    private static MountPath directory(Mount mount, VolumeId.Provisioned volume) {
        return mount.locate(SubvolumeGroup.pathOf(volume));
    }

    /// Rejects a call in the directories of a group whose client does not respond; sends no request.
    ///
    /// @throws DriverException.OperationPending (ABORTED) in that case
    void refuseWhileStalled(SubvolumeGroup group) {
        if (queues.running(group).filter(CapabilityProbe::isStalled).isPresent()) {
            throw stalled(group);
        }
    }

    /// Runs a probe of the group alone.
    private void ask(SubvolumeGroup group, String operation, Consumer<Mount> question) {
        ask(group, CapabilityProbe.ofGroup(operation, BY_STRENGTH.indexOf(operation), question));
    }

    /// Runs a probe after those of the group that wait already.
    private void ask(SubvolumeGroup group, CapabilityProbe probe) {
        long deadline = System.nanoTime() + patience.get().toNanos();
        refuseWhileStalled(group);
        if (queues.add(group, probe)) {
            begin(group);
        }
        try {
            await(group, probe, deadline);
        } finally {
            queues.withdraw(group, probe);
        }
        probe.orThrow();
    }

    /// Starts the thread that sends the probes of a group until none is left. It belongs to no operation, so callers
    /// that leave keep no locks.
    private void begin(SubvolumeGroup group) {
        if (!free.tryAcquire()) {
            refuse(
                    group,
                    new DriverException.BackendUnavailable(group.path() + " in cluster " + group.cluster()
                            + " was not read: the directories of " + MOST
                            + " accounts wait for clients that do not answer; retry"));
            return;
        }
        metrics.probesInFlight(group.cluster(), 1);
        try {
            threads.execute(() -> runAll(group));
        } catch (RejectedExecutionException | OutOfMemoryError noThread) { // a full heap ends the process
            leave(group);
            refuse(group, noThread(group.path(), group.cluster(), noThread));
        }
    }

    private static DriverException noThread(String what, String cluster, Throwable noThread) {
        return new DriverException.BackendUnavailable(
                what + " in cluster " + cluster + " was not read, because the process cannot start a thread; retry",
                noThread);
    }

    private void refuse(SubvolumeGroup group, DriverException why) {
        queues.clear(group).forEach(probe -> probe.end(Optional.of(why)));
    }

    private void leave(SubvolumeGroup group) {
        free.release();
        metrics.probesInFlight(group.cluster(), -1);
    }

    private void runAll(SubvolumeGroup group) {
        Optional<CapabilityProbe> next = queues.running(group);
        while (next.isPresent()) {
            Optional<RuntimeException> error = send(FileSystemRef.of(group), next.get());
            ProbeQueues.Finished finished = queues.finish(group, next.get(), error.isEmpty());
            next = finished.next();
            if (next.isEmpty()) {
                leave(group);
            }
            finished.done().forEach(probe -> probe.end(error));
        }
    }

    /// Returns the error of a probe; empty if the MDS replied, also that there is no such directory.
    private Optional<RuntimeException> send(FileSystemRef place, CapabilityProbe probe) {
        try {
            boolean _ = ReconnectingHandle.unlessNothingIsThere(
                    false,
                    () -> clients.apply(place).call(probe.operation(), mount -> {
                        try {
                            probe.ask(mount);
                        } catch (DriverException.NotFound nobodyHasIt) {
                            return false;
                        }
                        return true;
                    }));
            return Optional.empty();
        } catch (RuntimeException e) {
            return Optional.of(e);
        } catch (Error e) { // a probe without an answer must not count as one
            return Optional.of(new IllegalStateException("the request " + probe.operation() + " failed", e));
        }
    }

    /// Waits for the probe to end. If the MDS replies to nobody, waits until the caller's deadline.
    private void await(SubvolumeGroup group, CapabilityProbe probe, long deadline) {
        CapabilityProbe running = queues.running(group).orElse(probe);
        while (!probe.endsWithin(min(PATIENCE.minus(running.age()), deadline))) {
            if (System.nanoTime() - deadline >= 0) {
                throw new DriverException.DeadlinePassed("the MDS of file system " + group.fileSystem() + " in cluster "
                        + group.cluster() + " has not answered in time; nothing was changed; retry");
            }
            boolean stalls = running.isStalled()
                    || (running.age().compareTo(PATIENCE) >= 0 && answers(FileSystemRef.of(group), deadline));
            if (stalls && !running.endsWithin(Duration.ZERO)) {
                running.stall();
                throw stalled(group);
            }
            running = queues.running(group).orElse(probe);
        }
    }

    private static Duration min(Duration wait, long deadline) {
        return Duration.ofNanos(Math.min(wait.toNanos(), deadline - System.nanoTime()));
    }

    /// Returns whether the MDS replies to a request that waits for no account's client.
    private boolean answers(FileSystemRef place, long deadline) {
        // A new name is in no cache, so the client must ask the MDS.
        String name = CephFsMounts.VOLUMES + "/_siphon-" + System.nanoTime();
        CapabilityProbe mine = CapabilityProbe.single("probe nothing", mount -> {
            var _ = mount.stat(mount.locate(name));
        });
        CapabilityProbe other = controls.putIfAbsent(place, mine);
        if (other == null) {
            sendControl(place, mine);
        }
        return (other == null ? mine : other).endsWithin(min(CONTROL, deadline));
    }

    private void sendControl(FileSystemRef place, CapabilityProbe probe) {
        try {
            threads.execute(() -> {
                Optional<RuntimeException> error = send(place, probe);
                controls.remove(place, probe);
                probe.end(error);
            });
        } catch (RejectedExecutionException | OutOfMemoryError noThread) { // a full heap ends the process
            controls.remove(place, probe);
            DriverException refusal = noThread(CephFsMounts.VOLUMES, place.cluster(), noThread);
            probe.end(Optional.of(refusal));
            throw refusal;
        }
    }

    private static DriverException stalled(SubvolumeGroup group) {
        return new DriverException.OperationPending(group.path() + " of file system " + group.fileSystem()
                + " in cluster " + group.cluster()
                + " is held by a client that does not answer. It mounts a volume"
                + " of this account, and was killed, hangs or lost its node. Nothing was changed. Ceph gives up on"
                + " that client after session_timeout (60 s by default); retry then");
    }
}
