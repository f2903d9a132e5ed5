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
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;

/// Times operations on a dataset and on the same files loose, in seconds. Each run starts with cold page caches,
/// and on CephFS with a new client.
final class DatasetRuns {
    private static final Duration LONG = Duration.ofMinutes(5);
    private static final VolumeCapability READERS = Requests.mount(Mode.MULTI_NODE_READER_ONLY);

    /// Runs eight processes at a time, each over 125 files of the list.
    private static final String READ_ALL = "cd \"$1\" && xargs -0 -a \"$2\" -P 8 -n 125 cat > /dev/null";

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
            readFirst(tree.at(SampleDataset.IMAGE));
            return secondsSince(began);
        }
    }

    /// Times from NodeStageVolume to the first byte of a file.
    double firstByte() {
        try (ServedProcess node = folder.node("node");
                CsiClient client = CsiClient.to(node.endpoint());
                NodeMounts mounts = mounts(client)) {
            long began = System.nanoTime();
            readFirst(mounts.mount(dataset.volume(), READERS).resolve(dataset.first()));
            return secondsSince(began);
        }
    }

    /// Times reading the image and discarding it: the client's upper limit.
    double read() {
        try (CephTree tree = CephTree.mount(lab)) {
            Shell.dropCaches();
            long began = System.nanoTime();
            Shell.run("dd if=\"$1\" of=/dev/null bs=4M", tree.at(SampleDataset.IMAGE));
            return secondsSince(began);
        }
    }

    /// Times copying the image to the disk with dd.
    double dd() {
        return copied("dd if=\"$1\" of=\"$2\" bs=4M conv=fsync", SampleDataset.IMAGE, "rm -f \"$1\"");
    }

    /// Times the same, plus reading the copy back and digesting it, as a fill does.
    double checkedDd() {
        return copied(
                "dd if=\"$1\" of=\"$2\" bs=4M conv=fsync && dd if=\"$2\" iflag=direct bs=4M | sha256sum",
                SampleDataset.IMAGE,
                "rm -f \"$1\"");
    }

    /// Times copying the loose files to the disk with cp.
    double copyLoose() {
        return copied("cp -a \"$1\" \"$2\" && sync -f \"$2\"", SampleDataset.LOOSE, "rm -rf \"$1\"");
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

    /// Reads all loose files on the disk, in random order.
    Epoch localEpoch() {
        return epoch(dataset.loose());
    }

    /// Reads all loose files on CephFS, in random order.
    Epoch looseEpoch() {
        try (CephTree tree = CephTree.mount(lab)) {
            return epoch(tree.at(SampleDataset.LOOSE));
        }
    }

    /// Reads all files of the image on CephFS, in random order.
    Epoch attachedEpoch() {
        try (ServedProcess node = folder.node("node");
                CsiClient client = CsiClient.to(node.endpoint());
                NodeMounts mounts = mounts(client)) {
            return epoch(mounts.mount(dataset.volume(), READERS));
        }
    }

    /// Reads all files of the replica, in random order. The replica stays for the next run.
    Epoch replicaEpoch() {
        try (ServedProcess node = cachingNode();
                CsiClient client = CsiClient.to(node.endpoint());
                NodeMounts mounts = mounts(client)) {
            Path tree = mounts.mount(dataset.volume(), READERS);
            awaitReplica();
            Await.until("read from the replica", LONG, () -> isLocal(tree));
            return epoch(tree);
        }
    }

    /// Returns whether the loop device behind `tree` has a backing file in the cache.
    private boolean isLocal(Path tree) {
        String file = Shell.run(
                "source=$(findmnt -no SOURCE -T \"$1\") && cat /sys/block/${source#/dev/}/loop/backing_file", tree);
        return file.contains(cache().toString());
    }

    private Epoch epoch(Path tree) {
        long before = mdsRequests();
        Shell.dropCaches();
        long began = System.nanoTime();
        Shell.run(READ_ALL, tree, dataset.order());
        double seconds = secondsSince(began);
        return new Epoch(seconds, mdsRequests() - before);
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
