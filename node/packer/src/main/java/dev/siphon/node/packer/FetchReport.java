package dev.siphon.node.packer;

import com.google.gson.JsonObject;
import dev.siphon.node.fetch.FetchFailure;
import dev.siphon.node.unpack.TreeFetch;
import dev.siphon.node.unpack.TreeListener;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;

/// Reports a fetch to whoever watches its pod: its progress as lines of JSON, and its end in a file.
final class FetchReport implements TreeListener {
    private static final Duration PAUSE = Duration.ofSeconds(5);
    private static final int MAX_MESSAGE_CHARS = 900;

    private final PrintWriter out;
    private final ProgressNote note;
    private final Clock clock;
    private String step = "";
    private long totalBytes = -1;
    private long bytes;
    private long files;
    private Instant last;
    private long lastBytes;

    FetchReport(PrintWriter out, ProgressNote note, Clock clock) {
        this.out = out;
        this.note = note;
        this.clock = clock;
        last = clock.instant();
    }

    @Override
    public synchronized void begin(String name, long total) {
        step = name;
        totalBytes = total;
        bytes = 0;
        files = 0;
        last = clock.instant();
        lastBytes = 0;
        print(0);
    }

    @Override
    public synchronized void downloaded(long done, long total) {
        if (bytes == 0 || done < lastBytes) {
            // what an earlier run has fetched was not fetched now
            lastBytes = done;
        }
        bytes = done;
        totalBytes = total;
        printNowAndThen();
    }

    @Override
    public synchronized void wrote(long more, long moreFiles) {
        bytes += more;
        files += moreFiles;
        printNowAndThen();
    }

    private void printNowAndThen() {
        Duration since = Duration.between(last, clock.instant());
        if (since.compareTo(PAUSE) >= 0) {
            print((bytes - lastBytes) * 1000 / since.toMillis());
            last = clock.instant();
            lastBytes = bytes;
        }
    }

    private void print(long perSecond) {
        JsonObject progress = new JsonObject();
        progress.addProperty("step", step);
        progress.addProperty("bytes", bytes);
        progress.addProperty("totalBytes", totalBytes);
        progress.addProperty("files", files);
        progress.addProperty("bytesPerSecond", perSecond);
        long secondsLeft = totalBytes < 0 || perSecond <= 0 ? -1 : Math.max(0, totalBytes - bytes) / perSecond;
        progress.addProperty("secondsLeft", secondsLeft);
        note.write(bytes, totalBytes, perSecond, secondsLeft);
        JsonObject line = new JsonObject();
        line.add("progress", progress);
        out.println(line);
        out.flush();
    }

    /// Returns the end of a fetch that succeeded.
    static JsonObject done(TreeFetch.Result result) {
        JsonObject end = new JsonObject();
        end.addProperty("outcome", "done");
        end.addProperty("bytes", result.bytes());
        end.addProperty("files", result.files());
        return end;
    }

    /// Returns the end of a fetch that failed.
    static JsonObject failed(FetchFailure failure) {
        String message = failure.getMessage();
        JsonObject end = new JsonObject();
        end.addProperty("outcome", "failed");
        end.addProperty("retryable", failure.reason().isRetryable());
        end.addProperty("reason", failure.reason().text());
        end.addProperty(
                "message",
                message.length() > MAX_MESSAGE_CHARS ? message.substring(0, MAX_MESSAGE_CHARS) + "..." : message);
        return end;
    }

    /// Writes the end to the file that the kubelet reads; on a machine without a kubelet there is none.
    static void write(JsonObject end, Path file) {
        try {
            if (Files.exists(file)) {
                Files.write(file, end.toString().getBytes(StandardCharsets.UTF_8));
            }
        } catch (IOException e) {
            throw new FetchFailure(FetchFailure.Reason.IO, "writing the end to the termination log failed: " + e);
        }
    }
}
