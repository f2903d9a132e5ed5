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
import dev.siphon.e2e.lab.CephClient;
import dev.siphon.e2e.lab.CephTree;
import dev.siphon.e2e.lab.Lab;
import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// Takes a dataset of many small files from a snapshot of loose files to a replica. Prints one JSON line per step and
/// per bound; exits 1 if a bound is missed.
@Command(name = "imagenet-count", mixinStandardHelpOptions = true)
public final class ImageNetCount implements Callable<Integer> {
    private static final int FOLDERS = 1_000;
    private static final int LEAST_BYTES = 6_000;
    private static final int MOST_BYTES = 10_000;
    private static final int WRITERS = 8;
    private static final int SAMPLED = 10_000;
    private static final int DIGEST_BEGINNING = 40;
    private static final double MB = 1e6;

    /// The chart's limit of a packer.
    private static final long PACKER_BYTES = 1L << 30;

    /// The chart's limit of a node is half of it; here ceph-fuse runs beside it.
    private static final long NODE_BYTES = 1L << 30;

    /// ADR 39.
    private static final double NODE_MB = 160;

    /// For a moment, while a cold node attaches and fills: twice that is still within the chart's limit.
    private static final double NODE_PEAK_MB = 200;

    private static final Duration LOOK = Duration.ofMillis(200);
    private static final Duration LONG = Duration.ofHours(1);
    private static final VolumeCapability READERS = Requests.mount(Mode.MULTI_NODE_READER_ONLY);

    private enum Part {
        /// Writes loose files into the second lab, and packs their snapshot into this one.
        SEAL,
        /// Reads what is sealed.
        READ
    }

    @Parameters(description = "${COMPLETION-CANDIDATES}")
    private Part part = Part.SEAL;

    @Option(names = "--files", required = true)
    private int files;

    private final Lab lab = Lab.here();
    private final Bounds bounds = new Bounds(System.out);

