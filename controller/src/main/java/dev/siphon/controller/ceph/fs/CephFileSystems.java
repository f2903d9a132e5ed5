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

/// The file systems of all clusters, each with a client of its own.
public final class CephFileSystems implements AutoCloseable {
    private static final Duration FAREWELL = Duration.ofSeconds(3);

    /// More than a silent client's session lasts: `session_timeout`, at most `session_autoclose` (300 s by
    /// default).
    private static final Duration SESSION = Duration.ofMinutes(6);

    /// Beside files of the mgr's own; it takes directories alone for groups.
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

    /// @param connections the connection to the cluster of that id
    /// @param identity who this controller is to the MDS daemons
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

    /// How long the caller on this thread waits for one call.
    private Duration patience() {
        return Collections.min(List.of(timeLeft.get(), limits.patience()));
    }

    /// What is to be asked before the mgr is.
    public CapabilityProbes probes() {
        return probes;
    }

    /// The adapter of that port.
    public FileTree files() {
        return new CephFileTree(this, flattenings);
    }

    /// The adapter of that port, for administrators' commands.
    public VolumesDirectory survey() {
        return new CephVolumesDirectory(this);
    }

    /// The adapter of that port.
    public Trash trash() {
        return new CephTrash(this);
    }

    /// The adapter of that port, for administrators' commands; each archive has a mount of its own.
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

    /// The adapter of that port.
    public MdsSessions sessions() {
        return new CephSessions(daemons());
    }

    /// The adapter of that port.
    public ClientSessions clientSessions() {
        return new CephClientSessions(connections, daemons());
    }

    private MdsDaemons daemons() {
        return new MdsDaemons(connections, cluster -> client(new Key(cluster, Optional.empty())));
    }

    /// The client of a file system.
    CephFs client(String cluster, String fileSystem) {
        return client(new Key(cluster, Optional.of(fileSystem)));
    }

    /// Another client of a file system, for looking at files in directories that it never lists.
    CephFs lookUps(String cluster, String fileSystem) {
        return client(new Key(cluster, Optional.of(fileSystem), MountPurpose.LOOK_UPS));
    }

    /// Another client of a file system, for what may wait long before a volume is removed.
    CephFs forRemovals(String cluster, String fileSystem) {
        return client(new Key(cluster, Optional.of(fileSystem), MountPurpose.REMOVALS));
    }

    /// The client that reaches a path: volumes, datasets and all else have one each, since caps may end at
    /// directories.
    ///
    /// @throws DriverException.OperationPending (ABORTED) if it would wait there for a client that does not answer
    CephFs client(String cluster, String fileSystem, String path) {
        SubvolumeGroup.at(cluster, fileSystem, path).ifPresent(probes::refuseWhileStalled);
        return client(new Key(cluster, Optional.of(fileSystem), useFor(path)));
    }

    /// The same, for what comes first in an RPC: asks for the group's directory before, as
    /// [CapabilityProbes#read(Group)].
    CephFs clientOnceAsked(String cluster, String fileSystem, String path) {
        CephFs client = client(new Key(cluster, Optional.of(fileSystem), useFor(path)));
        // while the probes' client connects too
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

    /// A probe ends with the session of the client that it waits for.
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

    /// Begins to mount a file system, and does not wait for it: what a controller that was killed still holds
    /// there is in others' way until then.
    public void warmUp(String cluster, String fileSystem) {
        client(cluster, fileSystem).warmUp();
    }

    /// Makes the file that [#flushJournal] changes. Repeating it is safe.
    public void prepareJournalFlush(String cluster, String fileSystem) {
        boolean _ = client(cluster, fileSystem).call("prepare journal flush", mount -> {
            mount.open(mount.locate(FLUSH_FILE), OpenFlags.WRITE | OpenFlags.CREATE)
                    .close();
            return true;
        });
    }

    /// Has the MDS write its journal at once: changes a file that nobody else has open, and waits until that is on
    /// disk. Only a client with a change that is not on disk may ask for it (`Client::flush_mdlog_sync`).
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if it was not prepared
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
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if it is not its turn within the caller's time
    long inTurn(String cluster, LongSupplier measure) {
        return measuring.take(cluster, patience(), measure);
    }

    /// Begins a copy with a mount and threads of its own, or queues it.
    FileTree.Copy copy(String cluster, String fileSystem, TreeCopy.Order order) {
        ExecutorService threads = copies.computeIfAbsent(
                cluster,
                _ -> Executors.newFixedThreadPool(
                        CephFsMounts.COPIES,
                        NativeThreads.numbered(CephFsMounts.copiers(cluster)).factory()));
        return TreeCopy.start(threads, mounts(cluster, fileSystem)::forCopy, order, linkMemory);
    }

    /// Drops clients that have stopped answering and closes those that are idle; to be called every second or
    /// so.
    public void sweep() {
        clients.values().forEach(CephFs::sweep);
    }

    /// Takes no further call, stops copies, and waits a little for clients to take their leave: the MDS keeps
    /// what a client held that goes without a word from everybody else for a minute.
    @Override
    public void close() {
        copies.values().forEach(ExecutorService::shutdownNow);
        CompletableFuture<Void> left = CompletableFuture.allOf(
                clients.values().stream().map(CephFs::shutDown).toArray(CompletableFuture[]::new));
        left.completeOnTimeout(null, FAREWELL.toMillis(), TimeUnit.MILLISECONDS).join();
    }
}
