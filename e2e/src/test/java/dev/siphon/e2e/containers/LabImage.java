package dev.siphon.e2e.containers;

import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Project;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/// An image that the tests run. By default `e2e/lab.d/docker` builds it from the lab's root on first use; a system
/// property can name another.
final class LabImage {
    /// All of Ceph.
    static final LabImage CEPH = new LabImage("ceph", "siphon.ceph.image", "siphon-ceph:lab");

    /// The driver's image.
    static final LabImage DRIVER = new LabImage("driver", "siphon.driver.image", "siphon:lab");

    /// An idle machine takes ten seconds.
    private static final Duration LIMIT = Duration.ofMinutes(4);

    private final FutureTask<String> made;

    private LabImage(String recipe, String property, String reference) {
        String named = System.getProperty(property, "");
        this.made = new FutureTask<>(() -> named.isEmpty() ? build(recipe, reference) : named);
    }

    private static String build(String recipe, String reference) {
        String script = Project.folder().resolve("e2e/lab.d/docker").toString();
        var _ = Command.run(LIMIT, List.of(script, recipe, reference));
        return reference;
    }

    /// Builds the image unless that has begun already; [#reference] reports the result.
    void make() {
        made.run();
    }

    /// Returns the image's name once it exists.
    ///
    /// @throws IllegalStateException if the build failed
    String reference() {
        make();
        try {
            return made.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException("the image could not be made", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }
}
