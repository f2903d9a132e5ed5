package dev.siphon.node.pod;

/// Port: adds events to pods, for the people who run them.
@FunctionalInterface
public interface PodEvents {
    /// Drops all events: without Kubernetes.
    PodEvents NOWHERE = (_, _) -> {};

    /// Adds an event to the pod. Not idempotent: a repeat adds a second event.
    ///
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if the API server does not accept it
    void add(Pod pod, Event event);

    /// Kubernetes' core/v1 Event, "types of events".
    enum Type {
        NORMAL("Normal"),
        WARNING("Warning");

        private final String text;

        Type(String text) {
            this.text = text;
        }

        /// Returns Kubernetes' spelling.
        public String text() {
            return text;
        }
    }

    /// An event.
    ///
    /// @param reason in CamelCase, for programs
    /// @param message for people, without secrets
    record Event(Type type, String reason, String message) {}
}
