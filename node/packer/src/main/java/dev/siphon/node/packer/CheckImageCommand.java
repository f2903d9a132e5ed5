package dev.siphon.node.packer;

import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.Packer;
import dev.siphon.node.image.ImageCheck;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `siphon dataset check`: reads a dataset's image back. Needs only the image's directory, mounted.
@Command(
        name = "check",
        description = {
            "Reads a whole image, compares each byte with its manifest, and the manifest with the dataset's digest.",
            "Exit code 0: it is that dataset. " + Packer.EXIT_UNLIKE + ": it is not. Others: it could not be read."
        })
public final class CheckImageCommand implements Callable<Integer> {
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    /// Each chunk takes 4 MiB of memory.
    private static final int CHUNKS_AT_ONCE = 4;

    @Spec
    private CommandSpec command = CommandSpec.create();

    @Option(
            names = "--image",
            paramLabel = "FILE",
            required = true,
            description = "The image; its manifest is FILE.manifest. No part of its path may be a symbolic link.")
    private Path image = Path.of("");

    @Option(
            names = "--digest",
            paramLabel = "DIGEST",
            required = true,
            description = "The expected SHA-256 of the manifest, 64 hexadecimal digits.")
    private String digest = "";

    @Option(names = "--progress", description = "Print progress on stderr, at every percent or every 5 s.")
    private boolean progress;

    @Override
    public Integer call() {
        Path absolute = image.toAbsolutePath().normalize();
        PackProgress said = new PackProgress(command.commandLine().getErr(), progress, Clock.systemUTC());
        Optional<String> refusal = new ImageCheck(
                        absolute,
                        absolute.resolveSibling(absolute.getFileName() + ".manifest"),
                        new Digest(digest),
                        CHUNKS_AT_ONCE,
                        PATIENCE)
                .refusal(said::read);
        refusal.ifPresent(why -> {
            command.commandLine().getErr().println("siphon: " + why);
            command.commandLine().getErr().flush();
        });
        return refusal.isPresent() ? Packer.EXIT_UNLIKE : 0;
    }
}
