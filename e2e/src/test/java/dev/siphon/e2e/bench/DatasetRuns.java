package dev.siphon.e2e.bench;

import com.google.gson.JsonParser;
import csi.v1.VolumeCapability;
import csi.v1.VolumeCapability.AccessMode.Mode;
import dev.siphon.e2e.driver.CsiClient;
import dev.siphon.e2e.driver.DriverFolder;
import dev.siphon.e2e.driver.NodeMounts;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.driver.ServedProcess;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.CephTree;
import dev.siphon.e2e.lab.Lab;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// Times operations on a dataset and on the same files loose, in seconds. Each run starts with cold page caches,
/// and on CephFS with a new client.
final class DatasetRuns {
    private static final Duration LONG = Duration.ofMinutes(5);
    private static final VolumeCapability READERS = Requests.mount(Mode.MULTI_NODE_READER_ONLY);

    private static final int READERS_AT_ONCE = 8;
    private static final int RANDOM_READS = 4_000;
    private static final int RANDOM_BYTES = 4096;
    private static final int RANDOM_THREADS = 4;

    /// A miss of a mapped file reads as much as the kernel reads ahead.
    private static final int MAPPED_READS = 400;

    private final Lab lab = Lab.here();
    private final DriverFolder folder;
    private final Path disk;
    private final SampleDataset dataset;

    /// The result of an epoch.
    ///
    /// @param requests the number of requests to the MDS during it
    record Epoch(double seconds, long requests) {}

    /// @param folder the node's
    /// @param disk holds the loose files and the node's cache
    DatasetRuns(DriverFolder folder, Path disk, SampleDataset dataset) {
        this.folder = folder;
        this.disk = disk;
        this.dataset = dataset;
    }

    /// Times from the mount to the first byte of the image.
    double bareFirstByte() {
        long began = System.nanoTime();
        try (CephTree tree = CephTree.mount(lab)) {
            readFirst(tree.at(dataset.image()));
            return secondsSince(began);
        }
    }

    /// Times from NodeStageVolume to the first byte of a file.
    double firstByte() {
        try (ServedProcess node = folder.node("node");
                CsiClient client = CsiClient.to(node.endpoint());
                NodeMounts mounts = mounts(client)) {
            long began = System.nanoTime();
            readFirst(mounts.mount(dataset.volume(), READERS)
                    .resolve(dataset.names().getFirst()));
            return secondsSince(began);
        }
    }

    /// Times reading the image and discarding it: the client's upper limit.
    double read() {
        try (CephTree tree = CephTree.mount(lab)) {
            Shell.dropCaches();
            long began = System.nanoTime();
            Shell.run("dd if=\"$1\" of=/dev/null bs=4M", tree.at(dataset.image()));
            return secondsSince(began);
        }
    }

    /// Times copying the image to the disk with dd.
    double dd() {
        return copied("dd if=\"$1\" of=\"$2\" bs=4M conv=fsync", dataset.image(), "rm -f \"$1\"");
    }

    /// Times the same, plus reading the copy back and digesting it, as a fill does.
    double checkedDd() {
        return copied(
                "dd if=\"$1\" of=\"$2\" bs=4M conv=fsync && dd if=\"$2\" iflag=direct bs=4M | sha256sum",
                dataset.image(),
                "rm -f \"$1\"");
    }

    /// Times copying the loose files to the disk with cp.
    double copyLoose() {
        return copied("cp -a \"$1\" \"$2\" && sync -f \"$2\"", dataset.folder(), "rm -rf \"$1\"");
    }

    private double copied(String copy, String what, String remove) {
        Path copied = disk.resolve("copied");
        try (CephTree tree = CephTree.mount(lab)) {
            Shell.dropCaches();
            long began = System.nanoTime();
            Shell.run(copy, tree.at(what), copied);
            return secondsSince(began);
        } finally {
            Shell.run(remove, copied);
        }
    }

    /// Times from the reply to NodeStageVolume until the replica has its name: copied, synced and read back.
    double fill() {
        try (ServedProcess node = cachingNode();
                CsiClient client = CsiClient.to(node.endpoint());
                NodeMounts mounts = mounts(client)) {
            Shell.dropCaches();
            mounts.stage(dataset.volume(), READERS).get();
            return awaitReplica().toNanos() / 1e9;
        } finally {
            Shell.run("rm -rf \"$1\"", cache());
        }
    }

