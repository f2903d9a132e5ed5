package dev.siphon.e2e.bench;

import com.google.gson.JsonObject;
import dev.siphon.e2e.driver.DriverFolder;
import dev.siphon.e2e.lab.CephClient;
import dev.siphon.e2e.lab.Lab;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.DoubleSupplier;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// Compares a sealed dataset with the same files loose. Of many small files: the time to the first byte, the rate of
/// a fill, the rate of eight processes that read everything in random order, and the requests to the MDS. Of eight
/// large files: the rates of one reader and of eight, and reads of 4 KiB at random places. Each figure is the median
/// of several runs.
@Command(
        name = "bench-dataset",
        mixinStandardHelpOptions = true,
        description = "Times a sealed dataset and the same files loose, in a lab, with the client that mounts CephFS"
                + " here. One JSON line per figure and per bound, a summary last; exit 1 when a bound is missed.")
public final class DatasetBench implements Callable<Integer> {
    private static final int RUNS = 3;
    private static final double MB = 1e6;

    /// How many times faster one rate must be than another.
    ///
    /// @param fill a fill, compared with `cp -a` of the loose files
    /// @param attached reading from the image on CephFS, compared with the loose files there
    /// @param replica reading from the replica, compared with the same
    /// @param plainDd whether to compare a fill, which verifies what it wrote, also with a dd that does not
    private record Times(double fill, double attached, double replica, boolean plainDd) {
        static Times of(CephClient client) {
            return switch (client) {
                case FUSE -> new Times(3, 1.4, 4, true);
                // A guest has one processor, always busy: each rate is its processor cost. The network and eight
                // readers cost most, whatever they read. No fill can exceed read_mb_s there, no replica
                // loose_on_disk_mb_s. These are hardly more than 3 times cp_loose_mb_s and 4 times loose_mb_s
                // (docs/explanation/datasets.md).
                case KERNEL -> new Times(1.5, 1.1, 2, false);
            };
        }
    }

    @Option(names = "--disk", description = "A directory of this machine's own disk (default: the lab's run folder).")
    private Optional<Path> disk = Optional.empty();

    @Option(names = "--files", description = "Which files: ${COMPLETION-CANDIDATES} (default: all).", split = ",")
    private Set<Part> parts = EnumSet.allOf(Part.class);

    private enum Part {
        SMALL,
        LARGE
    }

    private final Times times = Times.of(CephClient.here());
    private final JsonObject client = new JsonObject();
    private final JsonObject summary = new JsonObject();

