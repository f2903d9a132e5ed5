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
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// A dataset of many small files, sealed, against the same files loose: how soon its first byte is there, how fast a
/// node fills its replica, how fast eight processes read all of it in random order, and what that asks of the MDS.
/// Each figure is the median of several runs.
@Command(
        name = "bench-dataset",
        mixinStandardHelpOptions = true,
        description = "Times a sealed dataset and the same files loose, in a lab, with the client that mounts CephFS"
                + " here. One JSON line per figure and per bound, a summary last; exit 1 when a bound is missed.")
public final class DatasetBench implements Callable<Integer> {
    private static final int RUNS = 3;
    private static final double MB = 1e6;

    @Option(names = "--disk", description = "A directory of this machine's own disk (default: the lab's run folder).")
    private Optional<Path> disk = Optional.empty();

    private final JsonObject client = new JsonObject();
    private final JsonObject summary = new JsonObject();

    /// Runs in a lab or in a guest of one, against the launcher that was built.
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new DatasetBench()).execute(arguments));
    }

    @Override
    public Integer call() throws IOException {
        client.addProperty("client", CephClient.here().title());
        Bounds bounds = new Bounds(System.out, client);
        Path place = Files.createTempDirectory(disk.orElse(Lab.here().run()), "dataset-bench-");
        try (DriverFolder folder = DriverFolder.create()) {
            SampleDataset dataset = SampleDataset.make(Lab.here(), place);
            DatasetRuns runs = new DatasetRuns(folder, place, dataset);
            firstByte(runs, bounds);
            fill(runs, dataset.bytes() / MB, bounds);
            epochs(runs, dataset.bytes() / MB, bounds);
        } finally {
            Shell.run("rm -rf \"$1\"", place);
        }
        summary.addProperty("met", bounds.allMet());
        JsonObject line = client.deepCopy();
        line.add("summary", summary);
        System.out.println(line);
        return bounds.allMet() ? 0 : 1;
    }

    private void firstByte(DatasetRuns runs, Bounds bounds) {
        double bare = figure("bare_first_byte_s", runs::bareFirstByte);
        double first = figure("dataset_first_byte_s", runs::firstByte);
        bounds.atMost("first byte after NodeStage and NodePublish, s more than a bare mount's", first - bare, 1);
    }

    private void fill(DatasetRuns runs, double megabytes, Bounds bounds) {
        double copy = figure("dd_mb_s", () -> megabytes / runs.dd());
        double loose = figure("cp_loose_mb_s", () -> megabytes / runs.copyLoose());
        double fill = figure("fill_mb_s", () -> megabytes / runs.fill());
        bounds.atLeast("rate of a fill by that of dd bs=4M", fill / copy, 0.85);
        bounds.atLeast("rate of a fill by that of cp -a of loose files", fill / loose, 3);
    }

    private void epochs(DatasetRuns runs, double megabytes, Bounds bounds) {
        double local = epoch("loose_on_disk", megabytes, runs::localEpoch);
        double remote = epoch("loose", megabytes, runs::looseEpoch);
        double attached = epoch("attached", megabytes, runs::attachedEpoch);
        double replica = epoch("replica", megabytes, runs::replicaEpoch);
        bounds.atLeast("replica by loose files on the same disk", replica / local, 0.9);
        bounds.atLeast("replica by loose files on CephFS", replica / remote, 4);
        bounds.atLeast("attached, without a replica, by loose files on CephFS", attached / remote, 1.4);

        bounds.atMost("MDS requests of an epoch, attached", requests("attached"), 50);
        bounds.atMost("MDS requests of an epoch, replica", requests("replica"), 0);
        bounds.atLeast("MDS requests of an epoch, loose", requests("loose"), SampleDataset.FILES);
    }

    /// @return MB/s
    private double epoch(String name, double megabytes, Supplier<DatasetRuns.Epoch> run) {
        return figure(name + "_mb_s", () -> {
            DatasetRuns.Epoch epoch = run.get();
            // the last run's counts: they hardly differ
            summary.addProperty(name + "_mds_requests", epoch.requests());
            return megabytes / epoch.seconds();
        });
    }

    private double requests(String name) {
        return summary.get(name + "_mds_requests").getAsDouble();
    }

    private double figure(String name, DoubleSupplier measure) {
        List<Double> values = new ArrayList<>();
        for (int run = 0; run < RUNS; run++) {
            values.add(measure.getAsDouble());
        }
        double median = Timings.median(values);
        JsonObject line = client.deepCopy();
        line.addProperty("figure", name);
        line.addProperty("median", Timings.rounded(median));
        line.addProperty("least", Timings.rounded(Collections.min(values)));
        line.addProperty("most", Timings.rounded(Collections.max(values)));
        System.out.println(line);
        summary.addProperty(name, Timings.rounded(median));
        return median;
    }
}
