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
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
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
/// probe per account runs at a time: until the MDS replies, the directories are locked for readers too.
public final class CapabilityProbes {
    /// How long a client may take to release its capabilities. A live one takes milliseconds.
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    /// How long the MDS may take to reply to a request that waits for no client.
    private static final Duration CONTROL = Duration.ofMillis(500);

    private static final String NOTE = "get note";
    private static final String READING = "probe for reading";
    private static final String CHANGE = "probe for a change";
    private static final String REMOVAL = "probe for a removal";

    /// Each probe takes everything from other clients that those before it take.
    private static final List<String> BY_STRENGTH = List.of(NOTE, READING, CHANGE, REMOVAL);

    /// Maximum number of accounts that wait at once; each holds a thread.
    static final int MOST = 64;

    private final Function<FileSystemRef, CephFs> clients;
    private final Supplier<Duration> patience;
    private final CephMetrics metrics;
    private final Executor threads;
    private final Map<SubvolumeGroup, CapabilityProbe> ofGroups = new ConcurrentHashMap<>();
    private final PendingGroupChanges changes = new PendingGroupChanges(System::nanoTime);
    private final Map<FileSystemRef, CapabilityProbe> controls = new ConcurrentHashMap<>();
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
        ask(group, NOTE, false, mount -> found.set(mount.attribute(mount.locate(path), name)));
        return found.get();
    }

    /// Probes before the mgr reads the group's directory.
    ///
    /// @throws DriverException.OperationPending (ABORTED) if a client does not release a needed capability
    public void read(SubvolumeGroup group) {
        ask(group, READING, true, mount -> {
            var _ = mount.stat(mount.locate(group.path()));
        });
    }

    /// Probes before the mgr reads a volume; same errors as [#read(SubvolumeGroup)].
    public void read(VolumeId.Provisioned volume) {
        SubvolumeGroup group = SubvolumeGroup.of(volume);
        ask(group, READING, false, mount -> {
            var _ = mount.stat(mount.locate(group.path()));
            var _ = mount.stat(directory(mount, volume));
        });
    }

    /// Probes as [#read(SubvolumeGroup)] does, then lets the mgr create something in the group's directory.
    ///
    /// @param command sends the command to the mgr and waits for it
    public void change(SubvolumeGroup group, Runnable command) {
        changes.run(
                group,
                () -> ask(group, CHANGE, true, mount -> mount.takeFromOthers(mount.locate(group.path()))),
                command);
    }

    /// Probes before the mgr changes a volume; same errors as [#read(SubvolumeGroup)].
    public void change(VolumeId.Provisioned volume) {
        SubvolumeGroup group = SubvolumeGroup.of(volume);
        ask(group, CHANGE, false, mount -> {
            mount.takeFromOthers(mount.locate(group.path()));
            mount.takeFromOthers(directory(mount, volume));
        });
    }

    /// Probes before the mgr removes a volume; same errors as [#read(SubvolumeGroup)].
    public void remove(VolumeId.Provisioned volume) {
        SubvolumeGroup group = SubvolumeGroup.of(volume);
        ask(group, REMOVAL, false, mount -> {
            mount.takeFromOthers(mount.locate(group.path()));
            mount.takeAllFromOthers(directory(mount, volume));
        });
    }

    /// Returns the subvolume's directory: every client of the volume has looked up this one, above the one with
    /// the data. Listing it to find the latter is unsafe: if others change it meanwhile, libcephfs 20.2.4 aborts
    /// the process (`insert_readdir_results`).
    private static MountPath directory(Mount mount, VolumeId.Provisioned volume) {
        return mount.locate(SubvolumeGroup.of(volume).path() + "/" + volume.subvolume());
    }

    /// Rejects a call in the directories of a group whose client does not respond; sends no request.
    ///
    /// @throws DriverException.OperationPending (ABORTED) in that case
    void refuseWhileStalled(SubvolumeGroup group) {
        CapabilityProbe probe = ofGroups.get(group);
        if (probe != null && probe.isStalled()) {
            throw stalled(group);
        }
    }

    /// Runs a probe. Callers that wait with probes of the group alone share one that succeeds. A failure is not shared:
    /// it may be about another caller's volume, or a stronger probe than this caller's.
    ///
    /// @param ofGroup whether the probe concerns the group alone, not a volume
    private void ask(SubvolumeGroup group, String operation, boolean ofGroup, Consumer<Mount> question) {
        long arrived = System.nanoTime();
        long deadline = arrived + patience.get().toNanos();
        while (true) {
            CapabilityProbe mine = new CapabilityProbe(operation);
            CapabilityProbe other = ofGroups.putIfAbsent(group, mine);
            if (other == null) {
                begin(group, mine, operation, question);
                await(group, mine, deadline);
                mine.orThrow();
                return;
            }
            await(group, other, deadline);
            boolean asksAsMuch = BY_STRENGTH.indexOf(other.operation()) >= BY_STRENGTH.indexOf(operation);
            if (ofGroup && asksAsMuch && other.isSince(arrived) && other.succeeded()) {
                return;
            }
        }
    }

    private void begin(SubvolumeGroup group, CapabilityProbe probe, String operation, Consumer<Mount> question) {
        if (!free.tryAcquire()) {
            ofGroups.remove(group, probe);
            DriverException refusal = new DriverException.BackendUnavailable(
                    group.path() + " in cluster " + group.cluster() + " was not read: the directories of " + MOST
                            + " accounts wait for clients that do not answer; retry");
            probe.end(refusal);
            throw refusal;
        }
        metrics.probesInFlight(group.cluster(), 1);
        Consumer<Mount> put = mount -> {
            probe.put();
            question.accept(mount);
        };
        probe.run(threads, () -> askNow(FileSystemRef.of(group), operation, put), () -> {
            ofGroups.remove(group, probe);
            free.release();
            metrics.probesInFlight(group.cluster(), -1);
        });
    }

    private void askNow(FileSystemRef place, String operation, Consumer<Mount> question) {
        boolean _ = ReconnectingHandle.unlessNothingIsThere(
                false,
                () -> clients.apply(place).call(operation, mount -> {
                    try {
                        question.accept(mount);
                    } catch (DriverException.NotFound nobodyHasIt) {
                        return false;
                    }
                    return true;
                }));
    }

    /// Waits for the probe to end. If the MDS replies to nobody, waits until the caller's deadline.
    private void await(SubvolumeGroup group, CapabilityProbe probe, long deadline) {
        if (probe.isStalled()) {
            throw stalled(group);
        }
        while (!probe.endsWithin(min(PATIENCE.minus(probe.age()), deadline))) {
            if (System.nanoTime() - deadline >= 0) {
                throw new DriverException.DeadlinePassed("the MDS of file system " + group.fileSystem() + " in cluster "
                        + group.cluster() + " has not answered in time; nothing was changed; retry");
            }
            if (probe.age().compareTo(PATIENCE) >= 0
                    && answers(FileSystemRef.of(group), deadline)
                    && !probe.endsWithin(Duration.ZERO)) {
                probe.stall();
                throw stalled(group);
            }
        }
    }

    private static Duration min(Duration wait, long deadline) {
        return Duration.ofNanos(Math.min(wait.toNanos(), deadline - System.nanoTime()));
    }

    /// Returns whether the MDS replies to a request that waits for no account's client.
    private boolean answers(FileSystemRef place, long deadline) {
        CapabilityProbe mine = new CapabilityProbe("control");
        CapabilityProbe other = controls.putIfAbsent(place, mine);
        if (other == null) {
            // A new name is in no cache, so the client must ask the MDS.
            String name = CephFsMounts.VOLUMES + "/_siphon-" + System.nanoTime();
            mine.run(
                    threads,
                    () -> askNow(place, "probe nothing", mount -> {
                        var _ = mount.stat(mount.locate(name));
                    }),
                    () -> controls.remove(place, mine));
        }
        return (other == null ? mine : other).endsWithin(min(CONTROL, deadline));
    }

    private static DriverException stalled(SubvolumeGroup group) {
        return new DriverException.OperationPending(group.path() + " of file system " + group.fileSystem()
                + " in cluster " + group.cluster()
                + " is held by a client that does not answer. It mounts a volume"
                + " of this account, and was killed, hangs or lost its node. Nothing was changed. Ceph gives up on"
                + " that client after session_timeout (60 s by default); retry then");
    }
}
