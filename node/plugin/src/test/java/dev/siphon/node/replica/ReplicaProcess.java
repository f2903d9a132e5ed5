package dev.siphon.node.replica;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.linux.TestJvm;
import dev.siphon.node.replica.cache.CacheDirectoryLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// A process that fills, swaps and evicts one dataset until it is killed.
public final class ReplicaProcess {
    private final Process process;

    private ReplicaProcess(Process process) {
        this.process = process;
    }

    /// Starts a process that works in `directory`; it creates `directory/ready` after it has attached the dataset.
    static ReplicaProcess start(Path directory, TestDataset dataset) throws IOException {
        Files.deleteIfExists(directory.resolve("ready"));
        return new ReplicaProcess(TestJvm.of(
                        ReplicaProcess.class,
                        directory.toString(),
                        dataset.digest().hex(),
                        dataset.image().image().toString(),
                        dataset.image().manifest().toString())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(
                        directory.resolve("log").toFile()))
                .start());
    }

    static ReplicaSettings settings(Path directory) {
        return ReplicaNode.settings(
                directory.resolve("state"),
                ReplicaNode.slowly(40),
                new CacheDirectoryLimits(directory.resolve("cache"), ReplicaNode.LIMIT, 100));
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /// Sends SIGKILL, and waits until the process is gone.
    void kill() {
        TestJvm.kill(process);
    }

    /// @param arguments as passed by [#start]
    public static void main(String[] arguments) throws IOException {
        Path directory = Path.of(arguments[0]);
        DatasetImage image = new DatasetImage(new Digest(arguments[1]), Path.of(arguments[2]), Path.of(arguments[3]));
        Replicas replicas = Replicas.start(settings(directory), new BackgroundTasks(), _ -> {});
        replicas.attach(image);
        Files.createFile(directory.resolve("ready"));
        while (true) {
            ReplicaNode.awaitLocal(replicas, image.digest(), directory.resolve("cache"));
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(TimeUnit.MILLISECONDS.toNanos(300)));
            replicas.evict(image.digest());
            if (!replicas.cacheProblems().isEmpty()) {
                throw new IllegalStateException(replicas.cacheProblems().toString());
            }
            replicas.warm(image);
        }
    }
}