    /// Runs in a lab or in its guest, with the built launcher.
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new DatasetBench()).execute(arguments));
    }

    @Override
    public Integer call() throws IOException {
        client.addProperty("client", CephClient.here().title());
        Bounds bounds = new Bounds(System.out, client);
        for (Part part : parts) {
            // the disk has no room for both
            Path place = Files.createTempDirectory(disk.orElse(Lab.here().run()), "dataset-bench-");
            try (DriverFolder folder = DriverFolder.create()) {
                switch (part) {
                    case SMALL -> small(folder, place, bounds);
                    case LARGE -> large(folder, place, bounds);
                }
            } finally {
                Shell.run("rm -rf \"$1\"", place);
            }
        }
        summary.addProperty("met", bounds.allMet());
        JsonObject line = client.deepCopy();
        line.add("summary", summary);
        System.out.println(line);
        return bounds.allMet() ? 0 : 1;
    }

    private void small(DriverFolder folder, Path place, Bounds bounds) throws IOException {
        SampleDataset dataset = SampleDataset.make(Lab.here(), place, SampleDataset.Shape.SMALL);
        DatasetRuns runs = new DatasetRuns(folder, place, dataset);
        firstByte(runs, bounds);
        fill(runs, dataset.bytes() / MB, bounds);
        epochs(runs, dataset.bytes() / MB, bounds);
    }

    private void large(DriverFolder folder, Path place, Bounds bounds) throws IOException {
        SampleDataset dataset = SampleDataset.make(Lab.here(), place, SampleDataset.Shape.LARGE);
        DatasetRuns runs = new DatasetRuns(folder, place, dataset);
        double megabytes = dataset.bytes() / MB;
        double[] one = rates(
                "one_reader_mb_s", tree -> megabytes / runs.oneReader(tree).seconds(), runs);
        double[] eight =
                rates("eight_readers_mb_s", tree -> megabytes / runs.epoch(tree).seconds(), runs);
        double[] random = rates("random_reads_s", runs::randomReads, runs);
        double[] mapped = rates("mapped_reads_s", runs::mappedReads, runs);
        bounds.atLeast("large files, one reader: replica by loose files on the same disk", one[3] / one[0], 0.95);
        bounds.atLeast("large files, one reader: attached by loose files on CephFS", one[2] / one[1], 0.95);
        bounds.atLeast(
                "large files, eight readers: replica by loose files on the same disk", eight[3] / eight[0], 0.95);
        bounds.atLeast("large files, eight readers: attached by loose files on CephFS", eight[2] / eight[1], 0.95);
        bounds.atLeast("large files, random reads: attached by loose files on CephFS", random[2] / random[1], 0.95);
        // a miss reads ahead 512 KiB, where ceph-fuse reads 128 KiB and the kernel's client 8 MiB
        bounds.atLeast("large files, mapped reads: attached by loose files on CephFS", mapped[2] / mapped[1], 0.5);
    }

    /// @return the rates at each place, in their order
    private double[] rates(String figure, ToDoubleFunction<Path> read, DatasetRuns runs) {
        return inTurns(Stream.of(DatasetRuns.Place.values())
                .map(place -> new Measure(
                        "large_" + place.name().toLowerCase(Locale.ROOT) + "_" + figure,
                        () -> runs.at(place, read::applyAsDouble)))
                .toArray(Measure[]::new));
    }

    private void firstByte(DatasetRuns runs, Bounds bounds) {
        double[] seconds = inTurns(
                new Measure("bare_first_byte_s", runs::bareFirstByte),
                new Measure("dataset_first_byte_s", runs::firstByte));
        bounds.atMost(
                "first byte after NodeStage and NodePublish, s more than a bare mount's", seconds[1] - seconds[0], 1);
    }

    private void fill(DatasetRuns runs, double megabytes, Bounds bounds) {
        double[] rates = inTurns(
                new Measure("read_mb_s", () -> megabytes / runs.read()),
                new Measure("dd_mb_s", () -> megabytes / runs.dd()),
                new Measure("dd_checked_mb_s", () -> megabytes / runs.checkedDd()),
                new Measure("cp_loose_mb_s", () -> megabytes / runs.copyLoose()),
                new Measure("fill_mb_s", () -> megabytes / runs.fill()));
        if (times.plainDd()) {
            bounds.atLeast("rate of a fill by that of dd bs=4M", rates[4] / rates[1], 0.85);
        }
        bounds.atLeast("rate of a fill by that of dd bs=4M and sha256sum of the copy", rates[4] / rates[2], 0.85);
        bounds.atLeast("rate of a fill by that of cp -a of loose files", rates[4] / rates[3], times.fill());
    }

    private void epochs(DatasetRuns runs, double megabytes, Bounds bounds) {
        double[] rates = inTurns(
                epoch("loose_on_disk", megabytes, runs, DatasetRuns.Place.LOOSE_ON_DISK),
                epoch("loose", megabytes, runs, DatasetRuns.Place.LOOSE),
                epoch("attached", megabytes, runs, DatasetRuns.Place.ATTACHED),
                epoch("replica", megabytes, runs, DatasetRuns.Place.REPLICA));
        bounds.atLeast("replica by loose files on the same disk", rates[3] / rates[0], 0.9);
        bounds.atLeast("replica by loose files on CephFS", rates[3] / rates[1], times.replica());
        bounds.atLeast("attached, without a replica, by loose files on CephFS", rates[2] / rates[1], times.attached());

        bounds.atMost("MDS requests of an epoch, attached", requests("attached"), 50);
        bounds.atMost("MDS requests of an epoch, replica", requests("replica"), 0);
        bounds.atLeast("MDS requests of an epoch, loose", requests("loose"), SampleDataset.Shape.SMALL.files());
    }

    private Measure epoch(String name, double megabytes, DatasetRuns runs, DatasetRuns.Place place) {
        return new Measure(name + "_mb_s", () -> {
            DatasetRuns.Epoch epoch = runs.at(place, runs::epoch);
            // the last run's count stands for all: the counts hardly differ
            summary.addProperty(name + "_mds_requests", epoch.requests());
            return megabytes / epoch.seconds();
        });
    }

    private double requests(String name) {
        return summary.get(name + "_mds_requests").getAsDouble();
    }

    private record Measure(String figure, DoubleSupplier once) {}

    /// Runs the measures in turns, so that other load on this machine slows all of them.
    ///
    /// @return the medians
    private double[] inTurns(Measure... measures) {
        List<List<Double>> values =
                Stream.of(measures).<List<Double>>map(_ -> new ArrayList<>()).toList();
        for (int run = 0; run < RUNS; run++) {
            for (int i = 0; i < measures.length; i++) {
                values.get(i).add(measures[i].once().getAsDouble());
            }
        }
        return IntStream.range(0, measures.length)
                .mapToDouble(i -> report(measures[i].figure(), values.get(i)))
                .toArray();
    }

    private double report(String figure, List<Double> values) {
        double median = Timings.median(values);
        JsonObject line = client.deepCopy();
        line.addProperty("figure", figure);
        line.addProperty("median", Timings.rounded(median));
        line.addProperty("least", Timings.rounded(Collections.min(values)));
        line.addProperty("most", Timings.rounded(Collections.max(values)));
        System.out.println(line);
        summary.addProperty(figure, Timings.rounded(median));
        return median;
    }
}
