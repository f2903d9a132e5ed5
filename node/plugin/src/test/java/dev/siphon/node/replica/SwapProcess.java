package dev.siphon.node.replica;

import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.linux.TestJvm;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/// A process that swaps the file behind a dataset's tree on each order, until it is killed.
final class SwapProcess implements AutoCloseable {
    private static final String DONE = "done";
    private static final String READY = "ready";
    private static final long LIMIT_SECONDS = 60;

    private final Process process;
    private final BufferedReader answers;
    private final Writer orders;

    private SwapProcess(Process process) {
        this.process = process;
        this.answers = process.inputReader();
        this.orders = process.outputWriter();
    }

    /// Starts a process, and waits until it accepts orders.
    ///
    /// @param state the state directory in which the dataset is attached
    static SwapProcess start(Path state, Digest digest) throws IOException {
        SwapProcess started = new SwapProcess(TestJvm.of(SwapProcess.class, state.toString(), digest.hex())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
        started.await(READY);
        return started;
    }

    /// Swaps to `file`, and waits until it is done.
    void swap(Path file) {
        begin(file);
        await(DONE);
    }

    /// Orders a swap without waiting for it.
    void begin(Path file) {
        try {
            orders.write(file + "\n");
            orders.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void await(String wanted) {
        String said = CompletableFuture.supplyAsync(this::answer)
                .orTimeout(LIMIT_SECONDS, TimeUnit.SECONDS)
                .join();
        if (!said.equals(wanted)) {
            throw new AssertionError("it said: " + said);
        }
    }

    private String answer() {
        try {
            return Optional.ofNullable(answers.readLine()).orElse("nothing");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Sends SIGKILL, and waits until the process is gone.
    @Override
    public void close() {
        TestJvm.kill(process);
    }

    /// @param arguments as passed by [#start]
    public static void main(String[] arguments) throws IOException {
        ImageMounts imageMounts =
                new ImageMounts(new ImageMountDirectories(Path.of(arguments[0])), ErofsSelection.ofThisNode());
        ImageMountKey key = ImageMountKey.anywhere(new Digest(arguments[1]));
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println(READY);
        for (String file = orders.readLine(); file != null; file = orders.readLine()) {
            MountResult now = imageMounts.swap(key, Path.of(file), Optional.empty());
            System.out.println(now.device().directIo() && now.device().readOnly() ? DONE : now.toString());
        }
    }
}
