package dev.siphon.controller.admin;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;

/// Collects failures per volume or cluster, so that one does not block the others.
final class PartialFailures {
    private final List<String> failures = new ArrayList<>();

    /// Runs an operation for one volume, and records its failure.
    void collect(VolumeId.Provisioned volume, Runnable body) {
        collect(volume.toString(), body);
    }

    /// Runs an operation for one volume, group or cluster, and records its failure.
    void collect(String one, Runnable body) {
        try {
            body.run();
        } catch (DriverException failure) {
            add(one, failure.getMessage());
        }
    }

    /// Records what is still to do for a volume, group or cluster.
    void add(String one, String what) {
        failures.add(one + ": " + what);
    }

    /// Prints the failures to stderr, one per line.
    ///
    /// @return whether there were any
    boolean print(CommandSpec command) {
        failures.forEach(failure -> command.commandLine().getErr().println("siphon: " + failure));
        command.commandLine().getErr().flush();
        return !failures.isEmpty();
    }
}
