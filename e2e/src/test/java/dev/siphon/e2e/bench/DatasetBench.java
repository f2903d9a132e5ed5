package dev.siphon.e2e.bench;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import csi.v1.Volume;
import csi.v1.VolumeCapability;
import csi.v1.VolumeCapability.AccessMode.Mode;
import dev.siphon.e2e.driver.CsiClient;
import dev.siphon.e2e.driver.DriverFolder;
import dev.siphon.e2e.driver.NodeMounts;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.driver.ServedProcess;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.CephTree;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Lab;
import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.DoubleSupplier;
import java.util.stream.Stream;

/// A dataset of many small files, sealed, against the same files loose: how soon its first byte is there, how fast a
/// node fills its replica, how fast eight processes read all of it in random order, and what that asks of the MDS.
/// Each figure is the median of several runs with cold page caches, and for CephFS each time with another client. One
/// JSON line per figure and per bound, a summary last; exit 1 when a bound is missed.
public final class DatasetBench {
    private static final int FILES = 10_000;
    private static final int CLASSES = 100;
    private static final int LEAST_BYTES = 60_000;
    private static final int MOST_BYTES = 160_000;
    private static final int RUNS = 3;
    private static final double MB = 1e6;
    private static final int DIGEST_BEGINNING = 40;
    private static final Duration LONG = Duration.ofMinutes(5);
    private static final VolumeCapability READERS = Requests.mount(Mode.MULTI_NODE_READER_ONLY);

    /// Eight at a time, each with 125 files of the list.
    private static final String READ_ALL = "cd \"$1\" && xargs -0 -a \"$2\" -P 8 -n 125 cat > /dev/null";

    private final Bounds bounds = new Bounds(System.out);
    private final JsonObject summary = new JsonObject();
    private final Lab lab = Lab.here();
    private final DriverFolder folder;
    private final Path disk;
    private final Path order;
    private long bytes;
    private Volume volume = Volume.getDefaultInstance();

    private DatasetBench(DriverFolder folder, Path disk) {
        this.folder = folder;
        this.disk = disk;
        this.order = disk.resolve("order");
    }

    /// Runs in a lab, against the launcher that was built.
    public static void main(String[] arguments) throws IOException {
        Path disk = Files.createTempDirectory(Lab.here().run(), "dataset-bench-");
        boolean met;
        try (DriverFolder folder = DriverFolder.create()) {
            met = new DatasetBench(folder, disk).run();
        } finally {
            shell("rm -rf \"$1\"", disk);
        }
        System.exit(met ? 0 : 1);
    }

    private boolean run() throws IOException {
        prepare();
        double bare = figure("bare_first_byte_s", this::bareFirstByte);
        double first = figure("dataset_first_byte_s", this::firstByte);
        bounds.atMost("first byte after NodeStage and NodePublish, s more than a bare mount's", first - bare, 1);

        double copy = figure("dd_mb_s", () -> megabytesPerSecond(this::dd));
        double loose = figure("cp_loose_mb_s", () -> megabytesPerSecond(this::copyLoose));
        double fill = figure("fill_mb_s", () -> megabytesPerSecond(this::fill));
        bounds.atLeast("rate of a fill by that of dd bs=4M", fill / copy, 0.85);
        bounds.atLeast("rate of a fill by that of cp -a of loose files", fill / loose, 3);

        double local = figure("loose_on_disk_mb_s", () -> megabytesPerSecond(() -> epoch(disk.resolve("loose"))));
        double remote = figure("loose_on_cephfs_mb_s", () -> megabytesPerSecond(this::looseEpoch));
        double attached = figure("attached_mb_s", () -> megabytesPerSecond(this::attachedEpoch));
        double replica = figure("replica_mb_s", () -> megabytesPerSecond(this::replicaEpoch));
        bounds.atLeast("replica by loose files on the same disk", replica / local, 0.9);
        bounds.atLeast("replica by loose files on CephFS", replica / remote, 4);
        bounds.atLeast("attached, without a replica, by loose files on CephFS", attached / remote, 1.4);

        bounds.atMost("MDS requests of an epoch, attached", requests("attached_mds_requests"), 50);
        bounds.atMost("MDS requests of an epoch, replica", requests("replica_mds_requests"), 0);
        bounds.atLeast("MDS requests of an epoch, loose", requests("loose_mds_requests"), FILES);
        summary.addProperty("met", bounds.allMet());
        JsonObject line = new JsonObject();
        line.add("summary", summary);
        System.out.println(line);
        return bounds.allMet();
    }

    /// The files on the disk and on CephFS, their image beside them, and the order in which they are read.
    private void prepare() throws IOException {
        Path loose = Files.createDirectory(disk.resolve("loose"));
        Random random = new Random(1);
        List<String> names = new ArrayList<>();
        for (int i = 0; i < FILES; i++) {
            Path directory = Files.createDirectories(loose.resolve("class-" + i % CLASSES));
            byte[] content = new byte[LEAST_BYTES + random.nextInt(MOST_BYTES - LEAST_BYTES)];
            random.nextBytes(content);
            Path file = Files.write(directory.resolve("image-" + i), content);
            names.add(loose.relativize(file).toString());
            bytes += content.length;
        }
        Collections.shuffle(names, random);
        Files.writeString(order, String.join("\0", names) + "\0");
        try (CephTree tree = CephTree.mount(lab)) {
            shell("cp -a \"$1\" \"$2\"", loose, tree.at("/bench-loose"));
            Files.createDirectories(tree.at("/volumes/bench-dataset"));
            String said = shell(
                    "exec \"$1\" dataset pack --source \"$2\" --image \"$3\"",
                    Project.launcher(),
                    loose,
                    tree.at("/volumes/bench-dataset/image"));
            String digest = JsonParser.parseString(said.strip().lines().toList().getLast())
                    .getAsJsonObject()
                    .get("digest")
                    .getAsString();
            volume = Volume.newBuilder()
                    .setVolumeId("dataset:lab:" + lab.fileSystem() + ":" + digest.substring(0, DIGEST_BEGINNING)
                            + ":/volumes/bench-dataset")
                    .putVolumeContext("monitors", lab.monitors())
                    .putVolumeContext("mounter", "fuse")
                    .build();
        }
    }

