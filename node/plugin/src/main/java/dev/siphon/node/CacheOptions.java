package dev.siphon.node;

import dev.siphon.csi.ByteSize;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.server.ConfigProblems;
import dev.siphon.node.replica.cache.CacheDirectoryLimits;
import java.nio.file.Path;
import java.util.List;
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
