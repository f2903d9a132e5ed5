package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.audit.Trash;
import dev.siphon.controller.audit.VolumesDirectory;
import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.controller.ceph.call.CephMetrics;
import dev.siphon.controller.ceph.call.NativeThreads;
import dev.siphon.controller.ceph.rados.CephConnection;
import dev.siphon.controller.key.ClientSessions;
import dev.siphon.controller.offboard.Archiver;
import dev.siphon.controller.offboard.TarWriter;
import dev.siphon.controller.volume.FileTree;
import dev.siphon.controller.volume.MdsSessions;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/// Holds the file systems of all clusters, each with its own clients.
public final class CephFileSystems implements AutoCloseable {
    private static final Duration FAREWELL = Duration.ofSeconds(3);

    /// Longer than the session of a silent client: `session_timeout`, at most `session_autoclose` (300 s by
    /// default).
    private static final Duration SESSION = Duration.ofMinutes(6);

    /// Next to the mgr's own files; the mgr treats only directories as groups.
    private static final String FLUSH_FILE = CephFsMounts.VOLUMES + "/_siphon-flush";

    private static final String FLUSHED = "user.siphon.flushed";

    private final Function<String, CephConnection> connections;
    private final ClientIdentity identity;
    private final CallLimits limits;
    private final Supplier<Duration> timeLeft;
    private final CephMetrics metrics;
    private final HardLinkBudget linkMemory = HardLinkBudget.ofThisProcess();
    private final SnapshotMeasurementLimit measuring = new SnapshotMeasurementLimit();
    private final TreeFlatteners flattenings;
    private final Map<String, ExecutorService> copies = new ConcurrentHashMap<>();
    private final Map<Key, CephFs> clients = new ConcurrentHashMap<>();
    private final CapabilityProbes probes;
    private final Map<Key, CephFsMounts> mounts = new ConcurrentHashMap<>();

    private record Key(String cluster, Optional<String> fileSystem, MountPurpose use) {
        Key(String cluster, Optional<String> fileSystem) {
            this(cluster, fileSystem, MountPurpose.CALLS);
        }
    }

    private enum MountPurpose {
        CALLS,
        LOOK_UPS,
        PROBES,
        DATASETS,
        REMOVALS,
        STATIC_VOLUMES
    }

    /// @param connections returns the connection to a cluster by its id
    /// @param identity how this controller identifies itself to the MDS daemons
    /// @param timeLeft how long the caller on this thread still waits
    public CephFileSystems(
            Function<String, CephConnection> connections,
            ClientIdentity identity,
            CallLimits limits,
            Supplier<Duration> timeLeft,
            CephMetrics metrics) {
        this.connections = connections;
        this.identity = identity;
        this.limits = limits;
        this.timeLeft = timeLeft;
        this.metrics = metrics;
        this.probes = new CapabilityProbes(
                place -> client(new Key(place.cluster(), Optional.of(place.fileSystem()), MountPurpose.PROBES)),
                this::patience,
                metrics);
        this.flattenings = new TreeFlatteners(this, timeLeft);
    }

    /// Returns how long the caller on this thread waits for one call.
    private Duration patience() {
        return Collections.min(List.of(timeLeft.get(), limits.patience()));
    }

    /// Returns the probes to run before commands to the mgr.
    public CapabilityProbes probes() {
        return probes;
    }

    /// Returns the adapter of this port.
    public FileTree files() {
        return new CephFileTree(this, flattenings);
    }

    /// Returns the adapter of this port, for administrators' commands.
    public VolumesDirectory survey() {
        return new CephVolumesDirectory(this);
    }

    /// Returns the adapter of this port.
    public Trash trash() {
        return new CephTrash(this);
    }

    /// Returns the adapter of this port, for administrators' commands. Each archive has its own mount.
    public Archiver archiver() {
        return (cluster, fileSystem, path, out) -> {
            try (Mount own = mounts(cluster, fileSystem).forCopy();
                    TarWriter tar = new TarWriter(out);
                    HardLinks links = new HardLinks(linkMemory);
                    CephArchiver archive = new CephArchiver(own, own.locate(path), tar, links)) {
                return archive.run();
            } catch (UncheckedIOException failed) {
                throw failed.getCause();
            }
        };
    }

    /// Returns the adapter of this port.
    public MdsSessions sessions() {
        return new CephSessions(daemons());
    }

    /// Returns the adapter of this port.
    public ClientSessions clientSessions() {
        return new CephClientSessions(connections, daemons());
    }

    private MdsDaemons daemons() {
        return new MdsDaemons(connections, cluster -> client(new Key(cluster, Optional.empty())));
    }

    /// Returns the client of a file system.
    CephFs client(String cluster, String fileSystem) {
        return client(new Key(cluster, Optional.of(fileSystem)));
    }

    /// Returns another client of a file system, for files in directories that it never lists.
    CephFs lookUps(String cluster, String fileSystem) {
        return client(new Key(cluster, Optional.of(fileSystem), MountPurpose.LOOK_UPS));
    }

    /// Returns another client of a file system, for calls before a volume's removal that may wait long.
    CephFs forRemovals(String cluster, String fileSystem) {
        return client(new Key(cluster, Optional.of(fileSystem), MountPurpose.REMOVALS));
    }

    /// Returns the client for a path. Volumes, datasets and everything else have separate clients, because caps
    /// may be limited to directories.
    ///
    /// @throws DriverException.OperationPending (ABORTED) if a client that does not respond blocks the path's
    ///     group
    CephFs client(String cluster, String fileSystem, String path) {
        SubvolumeGroup.at(cluster, fileSystem, path).ifPresent(probes::refuseWhileStalled);
        return client(new Key(cluster, Optional.of(fileSystem), useFor(path)));
    }

