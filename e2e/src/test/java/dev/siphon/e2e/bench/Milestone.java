package dev.siphon.e2e.bench;

/// A state that claims, pods and volumes reach, as the API reports it.
enum Milestone {
    CLAIM_BOUND("claim created to Bound"),
    POD_READY("pod created to Ready"),
    /// The kubelet has unmounted the pod's volumes by then; it unstages later.
    POD_GONE("pod deleted to gone"),
    VOLUME_GONE("pod and claim deleted to volume gone");

    private final String measure;

    Milestone(String measure) {
        this.measure = measure;
    }

    /// Returns from which event to which the time is measured.
    String measure() {
        return measure;
    }
}
