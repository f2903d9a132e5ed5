package dev.siphon.controller.kubernetes;

import dev.siphon.controller.dataset.DatasetVolumes;
import dev.siphon.controller.key.VolumeKey;
import dev.siphon.controller.seal.SealingCluster.Notice;
import dev.siphon.controller.volume.SnapshotClass.SnapshotRequest;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.dataset.EncryptedSecret;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/// A process with a controller's memory (`deploy/src/build/siphon`). It reads the pod, the PVC and the
/// VolumeSnapshot `u1/huge`, each [#AT_ONCE] times concurrently, then all namespaces, and then watches these. It
/// prints the results, then `end`.
final class TenantObjectsProcess {
    static final int AT_ONCE = 16;

    private static final String DRIVER = "cephfs.siphon.dev";
    private static final VolumeId.DatasetVolume VOLUME = new VolumeId.DatasetVolume(
            "lab", "cephfs", "0123456789abcdef".repeat(3).substring(0, 40), Optional.empty(), "/datasets/x");
    static final DatasetVolumes.Opened OPENED = new DatasetVolumes.Opened(
            VOLUME,
            VolumeContext.fromMap(VOLUME, Map.of("monitors", "10.0.0.1:3300")),
            new VolumeKey("siphon-dataset.x", "AQBdF2FlAAAAABAAjAnnpZ9Yw8bGaf7PPUCYAg=="));

    private static final Set<String> OWNERS = Set.of("siphon.dev/owners");

    private TenantObjectsProcess() {}

    /// @param podUid uid of `u1/huge`
    static ProcessBuilder command(Path kubeconfig, String podUid) {
        return withItsMemory(TenantObjectsProcess.class, kubeconfig.toString(), podUid);
    }

    /// Returns a process with a controller's memory.
    static ProcessBuilder withItsMemory(Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xms8m",
                "-Xmx48m",
                "-Xmn2m",
                "-XX:+UseSerialGC",
                "-XX:+UseCompactObjectHeaders",
                "-XX:TieredStopAtLevel=1",
                "-XX:+ExitOnOutOfMemoryError",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectErrorStream(true);
    }

    /// @param arguments the kubeconfig and the pod's uid
    public static void main(String[] arguments) throws InterruptedException {
        Thread.setDefaultUncaughtExceptionHandler((_, failure) -> {
            failure.printStackTrace(System.out);
            System.exit(1);
        });
        KubernetesAccess access = new KubernetesAccess("siphon", Optional.of(Path.of(arguments[0])));
        KubernetesApi api = new KubernetesApi(access, () -> TestCluster.PATIENT);
        DatasetRequests requests = new DatasetRequests(api, DRIVER, new DatasetAccesses(api), (_, _) -> OPENED);
        GateClaims claims = new GateClaims(api, new PersistentVolumes(api, DRIVER));
        KubernetesSealing sealing = new KubernetesSealing(api, DRIVER, new KubernetesDatasetCatalog(api));
        List<Runnable> reads = List.of(
                () -> System.out.println(asked(requests, arguments[1])),
                () -> System.out.println(answered(() -> claims.of(new PersistentVolumes.ClaimKey("u1", "huge")))),
                () -> sealing.report(new SnapshotRequest("u1", "huge"), new Notice(false, "DatasetBeingSealed", "7%")));
        CountDownLatch left = new CountDownLatch(AT_ONCE * reads.size());
        for (int i = 0; i < AT_ONCE; i++) {
            reads.forEach(read -> Thread.ofPlatform().start(() -> {
                read.run();
                left.countDown();
            }));
        }
        left.await();
        AtomicInteger namespaces = new AtomicInteger();
        new KubernetesNamespaces(api, Optional::empty).all(OWNERS, (_, annotations) -> {
            if (!annotations.isEmpty()) {
                namespaces.incrementAndGet();
            }
        });
        System.out.println(namespaces + " namespaces");
        watchNamespaces(api);
        System.out.println("end");
        System.exit(0);
    }

    /// Asks again, as a sidecar does, while the claims are still being listed: a busy machine takes seconds for that.
    private static <T> T answered(Supplier<T> question) {
        while (true) {
            try {
                return question.get();
            } catch (DriverException.BackendUnavailable e) {
                Thread.onSpinWait();
            }
        }
    }

    private static void watchNamespaces(KubernetesApi api) {
        WatchedNamespaces watched = new WatchedNamespaces(api, OWNERS);
        long before = heap();
        BackgroundTasks.Task watch = watched.follow(new BackgroundTasks());
        AtomicInteger namespaces = new AtomicInteger();
        new KubernetesNamespaces(api, () -> Optional.of(watched)).all(OWNERS, (_, annotations) -> {
            if (!annotations.isEmpty()) {
                namespaces.incrementAndGet();
            }
        });
        System.out.println(namespaces + " watched namespaces");
        System.out.println("heap " + (heap() - before) + " KiB");
        watch.close();
    }

    private static long heap() {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return (runtime.totalMemory() - runtime.freeMemory()) >> 10;
    }

    private static String asked(DatasetRequests requests, String podUid) {
        DatasetAccess.Asked asked = new DatasetAccess.Asked(
                "u1/x", "node-1", "huge", podUid, new EncryptedSecret.Reader().publicKey(), "7");
        return switch (requests.answer("u1", InlinePod.handle(podUid, "data-0"), "7", asked.toSpec())) {
            case DatasetAccess.Given given -> given.userId();
            case DatasetAccess.Refused refused -> String.valueOf(refused.why());
        };
    }
}
