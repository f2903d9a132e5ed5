package dev.siphon.node.packer;

import dev.siphon.csi.dataset.Manifest;
import dev.siphon.node.image.ImportListener;
import java.io.PrintWriter;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/// Prints a packer's progress: at each percent, or 5 seconds after the last line.
final class PackProgress implements ImportListener {
    private static final Duration PAUSE = Duration.ofSeconds(5);

    private final PrintWriter err;
    private final boolean progress;
    private final Clock clock;
    private Instant last;
    private long lastDone;
    private long lastPercent = -1;

    /// @param progress whether to print progress; files left out are always reported
    PackProgress(PrintWriter err, boolean progress, Clock clock) {
        this.err = err;
        this.progress = progress;
        this.clock = clock;
        last = clock.instant();
    }

    /// Prints the result for programs, as the last line.
    static void end(PrintWriter out, Manifest manifest) {
        out.println("{\"imageBytes\":" + manifest.imageBytes() + ",\"files\":" + manifest.files() + ",\"digest\":\""
                + manifest.root() + "\"}");
        out.flush();
    }

    @Override
    public synchronized void downloaded(long done, long all) {
        if (all > 0) {
            part("fetched ", done, all);
        } else if (pauseIsOver()) {
            say("fetched " + done + " bytes");
        }
    }

    @Override
    public synchronized void read(long done, long all) {
        part("read ", done, all);
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
        part("", done, all);
    }

    /// Prints the progress of one step. Parallel work may report out of order, but a number below half of the last
    /// one starts a new step.
    private void part(String what, long done, long all) {
        long percent = done * 100 / all;
        if (done < lastDone / 2) {
            lastPercent = -1;
        }
        lastDone = done;
        if (percent > lastPercent || pauseIsOver()) {
            lastPercent = Math.max(percent, lastPercent);
            say(what + lastPercent + "% " + done + " of " + all + " bytes");
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
