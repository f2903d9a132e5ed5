package dev.siphon.controller.warm;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// An AdmissionCheck of Kueue that asks for datasets on disks of nodes.
///
/// @param name the object's name
/// @param generation counts changes of its spec
/// @param parameters what its parameters say
/// @param active what its condition `Active` says; empty if it has none yet
public record DataCheck(String name, long generation, Parameters parameters, Optional<Active> active) {
    /// The controller that Kueue's AdmissionChecks name.
    public static final String CONTROLLER = "siphon.dev/dataset";

    /// What its parameters say.
    public sealed interface Parameters {
        /// They can be used.
        record Valid(Settings settings) implements Parameters {}

        /// They cannot be used.
        record Invalid(String why) implements Parameters {}
    }

    /// The condition `Active`, without its time.
    public record Active(boolean isActive, String message) {}

    /// @param replicas on how many nodes the data must be; empty for as many as the pods need
    /// @param maxWait the longest wait; empty for the gate's
    /// @param isRejecting whether the Workload is rejected after that; otherwise it is admitted without the data
    /// @param isReleasing whether others use its quota meanwhile
    public record Settings(
            Optional<Integer> replicas, Optional<Duration> maxWait, boolean isRejecting, boolean isReleasing) {
        /// Those of a check without parameters.
        public static final Settings DEFAULT = new Settings(Optional.empty(), Optional.empty(), false, false);
    }

    /// What Kueue adds to the nodes of a flavor, and to the pods that it admits for it.
    ///
    /// @param labels of its nodes
    public record Flavor(String name, Map<String, String> labels, List<NodeRules.Toleration> tolerations) {
        public Flavor {
            labels = Map.copyOf(labels);
            tolerations = List.copyOf(tolerations);
        }
    }
}
