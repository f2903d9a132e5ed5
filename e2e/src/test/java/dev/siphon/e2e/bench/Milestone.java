package dev.siphon.e2e.bench;

/// What claims, pods and volumes come to, by what the API tells of them.
enum Milestone {
    CLAIM_BOUND("claim created to Bound"),
    POD_READY("pod created to Ready"),
    /// The kubelet has unmounted for it by then; what was staged goes later.
    POD_GONE("pod deleted to gone"),
    VOLUME_GONE("pod and claim deleted to volume gone");

    private final String measure;

    Milestone(String measure) {
        this.measure = measure;
    }

    /// From what to what is measured.
    String measure() {
        return measure;
    }
}
