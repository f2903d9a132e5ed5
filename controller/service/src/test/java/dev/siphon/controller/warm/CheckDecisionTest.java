package dev.siphon.controller.warm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.controller.warm.DataCheck.Parameters;
import dev.siphon.controller.warm.DataCheck.Settings;
import dev.siphon.controller.warm.GatedDatasets.ReadDecision;
import dev.siphon.controller.warm.ObservedCheck.Loading;
import dev.siphon.controller.warm.QueuedWorkload.Phase;
import dev.siphon.controller.warm.QueuedWorkload.State;
import dev.siphon.controller.warm.WarmupCluster.Notice;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// Decides about an admission check in every situation.
final class CheckDecisionTest {
    private static final Duration MAX_WAIT = Duration.ofMinutes(10);

    private static final List<Parameters> PARAMETERS = List.of(
            new Parameters.Invalid("there is no DatasetCheck x"),
            valid(false, false),
            valid(true, false),
            valid(false, true),
            valid(true, true));

    private static final List<ReadDecision> READS = List.of(
            new ReadDecision.Nothing(new Notice(false, "DatasetWarm", "it reads none")),
            new ReadDecision.All(Set.of(WarmWorld.X)),
            new ReadDecision.Pending(Set.of(WarmWorld.X)),
            new ReadDecision.Unbound(Set.of(WarmWorld.X), "PVC u1/a is not there"),
            new ReadDecision.Unbound(Set.of(), "PVC u1/a is not there"),
            new ReadDecision.Cannot("no reader"),
            new ReadDecision.Unknown());

    private static final List<Loading> LOADINGS = List.of(
            new Loading(0, false, false, "", Optional.empty()),
            new Loading(2, true, false, "whole", Optional.of(Duration.ZERO)),
            loading(false, Optional.of(Duration.ofSeconds(9))),
            loading(false, Optional.of(Duration.ofSeconds(90))),
            loading(false, Optional.of(Duration.ofHours(9))),
            loading(false, Optional.empty()),
            loading(true, Optional.empty()));

    private int situations;

    private static Parameters valid(boolean isRejecting, boolean isReleasing) {
        return new Parameters.Valid(new Settings(Optional.empty(), Optional.empty(), isRejecting, isReleasing));
    }

    private static Loading loading(boolean isHopeless, Optional<Duration> left) {
        return new Loading(2, false, isHopeless, "on its way", left);
    }

    @Test
    void everySituationIsDecided() {
        for (Phase phase : Phase.values()) {
            for (State state : State.values()) {
                for (Parameters parameters : PARAMETERS) {
                    for (ReadDecision reads : READS) {
                        for (Loading loading : LOADINGS) {
                            everyTime(phase, state, parameters, reads, loading);
                        }
                    }
                }
            }
        }
        assertEquals(5 * 4 * 5 * 7 * 7 * 3 * 2 * 2 * 2, situations);
    }

    private void everyTime(Phase phase, State state, Parameters parameters, ReadDecision reads, Loading loading) {
        for (int reserved : new int[] {5, 15, 31}) {
            for (int before : new int[] {0, 600}) {
                for (int bits = 0; bits < 4; bits++) {
                    check(new ObservedCheck(
                            phase,
                            bits % 2 == 1,
                            bits / 2 == 1,
                            state,
                            parameters,
                            reads,
                            Duration.ofSeconds(reserved),
                            Duration.ofSeconds(reserved + before),
                            MAX_WAIT,
                            loading));
                }
            }
        }
    }

    private void check(ObservedCheck is) {
        situations++;
        CheckDecision.Verdict verdict = CheckDecision.decide(is);
        if (verdict.isWanted() != isWanted(is)) {
            throw new AssertionError("wanted: " + verdict + " in " + is);
        }
        String answer = switch (verdict.answer()) {
            case CheckAnswer.Unchanged _ -> "";
            case CheckAnswer.Given(var state, var _) -> state.toString();
            case CheckAnswer.Released _ -> "release";
            case CheckAnswer.Resumed(var isLate) ->
                isLate ? "resume: late" : verdict.isWanted() ? "resume: the data is there" : "resume";
        };
        if (!answer.equals(expected(is))) {
            throw new AssertionError(expected(is) + " is expected: " + verdict + " in " + is);
        }
        if (verdict.answer() instanceof CheckAnswer.Given given
                && given.message().isBlank()) {
            throw new AssertionError("its people are told why: " + verdict + " in " + is);
        }
    }

