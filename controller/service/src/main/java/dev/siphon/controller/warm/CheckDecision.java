package dev.siphon.controller.warm;

import dev.siphon.controller.warm.DataCheck.Parameters;
import dev.siphon.controller.warm.DataCheck.Settings;
import dev.siphon.controller.warm.GatedDatasets.ReadDecision;
import dev.siphon.controller.warm.ObservedCheck.Loading;
import dev.siphon.controller.warm.QueuedWorkload.Phase;
import dev.siphon.controller.warm.QueuedWorkload.State;
import java.time.Duration;

/// Decides about the admission check of one Workload of Kueue. Touches nothing, so its test tries every combination.
final class CheckDecision {
    /// How long a Workload whose datasets cannot be read is not rejected: a dataset or reader that was declared just
    /// now is known within 15 s, and a Rejected Workload stays deactivated.
    static final Duration GRACE = Duration.ofSeconds(30);

    /// How long the volume of a PVC is awaited. Others than datasets may have none before a pod runs.
    static final Duration BINDING = Duration.ofSeconds(10);

    private static final CheckAnswer UNCHANGED = new CheckAnswer.Unchanged();

    private CheckDecision() {}

    /// @param isWanted whether its data is wanted on disks of nodes
    record Verdict(boolean isWanted, CheckAnswer answer) {}

    static Verdict decide(ObservedCheck is) {
        return switch (is.parameters()) {
            case Parameters.Invalid(var why) ->
                new Verdict(
                        false,
                        isAsked(is) ? given(State.PENDING, "the AdmissionCheck cannot be used: " + why) : UNCHANGED);
            case Parameters.Valid(var settings) -> new Verdict(isWanted(is), answer(is, settings));
        };
    }

    /// Whether Kueue waits for an answer.
    private static boolean isAsked(ObservedCheck is) {
        return is.phase() == Phase.RESERVED && is.state() == State.PENDING;
    }

    private static boolean isWanted(ObservedCheck is) {
        return switch (is.phase()) {
            case RESERVED -> is.state() != State.REJECTED;
            case RELEASED -> false;
        };
    }

    private static CheckAnswer answer(ObservedCheck is, Settings settings) {
        if (!isAsked(is)) {
            return UNCHANGED;
        }
        return switch (is.reads()) {
            case ReadDecision.Nothing(var why) -> given(State.READY, why.message());
            case ReadDecision.Cannot(var why) -> cannot(is, why);
            case ReadDecision.Pending _ -> UNCHANGED; // of pods at the gate alone
            case ReadDecision.Unknown _ ->
                is.isLate()
                        ? late(settings, "the datasets of its PVCs were not found")
                        : given(State.PENDING, "its PVCs are being looked up");
            case ReadDecision.Unbound(var datasets, var why) -> unbound(is, settings, datasets.isEmpty(), why);
            case ReadDecision.All _ -> loading(is, settings);
        };
    }

    private static CheckAnswer cannot(ObservedCheck is, String why) {
        return is.isReservedFor(GRACE)
                ? given(State.REJECTED, "its pods cannot run: " + why)
                : given(
                        State.PENDING,
                        "its pods cannot run, and it is rejected unless that changes within " + GRACE.toSeconds()
                                + " s: " + why);
    }

    private static CheckAnswer unbound(ObservedCheck is, Settings settings, boolean isOnly, String why) {
        if (!is.isReservedFor(BINDING)) {
            return given(State.PENDING, why);
        }
        return isOnly ? given(State.READY, "no dataset that could be warmed is known: " + why) : loading(is, settings);
    }

    private static CheckAnswer loading(ObservedCheck is, Settings settings) {
        Loading loading = is.loading();
        if (loading.nodes() == 0) {
            return given(State.READY, "no node of the cluster suits the pods, so their datasets are filled nowhere");
        }
        if (loading.isWhole()) {
            return given(State.READY, loading.progress());
        }
        if (is.isLate()) {
            return late(settings, loading.progress());
        }
        if (loading.isHopeless() && !settings.isRejecting() && is.isReservedFor(GRACE)) {
            return given(State.READY, "the pods read from CephFS: " + loading.progress());
        }
        return given(State.PENDING, loading.progress());
    }

    private static CheckAnswer late(Settings settings, String how) {
        return settings.isRejecting()
                ? given(State.REJECTED, "its longest wait is over: " + how)
                : given(
                        State.READY,
                        "its longest wait is over, so the pods read from CephFS until the data is on a disk: " + how);
    }

    private static CheckAnswer given(State state, String message) {
        // Kueue takes the message for a format of its event
        return new CheckAnswer.Given(state, message.replace("%", "percent"));
    }
}