    /// Returns the same for the first call of an RPC: probes the group's directory before, like
    /// [CapabilityProbes#read(SubvolumeGroup)].
    CephFs clientOnceAsked(String cluster, String fileSystem, String path) {
        CephFs client = client(new Key(cluster, Optional.of(fileSystem), useFor(path)));
        // Connects in parallel with the probes' client.
        client.warmUp();
        SubvolumeGroup.at(cluster, fileSystem, path).ifPresent(probes::read);
        return client;
    }

    private static MountPurpose useFor(String path) {
        if (path.startsWith(CephFsMounts.DATASETS + "/")) {
            return MountPurpose.DATASETS;
        }
        return path.equals(CephFsMounts.VOLUMES) || path.startsWith(CephFsMounts.VOLUMES + "/")
                ? MountPurpose.CALLS
                : MountPurpose.STATIC_VOLUMES;
    }

    private CephFs client(Key key) {
        return clients.computeIfAbsent(key, this::create);
    }

    private CephFs create(Key key) {
        CephConnection connection = connections.apply(key.cluster());
        Supplier<Mount> mount = key.fileSystem()
                .<Supplier<Mount>>map(name -> mount(key, mounts(key.cluster(), name)))
                .orElse(() -> MountHandle.connect(connection.access(), limits));
        String name = "cephfs-" + key.cluster()
                + key.fileSystem().map(fileSystem -> "-" + fileSystem).orElse("")
                + switch (key.use()) {
                    case CALLS -> "";
                    case LOOK_UPS -> "-lookup";
                    case PROBES -> "-probe";
                    case DATASETS -> "-datasets";
                    case REMOVALS -> "-removals";
                    case STATIC_VOLUMES -> "-static";
                };
        if (key.use() == MountPurpose.PROBES) {
            CallLimits lasting = ofProbes();
            return new CephFs(connection.access(), name, mount, lasting, lasting::patience, metrics);
        }
        return new CephFs(connection.access(), name, mount, limits, timeLeft, metrics);
    }

    /// Returns limits that let a probe run until the session of the client that it waits for has ended.
    private CallLimits ofProbes() {
        return new CallLimits(
                CapabilityProbes.MOST + 1, SESSION, SESSION, SESSION, limits.connect(), limits.spareHandles());
    }

    private static Supplier<Mount> mount(Key key, CephFsMounts mounts) {
        return switch (key.use()) {
            case CALLS -> mounts::forCalls;
            case LOOK_UPS -> mounts::forLookUps;
            case PROBES -> mounts::forProbes;
            case DATASETS -> mounts::forDatasets;
            case REMOVALS -> mounts::forRemovals;
            case STATIC_VOLUMES -> mounts::forStaticVolumes;
        };
    }

    private CephFsMounts mounts(String cluster, String fileSystem) {
        return mounts.computeIfAbsent(
                new Key(cluster, Optional.of(fileSystem)),
                _ -> new CephFsMounts(connections.apply(cluster)::access, fileSystem, limits, identity));
    }

    /// Starts to mount a file system and does not wait. Until it is mounted, what a killed controller still holds
    /// there blocks others.
    public void warmUp(String cluster, String fileSystem) {
        client(cluster, fileSystem).warmUp();
    }

    /// Creates the file that [#flushJournal] changes. Repeating it is safe.
    public void prepareJournalFlush(String cluster, String fileSystem) {
        boolean _ = client(cluster, fileSystem).call("prepare journal flush", mount -> {
            mount.open(mount.locate(FLUSH_FILE), OpenFlags.WRITE | OpenFlags.CREATE)
                    .close();
            return true;
        });
    }

    /// Makes the MDS flush its journal now: changes a file that nobody else has open, and waits until that is on
    /// disk. Only a client with a change that is not on disk may request it (`Client::flush_mdlog_sync`).
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if the file was not prepared
    public void flushJournal(String cluster, String fileSystem) {
        boolean _ = client(cluster, fileSystem).call("flush journal", mount -> {
            try (OpenFile file = mount.open(mount.locate(FLUSH_FILE), OpenFlags.WRITE)) {
                file.setText(FLUSHED, Long.toString(System.nanoTime()));
                file.sync();
            }
            return true;
        });
    }

    /// Measures a snapshot of that cluster when few others are being measured.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if its turn does not come in the caller's time
    long inTurn(String cluster, LongSupplier measure) {
        return measuring.take(cluster, patience(), measure);
    }

    /// Starts a copy with its own mount and threads, or queues it.
    FileTree.Copy copy(String cluster, String fileSystem, TreeCopy.Order order) {
        ExecutorService threads = copies.computeIfAbsent(
                cluster,
                _ -> Executors.newFixedThreadPool(
                        CephFsMounts.COPIES,
                        NativeThreads.numbered(CephFsMounts.copiers(cluster)).factory()));
        return TreeCopy.start(threads, mounts(cluster, fileSystem)::forCopy, order, linkMemory);
    }

    /// Drops clients that have stopped answering and closes idle ones; call about once a second.
    public void sweep() {
        clients.values().forEach(CephFs::sweep);
    }

    /// Rejects further calls, stops copies, and waits up to 3 s for clients to unmount. If a client disappears
    /// without unmounting, the MDS withholds what it held from everybody else for a minute.
    @Override
    public void close() {
        copies.values().forEach(ExecutorService::shutdownNow);
        CompletableFuture<Void> left = CompletableFuture.allOf(
                clients.values().stream().map(CephFs::shutDown).toArray(CompletableFuture[]::new));
        left.completeOnTimeout(null, FAREWELL.toMillis(), TimeUnit.MILLISECONDS).join();
    }
}
