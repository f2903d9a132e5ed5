package dev.siphon.e2e.containers;

import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Project;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/// An image that the tests run: the one that a system property names, or else one that `e2e/lab.d/docker` makes of the
/// lab's root on first use.
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

    /// Makes it, unless that has begun already; [#reference] tells how it went.
    void make() {
        made.run();
    }

    /// Its name, when it is there.
    ///
    /// @throws IllegalStateException if it could not be made
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
