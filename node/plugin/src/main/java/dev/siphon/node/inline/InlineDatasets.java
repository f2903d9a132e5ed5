package dev.siphon.node.inline;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.node.mount.CephCredentials;
import dev.siphon.node.pod.Pod;
import java.time.Duration;

/// Port that resolves the dataset that a pod names or has a claim for, and checks that the pod may read it.
@FunctionalInterface
public interface InlineDatasets {
    /// The only attribute that a pod sets (`volumeAttributes` of its volume).
    String DATASET = "dataset";

    /// No Kubernetes API is available: every request is refused.
    InlineDatasets NONE = new InlineDatasets() {
        @Override
        public Reply ask(String volume, Pod pod, String dataset, Duration limit) {
            throw new DriverException.InUse(
                    "inline volumes need a node that may ask the Kubernetes API: start it with --kubernetes-namespace");
        }

        @Override
        public boolean isThere() {
            return false;
        }
    };

    /// Returns whether requests can succeed, now or later.
    default boolean isThere() {
        return true;
    }

    /// The parameters to mount a dataset.
    ///
    /// @param volume the dataset's volume for this pod
    record Opened(VolumeId.DatasetVolume volume, VolumeContext context, CephCredentials credentials) {}

    /// What came of a question.
    sealed interface Reply {
        /// The pod may read the dataset.
        record Answered(Opened opened) implements Reply {}

        /// Nobody knows now. A refusal is no reply: it is thrown.
        ///
        /// @param why UNAVAILABLE or DEADLINE_EXCEEDED
        /// @param silent whether the controller said nothing in time; else it said that Ceph does not answer
        record Unanswered(DriverException why, boolean silent) implements Reply {}
    }

    /// Requests a dataset from the controller.
    ///
    /// @param volume identifies the pod's volume, as the name of a [dev.siphon.csi.dataset.DatasetAccess]
    /// @param dataset as in [dev.siphon.csi.dataset.DatasetAccess.Asked]
    /// @param limit how long to wait for the answer
    /// @throws DriverException the controller's reason to refuse it
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the controller cannot be asked
    Reply ask(String volume, Pod pod, String dataset, Duration limit);
}
