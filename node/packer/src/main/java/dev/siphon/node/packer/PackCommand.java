package dev.siphon.node.packer;

import dev.siphon.csi.dataset.Manifest;
import dev.siphon.node.image.ImageModes;
import dev.siphon.node.image.ImagePacker;
import dev.siphon.node.image.PackRequest;
import java.nio.file.Path;
import java.time.Clock;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `siphon dataset pack`: packs a directory into an image. Needs only the source and the image's directory,
/// mounted: no key, no network.
@Command(
        name = "pack",
        description = {
            "Packs a directory into one EROFS image, and writes its manifest beside it.",
            "The source should be a snapshot: a file that changes meanwhile is an error. If killed, it resumes where it"
                    + " stopped. The last line on stdout is JSON: imageBytes, files, and the digest of the manifest."
        })
public final class PackCommand implements Callable<Integer> {
    @Spec
    private CommandSpec command = CommandSpec.create();

    @Option(
            names = "--source",
            paramLabel = "DIR",
            required = true,
            description = "The directory to pack. No part of its path may be a symbolic link.")
    private Path source = Path.of("");

    @Option(
            names = "--image",
            paramLabel = "FILE",
            required = true,
            description = "The image to make; FILE.manifest, FILE.part and FILE.part.done are beside it.")
    private Path image = Path.of("");

    @Option(
            names = "--modes",
            paramLabel = "MODES",
            defaultValue = "readable",
            description = "readable: root owns all, and whoever may mount it can read it. preserved: owners, modes and"
                    + " access lists as they are (default: readable).")
    private ImageModes modes = ImageModes.READABLE;

    @Option(
            names = "--parallel",
            paramLabel = "N",
            defaultValue = "8",
            description = "How many files to read at the same time; each takes 4 MiB of memory (default: 8).")
    private int parallel;

    @Option(names = "--progress", description = "Print progress on stderr, at every percent or every 5 s.")
    private boolean progress;

    @Override
    public Integer call() {
        PackRequest request = new PackRequest(source, image, modes, parallel);
        Manifest manifest = new ImagePacker(
                        new PackProgress(command.commandLine().getErr(), progress, Clock.systemUTC()))
                .pack(request);
        PackProgress.end(command.commandLine().getOut(), manifest);
        return 0;
    }
}
