package dev.siphon.node.kubernetes;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.NodeId;
import dev.siphon.node.linux.TestJvm;
import dev.siphon.node.pod.Pod;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;

/// A process with two thirds of a node's memory. It asks about all datasets of one pod at once, prints each result,
/// then `end`.
final class QuestionsProcess {
    private QuestionsProcess() {}

    /// @param account the folder with certificate and token for the API server at `server`
    static ProcessBuilder command(URI server, Path account, int volumes) {
        ProcessBuilder process =
                TestJvm.of(QuestionsProcess.class, server.toString(), account.toString(), Integer.toString(volumes));
        // the last occurrence of an option wins
        process.command().addAll(1, List.of("-XX:+ExitOnOutOfMemoryError", "-Xms8m", "-Xmn2m"));
        process.command().replaceAll(word -> word.startsWith("-Xmx") ? "-Xmx32m" : word);
        return process.redirectErrorStream(true);
    }

    /// @param arguments as passed by [#command]
    public static void main(String[] arguments) throws InterruptedException {
        DatasetAccessApi api = new DatasetAccessApi(
                new ApiAccess.PodAccess(URI.create(arguments[0]), Path.of(arguments[1])),
                new NodeId("node-1", Optional.empty()));
        int volumes = Integer.parseInt(arguments[2]);
        CountDownLatch left = new CountDownLatch(volumes);
        for (int number = 0; number < volumes; number++) {
            String volume = "csi-%064x".formatted(number);
            Thread.startVirtualThread(() -> {
                try {
                    var _ = Replies.opened(
                            api.ask(volume, new Pod("u1", "many", "uid-1"), "u1/none", Duration.ofSeconds(20)));
                } catch (DriverException refused) {
                    System.out.println(refused.getClass().getSimpleName() + ": " + refused.getMessage());
                }
                left.countDown();
            });
        }
        left.await();
        System.out.println("end");
    }
}
