package dev.siphon.controller.ceph;

import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.controller.ceph.call.CephMetrics;
import dev.siphon.controller.ceph.fs.ClientIdentity;
import dev.siphon.controller.ceph.rados.CephCommand;
import dev.siphon.controller.ceph.rados.CephConnection;
import dev.siphon.controller.ceph.rados.ClusterAccess;
import dev.siphon.csi.BackgroundTasks;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/// The lab that an integration test runs in: `e2e/lab` says what is in the environment.
public final class CephLab {
    private CephLab() {}

    /// Limits that make a test short: callers wait 2 s, a handle is dropped after 4 s of silence.
    public static final CallLimits QUICK = new CallLimits(
            16, Duration.ofSeconds(2), Duration.ofSeconds(4), Duration.ofSeconds(6), Duration.ofSeconds(2), 3);

    /// Callers that wait as long as the limits let them.
    public static final Supplier<Duration> PATIENT = () -> Duration.ofDays(1);

    /// The lab's cluster, as client.admin.
    public static ClusterAccess access() {
        return access("lab");
    }

    /// The lab's cluster under another id.
    public static ClusterAccess access(String id) {
        String address = environment("LAB_ADDRESS");
        return new ClusterAccess(
                id,
                List.of("[v2:" + address + ":3300/0,v1:" + address + ":6789/0]"),
                "admin",
                Path.of(environment("CEPH_KEYRING")));
    }

    /// All of Ceph for a controller that no other test is, with the limits of a real one.
    public static CephAdapter adapter() {
        return adapter(PATIENT);
    }

    /// The same, for callers that wait so long.
    public static CephAdapter adapter(Supplier<Duration> timeLeft) {
        return adapter(timeLeft, new PrometheusRegistry());
    }

    /// The same, whose metrics are looked at.
    public static CephAdapter adapter(Supplier<Duration> timeLeft, PrometheusRegistry metrics) {
        return CephAdapter.open(
                new ClustersFile(List.of(access()), Optional.of("lab")),
                identity(),
                CallLimits.DEFAULT,
                Optional.empty(),
                timeLeft,
                metrics,
                new BackgroundTasks());
    }

    /// A controller that no other test is.
    public static ClientIdentity identity() {
        return new ClientIdentity("test " + UUID.randomUUID());
    }

    /// Metrics of one test.
    public static CephMetrics metrics() {
        return new CephMetrics(new PrometheusRegistry());
    }

    /// The lab's file system.
    public static String fileSystem() {
        return environment("FS_NAME");
    }

    /// The release of Ceph that runs, 18 or 20.
    public static int release() {
        return Integer.parseInt(environment("CEPH_RELEASE"));
    }

    /// Signals a daemon, or starts one: the words of `e2e/lab.d/daemon`.
    public static void daemon(String... words) {
        try {
            Path project = Path.of(
                    Files.readString(Path.of(environment("LAB_RUN"), "project")).strip());
            List<String> command = new java.util.ArrayList<>(
                    List.of(project.resolve("e2e/lab.d/daemon").toString()));
            command.addAll(List.of(words));
            Process process = new ProcessBuilder(command).inheritIO().start();
            if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new IllegalStateException(command + " failed");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /// Waits until `condition` holds, at most `limit`.
    public static void await(Duration limit, BooleanSupplier condition) {
        long end = System.nanoTime() + limit.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("not within " + limit);
            }
            java.util.concurrent.locks.LockSupport.parkNanos(
                    Duration.ofMillis(20).toNanos());
        }
    }

    /// The keyring of an identity that may use the file system's data; it is made if it is not there.
    ///
    /// @param mds what it may at the MDS
    public static String keyring(CephConnection connection, String entity, String mds) {
        CephCommand make = CephCommand.change(CephCommand.Daemon.MON, "auth get-or-create")
                .with("entity", entity)
                .with("caps", List.of("mon", "allow r", "osd", "allow rw tag cephfs data=" + fileSystem(), "mds", mds));
        String key = connection
                .call(make)
                .json()
                .getAsJsonArray()
                .get(0)
                .getAsJsonObject()
                .get("key")
                .getAsString();
        return "[" + entity + "]\n\tkey = " + key + "\n";
    }

    private static String environment(String name) {
        return Objects.requireNonNull(System.getenv(name), name + " is not set: run inside the lab");
    }
}