    private Duration awaitReplica() {
        return Await.until("a replica in " + cache(), LONG, () -> {
            try (Stream<Path> found = Files.list(cache())) {
                return found.anyMatch(each -> Files.exists(each.resolve("image")));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    /// Where the same files are.
    enum Place {
        /// Loose on the disk.
        LOOSE_ON_DISK,
        /// Loose on CephFS.
        LOOSE,
        /// In the image on CephFS.
        ATTACHED,
        /// In the replica on the disk, which stays for the next run.
        REPLICA
    }

    /// Opens the files at a place, and reads them.
    <T> T at(Place place, Function<Path, T> read) {
        return switch (place) {
            case LOOSE_ON_DISK -> read.apply(dataset.loose());
            case LOOSE -> {
                try (CephTree tree = CephTree.mount(lab)) {
                    yield read.apply(tree.at(dataset.folder()));
                }
            }
            case ATTACHED -> {
                try (ServedProcess node = folder.node("node");
                        CsiClient client = CsiClient.to(node.endpoint());
                        NodeMounts mounts = mounts(client)) {
                    yield read.apply(mounts.mount(dataset.volume(), READERS));
                }
            }
            case REPLICA -> {
                try (ServedProcess node = cachingNode();
                        CsiClient client = CsiClient.to(node.endpoint());
                        NodeMounts mounts = mounts(client)) {
                    Path tree = mounts.mount(dataset.volume(), READERS);
                    awaitReplica();
                    Await.until("read from the replica", LONG, () -> isLocal(tree));
                    yield read.apply(tree);
                }
            }
        };
    }

    /// Returns whether the loop device behind `tree` has a backing file in the cache.
    private boolean isLocal(Path tree) {
        String file = Shell.run(
                "source=$(findmnt -no SOURCE -T \"$1\") && cat /sys/block/${source#/dev/}/loop/backing_file", tree);
        return file.contains(cache().toString());
    }

    /// Reads all files in random order, by eight processes at a time.
    Epoch epoch(Path tree) {
        return readAll(tree, READERS_AT_ONCE, Math.max(1, dataset.names().size() / (READERS_AT_ONCE * 10)));
    }

    /// Reads all files one after the other.
    Epoch oneReader(Path tree) {
        return readAll(tree, 1, dataset.names().size());
    }

    private Epoch readAll(Path tree, int processes, int filesOfEach) {
        long before = mdsRequests();
        Shell.dropCaches();
        long began = System.nanoTime();
        Shell.run(
                "cd \"$1\" && xargs -0 -a \"$2\" -P " + processes + " -n " + filesOfEach + " cat > /dev/null",
                tree,
                dataset.order());
        double seconds = secondsSince(began);
        return new Epoch(seconds, mdsRequests() - before);
    }

    /// Times reads of 4 KiB at random places of all files, by four threads.
    ///
    /// @return reads a second
    double randomReads(Path tree) {
        return randomReads(tree, RANDOM_READS, DatasetRuns::read);
    }

    /// Does the same by mapping the files, as numpy's memmap does.
    double mappedReads(Path tree) {
        return randomReads(tree, MAPPED_READS, DatasetRuns::touch);
    }

    private interface PlaceReader {
        void read(FileChannel file, long place) throws IOException;
    }

    private static void read(FileChannel file, long place) throws IOException {
        if (file.read(ByteBuffer.allocate(RANDOM_BYTES), place) != RANDOM_BYTES) {
            throw new IllegalStateException("a short read");
        }
    }

    private static void touch(FileChannel file, long place) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            var _ = file.map(FileChannel.MapMode.READ_ONLY, 0, file.size(), arena)
                    .get(ValueLayout.JAVA_BYTE, place);
        }
    }

    private double randomReads(Path tree, int reads, PlaceReader reader) {
        Shell.dropCaches();
        List<FileChannel> files = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(RANDOM_THREADS)) {
            for (String name : dataset.names()) {
                files.add(FileChannel.open(tree.resolve(name)));
            }
            long began = System.nanoTime();
            List<Future<Void>> all = IntStream.range(0, RANDOM_THREADS)
                    .mapToObj(thread -> threads.submit(
                            () -> readRandomly(files, new Random(thread), reads / RANDOM_THREADS, reader)))
                    .toList();
            for (Future<Void> each : all) {
                each.get();
            }
            return reads / secondsSince(began);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        } finally {
            files.forEach(DatasetRuns::close);
        }
    }

    private static Void readRandomly(List<FileChannel> files, Random random, int reads, PlaceReader reader)
            throws IOException {
        for (int i = 0; i < reads; i++) {
            FileChannel file = files.get(random.nextInt(files.size()));
            reader.read(file, random.nextLong(file.size() / RANDOM_BYTES) * RANDOM_BYTES);
        }
        return null;
    }

    private static void close(FileChannel file) {
        try {
            file.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private long mdsRequests() {
        String said = Shell.run(
                "ceph --conf=\"$1\" --keyring=\"$2\" tell mds.\"$3\":0 perf dump mds_server 2>/dev/null",
                lab.conf(),
                lab.keyring(),
                Path.of(lab.fileSystem()));
        return JsonParser.parseString(said)
                .getAsJsonObject()
                .getAsJsonObject("mds_server")
                .get("handle_client_request")
                .getAsLong();
    }

    private Path cache() {
        return disk.resolve("cache");
    }

    private ServedProcess cachingNode() {
        Shell.run("mkdir -p \"$1\"", cache());
        return folder.node("node", "--cache-dir=" + cache() + "=8Gi");
    }

    private NodeMounts mounts(CsiClient client) {
        return new NodeMounts(client, folder.file("kubelet"), lab.nodeStageSecrets());
    }

    private static void readFirst(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            if (in.read() < 0) {
                throw new IllegalStateException(file + " is empty");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static double secondsSince(long began) {
        return (System.nanoTime() - began) / 1e9;
    }
}
