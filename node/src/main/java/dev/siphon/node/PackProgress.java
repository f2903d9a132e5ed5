package dev.siphon.node;

import dev.siphon.csi.dataset.Manifest;
import dev.siphon.node.image.ImportListener;
import java.io.PrintWriter;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/// Says what it hears of a packer, but not all of it.
final class PackProgress implements ImportListener {
    private static final Duration PAUSE = Duration.ofSeconds(5);

    private final PrintWriter err;
    private final boolean progress;
    private final Clock clock;
    private Instant last;
    private long lastDone;
    private long lastPercent = -1;

    /// @param progress whether how far it is is said too
    PackProgress(PrintWriter err, boolean progress, Clock clock) {
        this.err = err;
        this.progress = progress;
        this.clock = clock;
        last = clock.instant();
    }

    /// What was made, for programs: the last line.
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

    /// Of parallel work what is less far comes later now and then, but never from the beginning.
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