    /// A Workload frees its orders unless it has quota, or gave it back until the data is there.
    private static boolean isWanted(ObservedCheck is) {
        if (!(is.parameters() instanceof Parameters.Valid(var settings))) {
            return false;
        }
        return switch (is.phase()) {
            case RESERVED -> is.state() != State.REJECTED;
            case LEAVING -> settings.isReleasing() && !isLate(is);
            case RELEASED -> Set.of("Pending", "resume: the data is there").contains(expected(is));
            case SENT_BACK, REACTIVATED -> false;
        };
    }

    private static boolean isLate(ObservedCheck is) {
        return is.waited().compareTo(MAX_WAIT) > 0;
    }

    /// Returns the state that the check gets, or what happens to the quota; empty if all stays.
    private static String expected(ObservedCheck is) {
        return switch (is.phase()) {
            case RESERVED -> is.state() == State.PENDING ? expectedWithQuota(is) : "";
            case SENT_BACK, LEAVING -> "";
            case REACTIVATED -> "resume";
            case RELEASED -> expectedWithoutQuota(is);
        };
    }

    private static String expectedWithQuota(ObservedCheck is) {
        if (!(is.parameters() instanceof Parameters.Valid(var settings))) {
            return "Pending";
        }
        long reserved = is.reserved().toSeconds();
        String late = settings.isRejecting() ? "Rejected" : "Ready";
        return switch (is.reads()) {
            case ReadDecision.Nothing _ -> "Ready";
            case ReadDecision.Pending _ -> "";
            case ReadDecision.Cannot _ -> reserved > 30 ? "Rejected" : "Pending";
            case ReadDecision.Unknown _ -> isLate(is) ? late : "Pending";
            case ReadDecision.Unbound(var datasets, var _)
            when reserved <= 10 || datasets.isEmpty() -> reserved <= 10 ? "Pending" : "Ready";
            case ReadDecision.Unbound _, ReadDecision.All _ -> {
                Loading loading = is.loading();
                if (loading.nodes() == 0 || loading.isWhole()) {
                    yield "Ready";
                }
                if (isLate(is)) {
                    yield late;
                }
                if (loading.isHopeless() && !settings.isRejecting()) {
                    yield reserved > 30 ? "Ready" : "Pending";
                }
                boolean isSoon = loading.left().equals(Optional.of(Duration.ofSeconds(9)));
                boolean isReleased = settings.isReleasing() && is.mayRelease() && !is.wasReleased();
                yield isReleased && reserved > 10 && !isSoon ? "release" : "Pending";
            }
        };
    }

    private static String expectedWithoutQuota(ObservedCheck is) {
        if (!(is.parameters() instanceof Parameters.Valid(var settings)) || !settings.isReleasing()) {
            return "resume";
        }
        if (isLate(is)) {
            return "resume: late";
        }
        return switch (is.reads()) {
            case ReadDecision.Nothing _, ReadDecision.Cannot _, ReadDecision.Pending _ -> "resume";
            case ReadDecision.Unknown _ -> "Pending";
            case ReadDecision.Unbound(var datasets, var _) when datasets.isEmpty() -> "resume";
            case ReadDecision.Unbound _, ReadDecision.All _ -> {
                Loading loading = is.loading();
                boolean isGivenUp = loading.isHopeless()
                        && !settings.isRejecting()
                        && is.reserved().toSeconds() > 30;
                if (loading.nodes() == 0 || isGivenUp) {
                    yield "resume";
                }
                yield loading.isWhole() ? "resume: the data is there" : "Pending";
            }
        };
    }
}
