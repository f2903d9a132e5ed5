package dev.siphon.node.pod;

/// Where the people of a pod look when it does not do what it should.
@FunctionalInterface
public interface PodEvents {
    /// Where nobody looks: without Kubernetes.
    PodEvents NOWHERE = (_, _) -> {};

    /// Adds an event to the pod. Twice is two events.
    ///
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if it is not taken
    void add(Pod pod, Event event);

    /// Kubernetes' core/v1 Event, "types of events".
    enum Type {
        NORMAL("Normal"),
        WARNING("Warning");

        private final String text;

        Type(String text) {
            this.text = text;
        }

        /// As Kubernetes spells it.
        public String text() {
            return text;
        }
    }

    /// What happened.
    ///
    /// @param reason in CamelCase, for programs
    /// @param message for people, without secrets
    record Event(Type type, String reason, String message) {}
}
