package dev.siphon.node.packer;

import dev.siphon.csi.dataset.Manifest;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `siphon dataset import`: packs a dataset from outside CephFS. Needs the image's directory, mounted, and the
/// network if the source is on a server, but no key.
@Command(
        name = "import",
        description = {
            "Like pack, makes one EROFS image and its manifest, from a directory, a tar, or a tar on a server.",
            "A tar may be plain or compressed by bzip2, gzip, xz or zstd. If killed, it resumes where it stopped. The last line"
                    + " on stdout is JSON: imageBytes, files, and the digest of the manifest."
        })
public final class ImportCommand implements Callable<Integer> {
    @Spec
    private CommandSpec command = CommandSpec.create();

    @Mixin
    private ImportOptions options = new ImportOptions();

    @Option(
            names = "--image",
            paramLabel = "FILE",
            required = true,
            description =
                    "The image to make. FILE.manifest is beside it; until it is complete also FILE.part, .part.done,"
                            + " .part.tar, .part.tar.part, .part.tar.from, .download and .download.from.")
    private Path image = Path.of("");

    @Override
    public Integer call() {
        Manifest manifest =
                options.run(options.request(image), command.commandLine().getErr());
        PackProgress.end(command.commandLine().getOut(), manifest);
        return 0;
    }
}
