package dev.siphon.controller.kubernetes;

import dev.siphon.csi.BackgroundTasks;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/// A process with a controller's memory that follows the pods at the gate and on nodes. It prints how many it keeps
/// after the list, and its heap size after each [#EVERY] changes.
final class ManyPodEventsProcess {
    static final int EVERY = 20_000;

    private ManyPodEventsProcess() {}

    /// @param arguments the kubeconfig, and the number of changes to wait for
    public static void main(String[] arguments) throws InterruptedException {
        long changes = Long.parseLong(arguments[1]);
        KubernetesApi api = new KubernetesApi(
                new KubernetesAccess("siphon", Optional.of(Path.of(arguments[0]))), () -> TestCluster.PATIENT);
        AtomicLong seen = new AtomicLong();
        RunningPods running = new RunningPods(api, new PodParser("cephfs.siphon.dev"));
        Informer<WaitingPods.Waiting> waiting = new Informer<>(
                api, WaitingPods.SOURCE, new WaitingPods(new PodParser("cephfs.siphon.dev")), System::nanoTime);
        BackgroundTasks tasks = new BackgroundTasks();
        var _ = waiting.follow(tasks, () -> {});
        var _ = running.follow(tasks, () -> {
            if (seen.getAndIncrement() % EVERY == 0) {
                System.gc();
                Runtime runtime = Runtime.getRuntime();
                System.out.println("heap " + ((runtime.totalMemory() - runtime.freeMemory()) >> 10) + " KiB");
            }
            if (seen.get() > changes) {
                System.out.println("waiting " + waiting.all().size());
                System.out.println("running " + running.all().size());
                System.out.println("taken " + running.taken().get("node-1"));
                System.out.println("end");
                System.exit(0);
            }
        });
        Thread.currentThread().join();
    }
}
