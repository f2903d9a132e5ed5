package dev.siphon.controller.warm;

import dev.siphon.controller.warm.DataCheck.Parameters;
import dev.siphon.controller.warm.GatedDatasets.ReadDecision;
import dev.siphon.controller.warm.QueuedWorkload.Phase;
import dev.siphon.controller.warm.QueuedWorkload.State;
import java.time.Duration;
import java.util.Optional;

/// What is known of one Workload's admission check when it is decided on.
///
/// @param reads what the Workload's pods read together
/// @param wasReleased whether it gave its quota back since it was admitted last
/// @param mayRelease whether it may give its quota back now
/// @param reserved for how long it has had this reservation, or has been without one
/// @param waited for how long its data has been loading, reservations before this one included
/// @param maxWait its longest wait
/// @param loading how far its data is
record ObservedCheck(
        Phase phase,
        boolean wasReleased,
        boolean mayRelease,
        State state,
        Parameters parameters,
        ReadDecision reads,
        Duration reserved,
        Duration waited,
        Duration maxWait,
        Loading loading) {
    /// How far the data is, on the nodes chosen for it.
    ///
    /// @param nodes how many nodes suit the pods
    /// @param isWhole whether it is on all of them that can have it, and on one at least
    /// @param isHopeless whether none of them can have it
    /// @param progress in words
    /// @param left about how long it takes; empty if not known yet
    record Loading(int nodes, boolean isWhole, boolean isHopeless, String progress, Optional<Duration> left) {
        static final Loading NOTHING = new Loading(0, false, false, "", Optional.empty());
    }

    boolean isLate() {
        return waited.compareTo(maxWait) > 0;
    }

    boolean isReservedFor(Duration least) {
        return reserved.compareTo(least) > 0;
    }
}
