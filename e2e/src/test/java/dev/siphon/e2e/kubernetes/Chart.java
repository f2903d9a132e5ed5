package dev.siphon.e2e.kubernetes;

import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Project;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/// The Helm chart, rendered by the lab's `helm` for this Kubernetes.
final class Chart {
    private Chart() {}

    /// Renders the chart with options of `helm template`, which must succeed.
    static String rendered(String... options) {
        Command.Result result = render(options);
        if (result.exit() != 0) {
            throw new IllegalStateException("helm template: " + result.output());
        }
        return result.output();
    }

    /// Renders the chart with options that it may reject.
    static Command.Result render(String... options) {
        List<String> words = Stream.concat(
                        Stream.of(
                                program("helm").toString(),
                                "template",
                                "siphon",
                                Project.folder().resolve("deploy/chart").toString(),
                                "--namespace",
                                Installation.NAMESPACE,
                                "--kube-version",
                                "1.36"),
                        Stream.of(options))
                .toList();
        return Command.attempt(words.toArray(String[]::new));
    }

    /// Returns a program of the lab's Kubernetes, such as helm or a sidecar.
    static Path program(String name) {
        return folder().resolve("bin").resolve(name);
    }

    /// Returns the folder of the custom resource definitions for snapshots.
    static Path snapshotDefinitions() {
        return folder().resolve("crds");
    }

    private static Path folder() {
        return Project.programs("kubernetes");
    }
}
