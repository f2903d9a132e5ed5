package dev.siphon.node.packer;

import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.Manifest;
import dev.siphon.node.fetch.FetchLimits;
import dev.siphon.node.image.ImageImport;
import dev.siphon.node.image.ImageModes;
import dev.siphon.node.image.ImportOrigin;
import dev.siphon.node.image.ImportRequest;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine.Option;

/// The flags of an import: its source, and how to pack it.
final class ImportOptions {
    @Option(
            names = "--source",
            paramLabel = "PATH-or-URL",
            required = true,
            description = "A directory, a tar, or the http:// or https:// address of a tar. No part of a path may be a"
                    + " symbolic link.")
    private String source = "";

    @Option(
            names = "--sha256",
            paramLabel = "HEX",
            description = "The SHA-256 digest of the tar as stored, compressed or not. An address needs it.")
    private Optional<String> sha256 = Optional.empty();

    @Option(
            names = "--strip-components",
            paramLabel = "N",
            defaultValue = "0",
            description = "Leaves out the first N parts of each name in a tar (default: 0).")
    private int strip;

    @Option(
            names = "--modes",
            paramLabel = "MODES",
            defaultValue = "readable",
            description =
                    "readable: root owns all, and whoever may mount it can read it. preserved: owners and modes as"
                            + " they are (default: readable).")
    private ImageModes modes = ImageModes.READABLE;

    @Option(
            names = "--parallel",
            paramLabel = "N",
            defaultValue = "8",
            description = "How many files to read at the same time; each takes 4 MiB of memory (default: 8).")
    private int parallel;

    @Option(names = "--progress", description = "Print progress on stderr, at every percent or every 5 s.")
    private boolean progress;

    /// Returns the import request of the flags.
    ///
    /// @throws dev.siphon.csi.DriverException.InvalidRequest (INVALID_ARGUMENT) if the flags are invalid
    ImportRequest request(Path image) {
        return new ImportRequest(
                ImportOrigin.parse(source),
                sha256.map(hex -> new Digest(hex.toLowerCase(Locale.ROOT))),
                strip,
                image,
                modes,
                parallel);
    }

    /// Runs the import, with its progress on `err`.
    Manifest run(ImportRequest request, PrintWriter err) {
        return new ImageImport(new PackProgress(err, progress, Clock.systemUTC()), FetchLimits.USUAL).run(request);
    }
}
