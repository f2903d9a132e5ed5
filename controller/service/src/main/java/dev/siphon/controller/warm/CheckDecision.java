package dev.siphon.controller.warm;

import dev.siphon.controller.warm.DataCheck.Parameters;
import dev.siphon.controller.warm.DataCheck.Settings;
import dev.siphon.controller.warm.GatedDatasets.ReadDecision;
import dev.siphon.controller.warm.ObservedCheck.Loading;
import dev.siphon.controller.warm.QueuedWorkload.State;
import java.time.Duration;

/// Decides about the admission check of one Workload of Kueue. Touches nothing, so its test tries every combination.
final class CheckDecision {
    /// How long a Workload whose datasets cannot be read is not rejected: a dataset or reader that was declared just
    /// now is known within 15 s, and a Rejected Workload stays deactivated.
    static final Duration GRACE = Duration.ofSeconds(30);

    /// How long the volume of a PVC is awaited. Others than datasets may have none before a pod runs.
    static final Duration BINDING = Duration.ofSeconds(10);

    /// How long a Workload keeps its quota in any case. By then the speed of most fills is known, and small ones are
    /// done.
    static final Duration SETTLING = Duration.ofSeconds(10);

    /// A Workload whose data is there this soon keeps its quota: whoever gets it meanwhile keeps it for longer.
    static final Duration SHORT = Duration.ofSeconds(30);

    private static final CheckAnswer UNCHANGED = new CheckAnswer.Unchanged();
    private static final Verdict RESUMED = new Verdict(false, new CheckAnswer.Resumed(false));

    private CheckDecision() {}

    /// @param isWanted whether its data is wanted on disks of nodes
    record Verdict(boolean isWanted, CheckAnswer answer) {}

    static Verdict decide(ObservedCheck is) {
        return switch (is.phase()) {
            case RESERVED -> reserved(is);
            case SENT_BACK -> new Verdict(false, UNCHANGED);
            case LEAVING -> new Verdict(isReleasing(is), UNCHANGED);
            case RELEASED -> released(is);
            case REACTIVATED -> RESUMED;
        };
    }

    private static Verdict reserved(ObservedCheck is) {
        boolean isAsked = is.state() == State.PENDING;
        return switch (is.parameters()) {
            case Parameters.Invalid(var why) ->
                new Verdict(
                        false, isAsked ? given(State.PENDING, "the AdmissionCheck cannot be used: " + why) : UNCHANGED);
            case Parameters.Valid(var settings) ->
                new Verdict(is.state() != State.REJECTED, isAsked ? answer(is, settings) : UNCHANGED);
        };
    }

    private static CheckAnswer answer(ObservedCheck is, Settings settings) {
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
        boolean isHopeless = loading.isHopeless() && !settings.isRejecting();
        if (isHopeless && is.isReservedFor(GRACE)) {
            return given(State.READY, "the pods read from CephFS: " + loading.progress());
        }
        boolean isSoon =
                loading.left().filter(left -> left.compareTo(SHORT) < 0).isPresent();
        boolean isReleased = settings.isReleasing() && !is.wasReleased() && is.mayRelease();
        return isReleased && is.isReservedFor(SETTLING) && !isSoon && !isHopeless
                ? new CheckAnswer.Released()
                : given(State.PENDING, loading.progress());
    }

    private static CheckAnswer late(Settings settings, String how) {
        return settings.isRejecting()
                ? given(State.REJECTED, "its longest wait is over: " + how)
                : given(
                        State.READY,
                        "its longest wait is over, so the pods read from CephFS until the data is on a disk: " + how);
    }

    /// Whether a Workload may be without its quota.
    private static boolean isReleasing(ObservedCheck is) {
        return is.parameters() instanceof Parameters.Valid(var settings) && settings.isReleasing() && !is.isLate();
    }

    /// Whatever it does not wait for any longer is answered once it has quota again.
    private static Verdict released(ObservedCheck is) {
        if (!(is.parameters() instanceof Parameters.Valid(var settings)) || !settings.isReleasing()) {
            return RESUMED;
        }
        return is.isLate() ? new Verdict(false, new CheckAnswer.Resumed(true)) : withoutQuota(is, settings);
    }

    private static Verdict withoutQuota(ObservedCheck is, Settings settings) {
        return switch (is.reads()) {
            case ReadDecision.Nothing _, ReadDecision.Cannot _, ReadDecision.Pending _ -> RESUMED;
            case ReadDecision.Unknown _ -> free("its PVCs are being looked up");
            case ReadDecision.Unbound(var datasets, var _) -> datasets.isEmpty() ? RESUMED : loadingLater(is, settings);
            case ReadDecision.All _ -> loadingLater(is, settings);
        };
    }

    private static Verdict loadingLater(ObservedCheck is, Settings settings) {
        Loading loading = is.loading();
        boolean isHopeless = loading.isHopeless() && !settings.isRejecting() && is.isReservedFor(GRACE);
        if (loading.nodes() == 0 || isHopeless) {
            return RESUMED;
        }
        return loading.isWhole() ? new Verdict(true, RESUMED.answer()) : free(loading.progress());
    }

    private static Verdict free(String progress) {
        return new Verdict(true, given(State.PENDING, "others may use its quota until its data is there: " + progress));
    }

    private static CheckAnswer given(State state, String message) {
        // Kueue takes the message for a format of its event
        return new CheckAnswer.Given(state, message.replace("%", "percent"));
    }
}
