package dev.siphon.node;

import dev.siphon.csi.dataset.Manifest;
import dev.siphon.node.image.ImagePacker;
import dev.siphon.node.image.Modes;
import dev.siphon.node.image.PackListener;
import dev.siphon.node.image.PackRequest;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `siphon dataset pack`: what a packer process does. It needs the source and the image's directory,
/// mounted, and nothing else: no key, no network.
@Command(
        name = "pack",
        description = {
            "Packs a directory into one EROFS image, and writes its manifest beside it.",
            "The source should be a snapshot: what changes while it is packed is an error. Killed, it goes on where it"
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
            description = "readable: all is root's, and readable by whoever may mount it. preserved: owners, modes and"
                    + " access lists as they are (default: readable).")
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
        PackRequest request = new PackRequest(source, image, modes, parallel);
        PrintWriter out = command.commandLine().getOut();
        Manifest manifest =
                new ImagePacker(new Told(command.commandLine().getErr(), progress, Clock.systemUTC())).pack(request);
        out.println("{\"imageBytes\":" + manifest.imageBytes() + ",\"files\":" + manifest.files() + ",\"digest\":\""
                + manifest.root() + "\"}");
        out.flush();
        return 0;
    }

    /// Says what it hears, but not all of it.
    private static final class Told implements PackListener {
        private static final Duration PAUSE = Duration.ofSeconds(5);

        private final PrintWriter err;
        private final boolean progress;
        private final Clock clock;
        private java.time.Instant last;
        private long lastPercent = -1;

        Told(PrintWriter err, boolean progress, Clock clock) {
            this.err = err;
            this.progress = progress;
            this.clock = clock;
            last = clock.instant();
        }

        @Override
        public synchronized void walked(long entries) {
            if (pauseIsOver()) {
                say("found " + entries + " files and directories");
            }
        }

        @Override
        public synchronized void leftOut(long count, List<String> first) {
            err.println("left out " + count + " sockets, FIFOs and devices: " + String.join(", ", first)
                    + (count > first.size() ? ", ..." : ""));
            err.flush();
        }

        @Override
        public synchronized void packed(long done, long all) {
            long percent = done * 100 / all;
            if (percent > lastPercent || pauseIsOver()) {
                lastPercent = Math.max(percent, lastPercent);
                say(lastPercent + "% " + done + " of " + all + " bytes");
            }
        }

        private boolean pauseIsOver() {
            return Duration.between(last, clock.instant()).compareTo(PAUSE) >= 0;
        }

        private void say(String line) {
            last = clock.instant();
            if (progress) {
                err.println(line);
                err.flush();
            }
        }
    }
}
