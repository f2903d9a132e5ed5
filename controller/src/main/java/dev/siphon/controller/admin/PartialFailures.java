package dev.siphon.controller.admin;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;

/// What went wrong with some of many volumes or clusters, so that the others are done all the same.
final class PartialFailures {
    private final List<String> failures = new ArrayList<>();

    /// Does something for one volume.
    void collect(VolumeId.Provisioned volume, Runnable body) {
        collect(volume.toString(), body);
    }

    /// Does something for one volume, group or cluster.
    void collect(String one, Runnable body) {
        try {
            body.run();
        } catch (DriverException failure) {
            add(one, failure.getMessage());
        }
    }

    /// Notes what is still to be done for a volume, group or cluster.
    void add(String one, String what) {
        failures.add(one + ": " + what);
    }

    /// Tells a person, a line for each.
    ///
    /// @return whether there were any
    boolean print(CommandSpec command) {
        failures.forEach(failure -> command.commandLine().getErr().println("siphon: " + failure));
        command.commandLine().getErr().flush();
        return !failures.isEmpty();
    }
}
