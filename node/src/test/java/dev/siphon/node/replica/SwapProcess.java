package dev.siphon.node.replica;

import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.TestJvm;
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

/// A process that puts files behind a dataset's tree, one whenever it is told to, until it is killed.
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

    /// Starts one, and waits until it can be told something.
    ///
    /// @param state where the dataset is attached
    static SwapProcess start(Path state, Digest digest) throws IOException {
        SwapProcess started = new SwapProcess(TestJvm.of(SwapProcess.class, state.toString(), digest.hex())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
        started.await(READY);
        return started;
    }

    /// Puts `file` behind the tree.
    void swap(Path file) {
        begin(file);
        await(DONE);
    }

    /// Tells it to, and waits for nothing.
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

    /// SIGKILL, and waits until it is gone.
    @Override
    public void close() {
        TestJvm.kill(process);
    }

    /// @param arguments as [#start] makes them
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