    private double bareFirstByte() {
        long began = System.nanoTime();
        try (CephTree tree = CephTree.mount(lab)) {
            readFirst(tree.at("/volumes/bench-dataset/image"));
            return secondsSince(began);
        }
    }

    private double firstByte() {
        try (ServedProcess node = folder.node("node");
                CsiClient client = CsiClient.to(node.endpoint());
                NodeMounts mounts = mounts(client)) {
            String one = firstOfOrder();
            long began = System.nanoTime();
            readFirst(mounts.mount(volume, READERS).resolve(one));
            return secondsSince(began);
        }
    }

    /// A file that no class's listing begins with.
    private String firstOfOrder() {
        try {
            String all = Files.readString(order);
            return all.substring(0, all.indexOf('\0'));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private double dd() {
        try (CephTree tree = CephTree.mount(lab)) {
            dropCaches();
            long began = System.nanoTime();
            shell(
                    "dd if=\"$1\" of=\"$2\" bs=4M conv=fsync",
                    tree.at("/volumes/bench-dataset/image"),
                    disk.resolve("copied"));
            return secondsSince(began);
        } finally {
            shell("rm -f \"$1\"", disk.resolve("copied"));
        }
    }

    private double copyLoose() {
        try (CephTree tree = CephTree.mount(lab)) {
            dropCaches();
            long began = System.nanoTime();
            shell("cp -a \"$1\" \"$2\" && sync -f \"$2\"", tree.at("/bench-loose"), disk.resolve("copied"));
            return secondsSince(began);
        } finally {
            shell("rm -rf \"$1\"", disk.resolve("copied"));
        }
    }

    /// From the answer of NodeStageVolume until the replica has its name: copied, synced, and read back.
    private double fill() {
        try (ServedProcess node = cachingNode();
                CsiClient client = CsiClient.to(node.endpoint());
                NodeMounts mounts = mounts(client)) {
            dropCaches();
            mounts.stage(volume, READERS).get();
            return awaitReplica().toNanos() / 1e9;
        } finally {
            shell("rm -rf \"$1\"", cache());
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

    private double looseEpoch() {
        try (CephTree tree = CephTree.mount(lab)) {
            return counted("loose_mds_requests", tree.at("/bench-loose"));
        }
    }

    private double attachedEpoch() {
        try (ServedProcess node = folder.node("node");
                CsiClient client = CsiClient.to(node.endpoint());
                NodeMounts mounts = mounts(client)) {
            return counted("attached_mds_requests", mounts.mount(volume, READERS));
        }
    }

    private double replicaEpoch() {
        try (ServedProcess node = cachingNode();
                CsiClient client = CsiClient.to(node.endpoint());
                NodeMounts mounts = mounts(client)) {
            Path tree = mounts.mount(volume, READERS);
            awaitReplica();
            Await.until("read from the replica", LONG, () -> isLocal(tree));
            return counted("replica_mds_requests", tree);
        }
    }

    /// Whether the loop device behind `tree` is over a file in the cache.
    private boolean isLocal(Path tree) {
        String file = shell(
                "source=$(findmnt -no SOURCE -T \"$1\") && cat /sys/block/${source#/dev/}/loop/backing_file", tree);
        return file.contains(cache().toString());
    }

    private double counted(String figure, Path tree) {
        long before = mdsRequests();
        double seconds = epoch(tree);
        summary.addProperty(figure, mdsRequests() - before);
        return seconds;
    }

    private double requests(String figure) {
        return summary.get(figure).getAsDouble();
    }

    private double epoch(Path tree) {
        dropCaches();
        long began = System.nanoTime();
        shell(READ_ALL, tree, order);
        return secondsSince(began);
    }

    private long mdsRequests() {
        String said = shell(
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

    private double megabytesPerSecond(DoubleSupplier seconds) {
        return bytes / MB / seconds.getAsDouble();
    }

    private double figure(String name, DoubleSupplier measure) {
        List<Double> values = new ArrayList<>();
        for (int run = 0; run < RUNS; run++) {
            values.add(measure.getAsDouble());
        }
        double median = Timings.median(values);
        JsonObject line = new JsonObject();
        line.addProperty("figure", name);
        line.addProperty("median", Timings.rounded(median));
        line.addProperty("least", Timings.rounded(Collections.min(values)));
        line.addProperty("most", Timings.rounded(Collections.max(values)));
        System.out.println(line);
        summary.addProperty(name, Timings.rounded(median));
        return median;
    }

    private Path cache() {
        return disk.resolve("cache");
    }

    private ServedProcess cachingNode() {
        shell("mkdir -p \"$1\"", cache());
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

    private static void dropCaches() {
        shell("sync; echo 3 > /proc/sys/vm/drop_caches");
    }

    private static double secondsSince(long began) {
        return (System.nanoTime() - began) / 1e9;
    }

    private static String shell(String script, Path... arguments) {
        List<String> words = new ArrayList<>(List.of("sh", "-euc", script, "sh"));
        Stream.of(arguments).map(Path::toString).forEach(words::add);
        return Command.run(LONG, words);
    }
}
