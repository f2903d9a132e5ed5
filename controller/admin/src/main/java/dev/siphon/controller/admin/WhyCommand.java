package dev.siphon.controller.admin;

import dev.siphon.controller.Backend;
import dev.siphon.controller.explain.KnownPlaces;
import dev.siphon.controller.explain.NamespacedName;
import dev.siphon.controller.explain.PodWait;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `siphon why NAMESPACE/POD`: what a pod waits for. Only reads.
@Command(
        name = "why",
        description = {
            "Says in a sentence what a pod waits for, how far that is, how long it may last, and what to do.",
            "Reads the pod, its claims, their events, and the replicas of its datasets. Changes nothing."
        })
public final class WhyCommand implements Callable<Integer> {
    @Spec
    private CommandSpec command = CommandSpec.create();

    @Mixin
    private AdminOptions options = new AdminOptions();

    @Parameters(paramLabel = "NAMESPACE/POD", description = "The pod.")
    private String pod = "";

    @Override
    public Integer call() {
        NamespacedName name = NamespacedName.tryParse(pod)
                .orElseThrow(() -> new ParameterException(
                        command.commandLine(), QuotedText.of(pod) + " is no pod: write NAMESPACE/POD"));
        return options.run(command, backend -> print(backend, name));
    }

    private int print(Backend backend, NamespacedName name) {
        KnownPlaces places = WhoisCommand.places(backend);
        KnownPlaces.InKubernetes kubernetes = places.kubernetes()
                .orElseThrow(() -> new DriverException.InvalidRequest(
                        "--kubernetes-namespace is needed: pods are known in Kubernetes only"));
        PrintWriter out = command.commandLine().getOut();
        new PodWait(kubernetes, places.ceph().clusters().defaultCluster())
                .of(name)
                .forEach(out::println);
        out.flush();
        return CommandLine.ExitCode.OK;
    }
}
