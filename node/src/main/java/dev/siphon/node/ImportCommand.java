package dev.siphon.node;

import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.Manifest;
import dev.siphon.node.fetch.FetchLimits;
import dev.siphon.node.image.ImageImport;
import dev.siphon.node.image.ImportOrigin;
import dev.siphon.node.image.ImportRequest;
import dev.siphon.node.image.Modes;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `siphon dataset import`: a packer for what is not on CephFS. It needs the image's directory, mounted; no
/// key; and the network only where the source is on a server.
@Command(
        name = "import",
        description = {
            "Makes one EROFS image and its manifest of a directory, of a tar, or of a tar on a server, as pack does.",
            "A tar may be plain or compressed by gzip, xz or zstd. Killed, it goes on where it stopped. The last line on"
                    + " stdout is JSON: imageBytes, files, and the digest of the manifest."
        })
public final class ImportCommand implements Callable<Integer> {
    @Spec
    private CommandSpec command = CommandSpec.create();

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
            description = "The SHA-256 digest of the tar as it lies there, compressed or not. An address needs it.")
    private Optional<String> sha256 = Optional.empty();

    @Option(
            names = "--strip-components",
            paramLabel = "N",
            defaultValue = "0",
            description = "Leaves out the first N parts of each name in a tar (default: 0).")
    private int strip;

    @Option(
            names = "--image",
            paramLabel = "FILE",
            required = true,
            description = "The image to make. FILE.manifest is beside it; until it is whole also FILE.part, .part.done,"
                    + " .part.tar, .part.tar.part, .part.tar.from, .download and .download.from.")
    private Path image = Path.of("");

    @Option(
            names = "--modes",
            paramLabel = "MODES",
            defaultValue = "readable",
            description =
                    "readable: all is root's, and readable by whoever may mount it. preserved: owners and modes as"
                            + " they are (default: readable).")
    private Modes modes = Modes.READABLE;

    @Option(
            names = "--parallel",
            paramLabel = "N",
            defaultValue = "8",
            description = "So many files are read at the same time, each with 4 MiB of memory (default: 8).")
    private int parallel;

    @Option(names = "--progress", description = "Says on stderr how far it is, each per cent or each 5 s.")
    private boolean progress;

    @Override
    public Integer call() {
        ImportRequest request = new ImportRequest(
                ImportOrigin.parse(source),
                sha256.map(hex -> new Digest(hex.toLowerCase(Locale.ROOT))),
                strip,
                image,
                modes,
                parallel);
        PackProgress told = new PackProgress(command.commandLine().getErr(), progress, Clock.systemUTC());
        Manifest manifest = new ImageImport(told, FetchLimits.USUAL).run(request);
        PackProgress.end(command.commandLine().getOut(), manifest);
        return 0;
    }
}
