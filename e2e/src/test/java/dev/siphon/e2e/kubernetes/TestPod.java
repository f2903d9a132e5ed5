package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.e2e.lab.Command;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.dsl.ExecWatch;
import io.fabric8.kubernetes.client.dsl.LogWatch;
import io.fabric8.kubernetes.client.dsl.PodResource;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/// A pod of a test with one container.
record TestPod(Cluster cluster, String namespace, String name) {
    PodResource resource() {
        return cluster.client().pods().inNamespace(namespace).withName(name);
    }

    String phase() {
        return resource().get().getStatus().getPhase();
    }

    /// Waits until the pod is ready.
    TestPod ready() {
        var _ = cluster.await("pod " + name + " is ready", resource(), TestPod::isReady);
        return this;
    }

    private static boolean isReady(Pod pod) {
        return pod != null
                && pod.getStatus().getConditions().stream()
                        .anyMatch(each -> "Ready".equals(each.getType()) && "True".equals(each.getStatus()));
    }

    /// Waits until the pod has succeeded.
    TestPod succeeded() {
        return succeeded(Cluster.PATIENCE);
    }

    /// Does the same with another time limit.
    TestPod succeeded(Duration atMost) {
        Pod ended = cluster.await(
                "pod " + name + " ends",
                atMost,
                resource(),
                pod -> pod != null && Pattern.matches("Succeeded|Failed", phaseOf(pod)));
        assertEquals("Succeeded", phaseOf(ended), () -> name + " said: " + log());
        return this;
    }

    private static String phaseOf(Pod pod) {
        return Objects.requireNonNullElse(pod.getStatus().getPhase(), "none");
    }

    /// Returns the whole log.
    String log() {
        return resource().getLog();
    }

    String lastLine() {
        return resource().tailingLines(1).getLog().strip();
    }

    /// Follows the log until a line matches `pattern`.
    ///
    /// @return the line
    String says(String pattern) {
        var _ = cluster.await("pod " + name + " is started", resource(), TestPod::isStarted);
        Predicate<String> wanted = Pattern.compile(pattern).asPredicate();
        CompletableFuture<String> found = new CompletableFuture<>();
        try (LogWatch log = resource().watchLog()) {
            Thread.ofVirtual().start(() -> follow(log, wanted, found));
            return found.get(Cluster.PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException e) {
            throw new AssertionError("pod " + name + " does not say " + pattern + " but: " + log(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private static boolean isStarted(Pod pod) {
        return pod != null
                && pod.getStatus().getContainerStatuses().stream()
                        .anyMatch(each -> each.getState().getRunning() != null
                                || each.getState().getTerminated() != null);
    }

    private static void follow(LogWatch log, Predicate<String> wanted, CompletableFuture<String> found) {
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(log.getOutput(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (wanted.test(line)) {
                    found.complete(line);
                    return;
                }
            }
            found.completeExceptionally(new IllegalStateException("it has ended"));
        } catch (IOException e) {
            found.completeExceptionally(e);
        }
    }

    /// Runs a command in the pod; it must succeed.
    ///
    /// @return its output
    String run(String... command) {
        Command.Result result = attempt(command);
        assertEquals(0, result.exit(), () -> String.join(" ", command) + " in " + name + ": " + result.output());
        return result.output().strip();
    }

    /// Runs a command in the pod; it may fail.
    Command.Result attempt(String... command) {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        try (ExecWatch running =
                resource().writingOutput(said).writingError(said).exec(command)) {
            int exit = running.exitCode().get(Cluster.PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            return new Command.Result(exit, said.toString(StandardCharsets.UTF_8));
        } catch (TimeoutException | ExecutionException e) {
            throw new AssertionError(String.join(" ", command) + " in " + name, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /// Waits until an event of the pod matches `pattern`.
    ///
    /// @return the event, as `REASON: MESSAGE`
    String told(String pattern) {
        return cluster.awaitEvent(namespace, name, pattern);
    }

    /// Requests the pod's deletion.
    void remove() {
        var _ = resource().delete();
    }

    /// Deletes the pod and waits until it is gone.
    void delete() {
        remove();
        var _ = cluster.await("the end of pod " + name, resource(), Objects::isNull);
    }
}
