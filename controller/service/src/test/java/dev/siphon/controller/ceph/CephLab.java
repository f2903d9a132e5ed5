package dev.siphon.controller.ceph;

import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.controller.ceph.call.CephMetrics;
import dev.siphon.controller.ceph.fs.ClientIdentity;
import dev.siphon.controller.ceph.rados.CephCommand;
import dev.siphon.controller.ceph.rados.CephConnection;
import dev.siphon.controller.ceph.rados.ClusterAccess;
import dev.siphon.controller.key.KeyTypes;
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

/// The lab of an integration test; `e2e/lab` describes the environment variables.
public final class CephLab {
    private CephLab() {}

    /// Limits for short tests: callers wait 2 s, a handle is dropped after 4 s without a reply.
    public static final CallLimits QUICK = new CallLimits(
            16, Duration.ofSeconds(2), Duration.ofSeconds(4), Duration.ofSeconds(6), Duration.ofSeconds(2), 3);

    /// The time left of callers that wait as long as the limits allow.
    public static final Supplier<Duration> PATIENT = () -> Duration.ofDays(1);

    /// Returns access to the lab's cluster as client.admin.
    public static ClusterAccess access() {
        return access("lab");
    }

    /// Returns access to the lab's cluster under another id.
    public static ClusterAccess access(String id) {
        String address = environment("LAB_ADDRESS");
        return new ClusterAccess(
                id,
                List.of("[v2:" + address + ":3300/0,v1:" + address + ":6789/0]"),
                "admin",
                Path.of(environment("CEPH_KEYRING")));
    }

    /// Returns all ports to Ceph, for a controller with its own identity and with production limits.
    public static CephAdapter adapter() {
        return adapter(PATIENT);
    }

    /// Returns the same for callers with this time left.
    public static CephAdapter adapter(Supplier<Duration> timeLeft) {
        return adapter(timeLeft, new PrometheusRegistry());
    }

    /// Returns the same with metrics that the test reads.
    public static CephAdapter adapter(Supplier<Duration> timeLeft, PrometheusRegistry metrics) {
        return CephAdapter.open(
                new ClustersFile(List.of(access()), Optional.of("lab")),
                identity(),
                CallLimits.DEFAULT,
                new KeyTypes.Rule.OfCluster(),
                timeLeft,
                metrics,
                new BackgroundTasks());
    }

    /// Returns the identity of a controller that no other test uses.
    public static ClientIdentity identity() {
        return new ClientIdentity("test " + UUID.randomUUID());
    }

    /// Returns metrics for one test.
    public static CephMetrics metrics() {
        return new CephMetrics(new PrometheusRegistry());
    }

    /// Returns the name of the lab's file system.
    public static String fileSystem() {
        return environment("FS_NAME");
    }

    /// Returns the major release of Ceph: 18 or 20.
    public static int release() {
        return Integer.parseInt(environment("CEPH_RELEASE"));
    }

    /// Signals or starts a daemon, with the arguments of `e2e/lab.d/daemon`.
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

    /// Waits up to `limit` until `condition` holds.
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

    /// Returns the keyring of an identity that may use the file system's data. Creates the identity if it is
    /// missing.
    ///
    /// @param mds its MDS caps
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