    /// Runs in a lab whose control groups are mounted, with the built launcher.
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new ImageNetCount())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .execute(arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        switch (part) {
            case SEAL -> seal();
            case READ -> read();
        }
        return bounds.allMet() ? 0 : 1;
    }

    private Path image(CephTree tree) {
        return tree.at("/volumes/imagenet/image");
    }

    private Path digestFile() {
        return lab.run().resolve("imagenet-digest");
    }

    private static String name(int index) {
        return "n%05d/%07d.jpg".formatted(index % FOLDERS, index);
    }

    /// Returns the content of a file, the same in each run.
    private static byte[] content(int index) {
        Random random = new Random(index);
        byte[] bytes = new byte[LEAST_BYTES + random.nextInt(MOST_BYTES - LEAST_BYTES)];
        random.nextBytes(bytes);
        return bytes;
    }

    private long bytes() {
        return IntStream.range(0, files)
                .parallel()
                .mapToLong(index -> LEAST_BYTES + new Random(index).nextInt(MOST_BYTES - LEAST_BYTES))
                .sum();
    }

    private void seal() throws IOException, InterruptedException {
        try (CephTree from = CephTree.mount(Lab.second());
                CephTree to = CephTree.mount(lab)) {
            Path loose = Files.createDirectory(from.at("/imagenet"));
            report("written", timed(() -> inParallel(FOLDERS, folder -> writeFolder(loose, folder))), new JsonObject());
            Path snapshot = Files.createDirectory(loose.resolve(".snap/sealed"));
            Path image = Files.createDirectories(image(to).getParent()).resolve("image");
            pack(snapshot, image);
        }
    }

    private void writeFolder(Path loose, int folder) throws IOException {
        Files.createDirectory(loose.resolve(name(folder)).getParent());
        for (int index = folder; index < files; index += FOLDERS) {
            Files.write(loose.resolve(name(index)), content(index));
        }
    }

    private void pack(Path source, Path image) throws IOException, InterruptedException {
        Shell.dropCaches();
        Path said = lab.run().resolve("imagenet-pack");
        long began = System.nanoTime();
        Process packer = new ProcessBuilder(MemoryGroup.limit("packer", PACKER_BYTES)
                        .of(List.of(
                                Project.launcher().toString(),
                                "dataset",
                                "pack",
                                "--source=" + source,
                                "--image=" + image)))
                .redirectOutput(said.toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        long peak = 0;
        do {
            peak = Math.max(peak, peakBytes(packer));
        } while (!packer.waitFor(LOOK.toMillis(), TimeUnit.MILLISECONDS));
        double seconds = secondsSince(began);
        bounds.atMost("the packer's exit", packer.exitValue(), 0);
        JsonObject packed =
                JsonParser.parseString(Files.readAllLines(said).getLast()).getAsJsonObject();
        Files.writeString(digestFile(), packed.get("digest").getAsString());
        packed.addProperty("packer_peak_mb", Timings.rounded(peak / MB));
        report("sealed", seconds, packed);
        bounds.atLeast("files in the image", packed.get("files").getAsDouble(), files);
        bounds.atMost("resident memory of the packer, MB", peak / MB, PACKER_BYTES / MB);
    }

    /// Returns `VmHWM` (proc_pid_status(5)); 0 if the process has just ended.
    private static long peakBytes(Process process) {
        try (Stream<String> lines = Files.lines(Path.of("/proc", Long.toString(process.pid()), "status"))) {
            return lines.filter(line -> line.startsWith("VmHWM:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024)
                    .sum();
        } catch (IOException | UncheckedIOException _) {
            return 0;
        }
    }

    private void read() throws IOException {
        Volume volume = volume();
        try (DriverFolder folder = DriverFolder.create()) {
            // first without a cache directory, so that nothing fills meanwhile
            onNode(folder, volume, Optional.empty());
            Path cache = Files.createDirectory(lab.run().resolve("cache"));
            onNode(folder, volume, Optional.of(cache));
        }
    }

    private Volume volume() throws IOException {
        return Volume.newBuilder()
                .setVolumeId("dataset:lab:" + lab.fileSystem() + ":"
                        + Files.readString(digestFile()).substring(0, DIGEST_BEGINNING) + ":/volumes/imagenet")
                .putVolumeContext("monitors", lab.monitors())
                .putVolumeContext("mounter", CephClient.here().mounter())
                .build();
    }

    private void onNode(DriverFolder folder, Volume volume, Optional<Path> cache) {
        String name = cache.isPresent() ? "filling" : "attaching";
        int port = DriverFolder.freePort();
        List<String> command = new ArrayList<>(List.of(Project.launcher().toString(), "node"));
        command.addAll(folder.nodeFlags(
                name,
                port,
                cache.map(at -> "--cache-dir=" + at + "=16Gi").stream().toArray(String[]::new)));
        try (ServedProcess node = ServedProcess.start(
                                MemoryGroup.limit(name, NODE_BYTES).of(command),
                                folder.endpoint(name + ".sock"),
                                port,
                                folder.file(name + ".log"))
                        .awaitReady();
                CsiClient client = CsiClient.to(node.endpoint());
                NodeMounts mounts = new NodeMounts(client, folder.file("kubelet-" + name), lab.nodeStageSecrets())) {
            Shell.dropCaches();
            if (cache.isPresent()) {
                fill(mounts, volume, cache.get());
            } else {
                attach(mounts, volume);
            }
            report("node " + name, 0, memory(node));
            bounds.atMost("resident memory of the node, " + name + ", MB", node.residentBytes() / MB, NODE_MB);
            bounds.atMost("most of it for a moment, " + name + ", MB", node.peakBytes() / MB, NODE_PEAK_MB);
        }
    }

    private static JsonObject memory(ServedProcess node) {
        JsonObject memory = new JsonObject();
        memory.addProperty("resident_mb", Timings.rounded(node.residentBytes() / MB));
        memory.addProperty("peak_mb", Timings.rounded(node.peakBytes() / MB));
        return memory;
    }

    private void attach(NodeMounts mounts, Volume volume) {
        report(
                "attached",
                timed(() -> {
                    var _ = mounts.mount(volume, READERS);
                }),
                new JsonObject());
        Path tree = mounts.target(volume, "pod");
        JsonObject listed = new JsonObject();
        double seconds = timed(() -> {
            String[] counted = Shell.run(
                            "find \"$1\" -type f -printf '%s\\n' | awk '{ b += $1 } END { print NR, b }'", tree)
                    .strip()
                    .split(" ", -1);
            listed.addProperty("found", Long.parseLong(counted[0]));
            listed.addProperty("bytes", Math.round(Double.parseDouble(counted[1])));
        });
        report("listed", seconds, listed);
        bounds.atLeast("files listed", listed.get("found").getAsDouble(), files);
        bounds.atMost("files listed", listed.get("found").getAsDouble(), files);
        bounds.atMost(
                "bytes listed less those written", Math.abs(listed.get("bytes").getAsDouble() - bytes()), 0);
        sample("sampled from CephFS", tree);
    }

    private void fill(NodeMounts mounts, Volume volume, Path cache) {
        double seconds = timed(() -> {
            var _ = mounts.mount(volume, READERS);
            var _ = Await.until("a replica", LONG, () -> isWhole(cache));
        });
        JsonObject filled = new JsonObject();
        long bytes =
                Long.parseLong(Shell.run("stat -c %s \"$1\"/*/image", cache).strip());
        filled.addProperty("bytes", bytes);
        filled.addProperty("mb_s", Timings.rounded(bytes / MB / seconds));
        report("filled", seconds, filled);
        Shell.dropCaches();
        sample("sampled from the replica", mounts.target(volume, "pod"));
    }

    private static boolean isWhole(Path cache) {
        try (Stream<Path> found = Files.list(cache)) {
            return found.anyMatch(each -> Files.exists(each.resolve("image")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Reads some files at random, and compares them with what was written.
    private void sample(String step, Path tree) {
        int[] indexes = new Random(1).ints(Math.min(SAMPLED, files), 0, files).toArray();
        Shell.dropCaches();
        JsonObject sampled = new JsonObject();
        sampled.addProperty("sampled", indexes.length);
        double seconds = timed(() -> inParallel(indexes.length, at -> {
            int index = indexes[at];
            if (!Arrays.equals(Files.readAllBytes(tree.resolve(name(index))), content(index))) {
                throw new IllegalStateException(name(index) + " is not what was written");
            }
        }));
        sampled.addProperty("files_s", Timings.rounded(indexes.length / seconds));
        report(step, seconds, sampled);
    }

    private interface Step {
        void run() throws IOException;
    }

    private interface NumberedStep {
        void run(int number) throws IOException;
    }

    /// Runs a task for each number, by some threads.
    private static void inParallel(int count, NumberedStep task) {
        try (ExecutorService threads = Executors.newFixedThreadPool(WRITERS)) {
            List<Future<Integer>> all = IntStream.range(0, count)
                    .mapToObj(number -> threads.submit(() -> {
                        task.run(number);
                        return number;
                    }))
                    .toList();
            for (Future<Integer> each : all) {
                each.get();
            }
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    private static double timed(Step step) {
        long began = System.nanoTime();
        try {
            step.run();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return secondsSince(began);
    }

    private static double secondsSince(long began) {
        return (System.nanoTime() - began) / 1e9;
    }

    private void report(String step, double seconds, JsonObject more) {
        JsonObject line = new JsonObject();
        line.addProperty("step", step);
        line.addProperty("files", files);
        line.addProperty("seconds", Timings.rounded(seconds));
        line.addProperty("ms_per_file", seconds * 1000 / files);
        more.entrySet().forEach(each -> line.add(each.getKey(), each.getValue()));
        System.out.println(line);
    }
}
