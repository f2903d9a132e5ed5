package dev.siphon.node;

import dev.siphon.csi.ByteSize;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.server.ConfigProblems;
import dev.siphon.node.replica.ReplicaPolicy;
import dev.siphon.node.replica.cache.CacheDirectoryLimits;
import java.nio.file.Path;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.OptionalLong;
import picocli.CommandLine.Option;

/// The node's flags for replicas of datasets, for picocli's `@Mixin`.
final class CacheOptions {
    private static final int WATERMARK_PERCENT = 90;

    @Option(
            names = "--cache-dir",
            split = ",",
            defaultValue = "${env:SIPHON_CACHE_DIRS:-}",
            paramLabel = "DIRECTORY=SIZE",
            description = "A directory on a local disk for replicas of datasets, and how many bytes they may take:"
                    + " /mnt/nvme0/siphon=500Gi. Repeat it for each disk (default: none, so datasets are"
                    + " read from CephFS).")
    private List<String> directories = List.of();

    @Option(
            names = "--require-cache-dirs",
            defaultValue = "${env:SIPHON_REQUIRE_CACHE_DIRS:-false}",
            description =
                    "Do not create a missing cache directory: its disk is not mounted, and replicas would fill another"
                            + " one. The node works without the directory, and uses it once it exists.")
    private boolean required;

    @Option(
            names = "--fills-at-once",
            defaultValue = "${env:SIPHON_FILLS_AT_ONCE:-2}",
            paramLabel = "NUMBER",
            description = "How many datasets this node copies to its disks at the same time (default: 2).")
    private int fillsAtOnce;

    @Option(
            names = "--fill-rate",
            defaultValue = "${env:SIPHON_FILL_RATE:-}",
            paramLabel = "SIZE",
            description =
                    "How many bytes a second all copies to this node's disks may read from Ceph together, at least"
                            + " 1Mi: 200Mi (default: no limit).")
    private String fillRate = "";

    @Option(
            names = "--fill-turns",
            defaultValue = "${env:SIPHON_FILL_TURNS:-false}",
            description =
                    "Copy a dataset to this node's disks only when the controller has given this node its turn, as"
                            + " --fills-in-cluster of the controller says. If the controller says nothing for 2 minutes, the"
                            + " node starts by itself (default: false).")
    private boolean fillTurns;

    @Option(
            names = "--scrub-rate",
            defaultValue = "${env:SIPHON_SCRUB_RATE:-100Mi}",
            paramLabel = "SIZE",
            description = "How many bytes a second the daily checks of replicas that pods use may read from this node's"
                    + " disks together, at least 1Mi (default: 100Mi).")
    private String scrubRate = "";

    @Option(
            names = "--offline-for",
            defaultValue = "${env:SIPHON_OFFLINE_FOR:-24h}",
            paramLabel = "TIME",
            description =
                    "If Ceph does not answer, show a dataset from a whole replica on this node. The node must have"
                            + " opened it with a key within this time, such as 24h or 90m; 0 means never (default: 24h).")
    private String offlineFor = "";

    /// Reads for how long an opened dataset may be shown without Ceph.
    ConfigProblems.ParsedValue<Duration> offlineFor(ConfigProblems problems) {
        return problems.read("--offline-for", () -> time(offlineFor));
    }

    private static Duration time(String text) {
        try {
            return text.equals("0") ? Duration.ZERO : positive(Duration.parse("PT" + text));
        } catch (DateTimeParseException _) {
            throw new IllegalArgumentException(QuotedText.of(text) + " must be a time such as 24h, 90m or 0");
        }
    }

    private static Duration positive(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("must not be negative");
        }
        return time;
    }

    /// Returns whether fills wait for the turns that the controller hands out.
    boolean fillTurns() {
        return fillTurns;
    }

    /// Reads the limits of fills and checks.
    ConfigProblems.ParsedValue<ReplicaPolicy> policy(ConfigProblems problems) {
        var fills = problems.read("--fills-at-once", () -> atLeastOne(fillsAtOnce));
        var fill = problems.read(
                "--fill-rate", () -> fillRate.isEmpty() ? OptionalLong.empty() : OptionalLong.of(rate(fillRate)));
        var scrub = problems.read("--scrub-rate", () -> OptionalLong.of(rate(scrubRate)));
        return problems.readIfNone(() -> ReplicaPolicy.usual().limited(fills.get(), fill.get(), scrub.get()));
    }

    private static int atLeastOne(int number) {
        if (number < 1) {
            throw new IllegalArgumentException("must be at least 1, not " + number);
        }
        return number;
    }

    private static long rate(String text) {
        long bytes = ByteSize.bytes(text);
        if (bytes < ReplicaPolicy.LEAST_RATE) {
            throw new IllegalArgumentException(QuotedText.of(text) + " must be at least 1Mi, in bytes per second");
        }
        return bytes;
    }

    ConfigProblems.ParsedValue<List<CacheDirectoryLimits>> read(ConfigProblems problems) {
        return problems.read(
                "--cache-dir",
                () -> directories.stream()
                        .filter(text -> !text.isEmpty())
                        .map(this::limits)
                        .toList());
    }

    private CacheDirectoryLimits limits(String text) {
        int equals = text.lastIndexOf('=');
        if (equals < 0) {
            throw new IllegalArgumentException(
                    QuotedText.of(text) + " must be DIRECTORY=SIZE, such as /mnt/nvme0/siphon=500Gi");
        }
        Path directory = Path.of(text.substring(0, equals)).normalize();
        return new CacheDirectoryLimits(
                directory, ByteSize.bytes(text.substring(equals + 1)), WATERMARK_PERCENT, required);
    }
}
