package dev.siphon.e2e.monitoring;

import csi.v1.CreateVolumeRequest;
import csi.v1.NodeGetVolumeStatsRequest;
import dev.siphon.csi.VolumeId;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.isolation.KeyHolder;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Daemon;
import dev.siphon.e2e.lab.Lab;
import dev.siphon.e2e.lab.LabLdap;
import dev.siphon.e2e.monitoring.Fault.Lasting;
import dev.siphon.e2e.monitoring.WatchedDriver.UsedVolume;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/// The faults that fire the chart's alerts.
final class Faults {
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final int ALLOWED_MIB = 64;
    private static final int WRITTEN_MIB = 62;
    private static final int UID = 50_100;
    private static final String PAUSE = "mgr/volumes/pause_purging";

    private final WatchedDriver driver;

    Faults(WatchedDriver driver) {
        this.driver = driver;
    }

    List<Fault> all() {
        return List.of(
                new Fault("a node's process is killed", Set.of("SiphonDown"), this::killedNode),
                new Fault("the monitor hangs", Set.of("SiphonNotReady"), Faults::hungMonitor),
                new Fault("the API server is away", Set.of("SiphonNotReady"), this::noLeader),
                new Fault("a node's client hangs", Set.of("SiphonMountHangs"), this::hungClient),
                new Fault("a client releases nothing", Set.of("SiphonClientHoldsUpAccount"), this::greedyClient),
                new Fault(
                        "no LDAP server is there",
                        Set.of("SiphonDirectoryDown", "SiphonQuotasNotCompared"),
                        Faults::noDirectory),
                new Fault("an account writes a lot", Set.of("SiphonAllowanceNearlyFull"), this::fullAccount),
                new Fault("nothing is purged", Set.of("SiphonTrashNotPurged"), this::pausedPurge),
                new Fault("a disk is taken away", Set.of("SiphonCacheDirectoryUnusable"), this::missingDisk),
                new Fault("a disk has no room", Set.of("SiphonReplicaFails"), this::fullDisk));
    }

    private Lasting killedNode() {
        driver.nodeProcess().kill();
        return new Lasting(() -> driver.restartNode(() -> {}));
    }

    private static Lasting hungMonitor() {
        Daemon.MON.pause();
        return new Lasting(Daemon.MON::resume);
    }

    private Lasting noLeader() {
        driver.leadNoLonger();
        return new Lasting(driver::leadAgain);
    }

    private Lasting hungClient() {
        UsedVolume volume = driver.use(Requests.volume("hung", "u1", Requests.GIB));
        signalClients("STOP");
        var asked = CompletableFuture.supplyAsync(() -> Outcome.of(() -> driver.node()
                .node()
                .nodeGetVolumeStats(NodeGetVolumeStatsRequest.newBuilder()
                        .setVolumeId(volume.id())
                        .setVolumePath(volume.root().toString())
                        .build())));
        return new Lasting(
                () -> {
                    signalClients("CONT");
                    asked.join();
                },
                volume::close);
    }

    /// Sends a signal to the FUSE clients that the node has started.
    private void signalClients(String signal) {
        List<ProcessHandle> clients = ProcessHandle.of(driver.nodeProcess().pid())
                .orElseThrow()
                .descendants()
                .filter(each -> each.info().command().orElse("").endsWith("/ceph-fuse"))
                .toList();
        if (clients.isEmpty()) {
            throw new AssertionError("the node has no clients");
        }
        for (ProcessHandle client : clients) {
            // kill as a shell builtin: the lab has no other
            Command.run("bash", "-c", "kill -s \"$1\" \"$2\"", "kill", signal, Long.toString(client.pid()));
        }
    }

    /// The client has listed the account's directories, and keeps what the MDS gave it for that.
    private Lasting greedyClient() {
        UsedVolume volume = driver.use(Requests.volume("first", "u2", Requests.GIB));
        String group = ((VolumeId.Provisioned) VolumeId.tryParse(volume.id()).orElseThrow()).group();
        KeyHolder.Mounted greedy = greedy("/volumes/" + group);
        CreateVolumeRequest second = Requests.volume("second", "u2", Requests.GIB);
        var asked = CompletableFuture.supplyAsync(
                () -> Outcome.of(() -> driver.controller().controller().createVolume(second)));
        return new Lasting(
                () -> {
                    greedy.close();
                    asked.join();
                },
                () -> {
                    driver.use(second).close();
                    volume.close();
                });
    }

    private static KeyHolder.Mounted greedy(String directory) {
        try {
            KeyHolder.Mounted mounted = new KeyHolder("admin", Lab.here().keyring())
                    .mount(directory, "--client_inject_release_failure=true");
            try (Stream<Path> all = Files.walk(mounted.root(), 2)) {
                var _ = all.filter(Files::isDirectory).count();
            }
            return mounted;
        } catch (KeyHolder.Refused refused) {
            throw new AssertionError(refused);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Lasting noDirectory() {
        Daemon.LDAP.terminate();
        return new Lasting(Daemon.LDAP::start);
    }

    /// The directory has no allowance for the account, so that of its class is in force.
    private Lasting fullAccount() {
        LabLdap.add("writer", UID);
        UsedVolume volume = driver.use(Requests.volume("written", "writer", ALLOWED_MIB * Requests.MIB).toBuilder()
                .putParameters("allowance", ALLOWED_MIB + "Mi")
                .build());
        Path file = volume.root().resolve("file");
        try {
            Files.write(
                    file,
                    new byte[WRITTEN_MIB * (int) Requests.MIB],
                    StandardOpenOption.CREATE_NEW,
                    StandardOpenOption.DSYNC);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new Lasting(
                () -> {
                    try {
                        Files.delete(file);
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                },
                () -> {
                    volume.close();
                    LabLdap.remove("writer");
                });
    }

    /// A mgr that is resumed may leave its trash for longer than anybody waits, so another takes over
    /// (`mgr/volumes/fs/async_job.py`).
    private Lasting pausedPurge() {
        Command.run("ceph", "config", "set", "mgr", PAUSE, "true");
        driver.use(Requests.volume("removed", "u3", Requests.GIB)).close();
        return new Lasting(() -> {
            Command.run("ceph", "config", "rm", "mgr", PAUSE);
            Command.run("ceph", "mgr", "fail");
        });
    }

    /// The dataset is read from the disk when that is taken away. A driver that is started again looks at once whether
    /// another disk is there, and not only after minutes.
    private Lasting missingDisk() {
        driver.restartNode(driver.disk()::replace);
        UsedVolume pictures = driver.useDataset("on-a-disk");
        Await.until(
                "a replica",
                LIMIT,
                () -> driver.prometheus()
                        .values("siphon_dataset_attachments{source=\"local\"}")
                        .contains(1.0));
        driver.disk().remove();
        return new Lasting(() -> driver.restartNode(driver.disk()::replace), pictures::close);
    }

    private Lasting fullDisk() {
        driver.restartNode(driver.disk()::replace);
        driver.disk().fill(1);
        UsedVolume pictures = driver.useDataset("without-room");
        return new Lasting(() -> driver.disk().empty(), pictures::close);
    }
}
