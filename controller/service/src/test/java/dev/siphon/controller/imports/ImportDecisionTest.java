package dev.siphon.controller.imports;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.identity.Account;
import dev.siphon.controller.imports.ImportStatus.Phase;
import dev.siphon.controller.imports.ObservedImport.ClaimState;
import dev.siphon.controller.imports.ObservedImport.FetchState;
import dev.siphon.controller.imports.ObservedImport.Part;
import dev.siphon.controller.imports.ObservedImport.SealState;
import dev.siphon.controller.imports.ObservedImport.Standing;
import dev.siphon.csi.VolumeId;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Tests [ImportDecision] in every situation, and what its steps lead to.
final class ImportDecisionTest {
    private static final Standing ALLOWED =
            new Standing.Allowed(new Account("u1", "id", 10001, 10001, Set.of("vision"), OptionalLong.empty()));
    private static final Standing DENIED = new Standing.Denied("NotAMember", "not in the group");
    private static final ClaimState BOUND =
            new ClaimState.Bound(new VolumeId.Provisioned("lab", "cephfs", "a", "v"), "/volumes/a/v/x");

    private static final List<ClaimState> CLAIMS = List.of(
            new Part.Absent(),
            new Part.Foreign(),
            new Part.Leaving(),
            new Part.Ending(),
            new ClaimState.Waiting("w"),
            new ClaimState.NoRoom("n"),
            BOUND);
    private static final List<FetchState> FETCHES = List.of(
            new Part.Absent(),
            new Part.Foreign(),
            new Part.Leaving(),
            new Part.Ending(),
            new FetchState.Running("r"),
            new FetchState.Done(),
            new FetchState.Failed("WrongChecksum", "f"));
    private static final List<SealState> SEALS = List.of(
            new Part.Absent(),
            new Part.Foreign(),
            new Part.Leaving(),
            new Part.Ending(),
            new SealState.Packing("p"),
            new SealState.Refused("SealingFailed", "s"),
            new SealState.Undeclared(),
            new SealState.Replaced(),
            new SealState.Sealed());

    private static final int MOST_STEPS = 9;

    /// 5 phases, on or off, two standings, 7 claims, 7 Jobs, 9 snapshots, shared or not, kept or not.
    private static Stream<ObservedImport> all() {
        List<ObservedImport> all = new ArrayList<>();
        for (Phase phase : Phase.values()) {
            for (ClaimState claim : CLAIMS) {
                for (FetchState fetch : FETCHES) {
                    for (SealState seal : SEALS) {
                        for (int bits = 0; bits < 16; bits++) {
                            all.add(new ObservedImport(
                                    "x",
                                    phase,
                                    (bits & 1) == 0,
                                    (bits & 2) == 0 ? ALLOWED : DENIED,
                                    claim,
                                    fetch,
                                    seal,
                                    (bits & 4) == 0,
                                    (bits & 8) == 0));
                        }
                    }
                }
            }
        }
        assertEquals(35_280, all.size());
        return all.stream();
    }

    private static boolean isEnd(ImportStep step) {
        return step instanceof ImportStep.Settle
                || step instanceof ImportStep.KeepRest
                || step instanceof ImportStep.Withdraw
                || step instanceof ImportStep.Await
                || step instanceof ImportStep.Report;
    }

    /// What is there after a step, if all that Kubernetes and the fetcher then do goes well.
    private static ObservedImport after(ObservedImport is, ImportStep step) {
        return switch (step) {
            case ImportStep.Reserve _ -> with(is, is.phase(), BOUND, is.fetch(), is.seal(), is.isShared());
            case ImportStep.Fetch _ ->
                with(is, is.phase(), is.claim(), new FetchState.Done(), is.seal(), is.isShared());
            case ImportStep.Seal _ ->
                with(is, is.phase(), is.claim(), is.fetch(), new SealState.Sealed(), is.isShared());
            case ImportStep.Share _ -> with(is, is.phase(), is.claim(), is.fetch(), is.seal(), true);
            case ImportStep.Finish _ -> with(is, Phase.READY, is.claim(), is.fetch(), is.seal(), is.isShared());
            case ImportStep.Fail _ -> with(is, Phase.FAILED, is.claim(), is.fetch(), is.seal(), is.isShared());
            case ImportStep.RemoveSnapshot _ ->
                with(is, is.phase(), is.claim(), is.fetch(), new Part.Absent(), is.isShared());
            case ImportStep.RemoveFetch _ ->
                with(is, is.phase(), is.claim(), new Part.Absent(), is.seal(), is.isShared());
            case ImportStep.RemoveClaim _ ->
                with(is, is.phase(), new Part.Absent(), is.fetch(), is.seal(), is.isShared());
            case ImportStep.Withdraw _,
                    ImportStep.Report _,
                    ImportStep.Await _,
                    ImportStep.Settle _,
                    ImportStep.KeepRest _ -> is;
        };
    }

    private static ObservedImport with(
            ObservedImport is, Phase phase, ClaimState claim, FetchState fetch, SealState seal, boolean shared) {
        return new ObservedImport(
                is.name(), phase, is.on(), is.standing(), claim, fetch, seal, shared, is.keepVolume());
    }

    private static List<Part> parts(ObservedImport is) {
        return List.of(is.claim(), is.fetch(), is.seal());
    }

    @Test
    void eachSituationLeadsToAnEndInAFewSteps() {
        all().forEach(begin -> {
            ObservedImport is = begin;
            int steps = 0;
            ImportStep step = ImportDecision.decide(is);
            while (!isEnd(step)) {
                is = after(is, step);
                step = ImportDecision.decide(is);
                steps++;
            }
            assertTrue(steps <= MOST_STEPS, "" + begin);
            if (step instanceof ImportStep.Settle) {
                checkSettled(is);
            }
        });
    }

    private static void checkSettled(ObservedImport is) {
        assertTrue(is.phase().isEnd(), "" + is);
        if (is.phase() == Phase.FAILED) {
            assertTrue(parts(is).stream().noneMatch(Part::isOurs), "something is left: " + is);
            assertTrue(parts(is).stream().noneMatch(Part.Ending.class::isInstance), "" + is);
            return;
        }
        assertInstanceOf(SealState.Sealed.class, is.seal());
        assertEquals(ALLOWED, is.standing(), "" + is);
        assertTrue(is.isShared(), "" + is);
        assertFalse(is.fetch().isOurs(), "" + is);
        assertTrue(!is.claim().isOurs() || is.keepVolume(), "" + is);
    }

    @Test
    void whatIsSomebodyElsesIsNeitherReplacedNorRemoved() {
        all().forEach(is -> {
            switch (ImportDecision.decide(is)) {
                case ImportStep.Reserve _ -> assertInstanceOf(Part.Absent.class, is.claim());
                case ImportStep.Fetch _ -> assertInstanceOf(Part.Absent.class, is.fetch());
                case ImportStep.Seal _ -> assertInstanceOf(Part.Absent.class, is.seal());
                case ImportStep.RemoveClaim _ -> assertTrue(is.claim().isOurs(), "" + is);
                case ImportStep.RemoveFetch _ -> assertTrue(is.fetch().isOurs(), "" + is);
                case ImportStep.RemoveSnapshot _ -> assertTrue(is.seal().isOurs(), "" + is);
                case ImportStep.Share _, ImportStep.Withdraw _, ImportStep.Finish _ ->
                    assertInstanceOf(SealState.Sealed.class, is.seal());
                case ImportStep.Fail _,
                        ImportStep.Report _,
                        ImportStep.Await _,
                        ImportStep.Settle _,
                        ImportStep.KeepRest _ -> {}
            }
        });
    }

    @Test
    void nothingIsDoneForAnAccountThatMayNot() {
        all().filter(is -> is.standing().equals(DENIED)).forEach(is -> {
            ImportStep step = ImportDecision.decide(is);
            boolean isForIt = step instanceof ImportStep.Reserve
                    || step instanceof ImportStep.Fetch
                    || step instanceof ImportStep.Seal
                    || step instanceof ImportStep.Share
                    || step instanceof ImportStep.Finish;
            assertFalse(isForIt, step + " in " + is);
        });
    }

    @Test
    void anAccountThatMayNotLosesReadersThatItRemovesAndIsToldWhyItGetsNoOthers() {
        all().filter(ImportDecisionTest::isAtRest)
                .filter(is ->
                        is.seal() instanceof SealState.Sealed && is.standing().equals(DENIED))
                .forEach(is -> assertEquals(
                        new ImportStep.Withdraw("NotAMember", "not in the group"), ImportDecision.decide(is)));
    }

    @Test
    void readersAreOnlyWithdrawnFromAnAccountThatMayNot() {
        all().filter(is -> ImportDecision.decide(is) instanceof ImportStep.Withdraw)
                .forEach(is -> {
                    assertEquals(DENIED, is.standing());
                    assertEquals(Phase.READY, is.phase());
                });
    }

    @Test
    void aReadyDatasetIsNotRemovedByItsImport() {
        all().filter(is -> is.phase() == Phase.READY && is.seal() instanceof SealState.Sealed)
                .forEach(is -> {
                    ImportStep step = ImportDecision.decide(is);
                    assertFalse(step instanceof ImportStep.Fail || step instanceof ImportStep.RemoveSnapshot, "" + is);
                });
    }

    @Test
    void aVolumeThatIsToStayIsNotRemovedOnceItsDatasetWasReady() {
        all().filter(is -> is.phase() == Phase.READY
                        && is.keepVolume()
                        && is.claim().isOurs())
                .forEach(is -> {
                    ImportStep step = ImportDecision.decide(is);
                    assertFalse(step instanceof ImportStep.Fail || step instanceof ImportStep.RemoveClaim, "" + is);
                });
    }

    /// It takes no place among the imports that have not ended.
    @Test
    void aVolumeThatOutlivesItsDatasetEndsTheImport() {
        all().filter(is -> is.phase() == Phase.READY
                        && is.keepVolume()
                        && is.claim().isOurs()
                        && is.seal() instanceof Part.Absent)
                .forEach(is -> assertInstanceOf(ImportStep.KeepRest.class, ImportDecision.decide(is)));
    }

    /// An administrator may declare the dataset again: its image is the snapshot's.
    @Test
    void aDatasetThatWasDeletedIsReportedAndLeavesItsSnapshot() {
        all().filter(ImportDecisionTest::isAtRest)
                .filter(is -> is.seal() instanceof SealState.Undeclared)
                .forEach(is -> assertEquals(
                        "DatasetDeleted",
                        assertInstanceOf(ImportStep.KeepRest.class, ImportDecision.decide(is))
                                .reason()));
    }

    /// Whether it was ready, and nothing is left that a dataset does not need.
    private static boolean isAtRest(ObservedImport is) {
        return is.phase() == Phase.READY
                && !is.fetch().isOurs()
                && (is.keepVolume() || !is.claim().isOurs());
    }

    @Test
    void aDatasetOfAnotherImageIsLeftAlone() {
        all().filter(ImportDecisionTest::isAtRest)
                .filter(is -> is.seal() instanceof SealState.Replaced)
                .forEach(is -> assertEquals(
                        "DatasetReplaced",
                        assertInstanceOf(ImportStep.KeepRest.class, ImportDecision.decide(is))
                                .reason()));
    }

    @Test
    void whatADatasetDoesNotNeedIsRemovedAlsoOnceItIsDeleted() {
        all().filter(is -> is.phase() == Phase.READY && !isAtRest(is))
                .filter(is -> is.seal() instanceof SealState.Undeclared || is.seal() instanceof SealState.Replaced)
                .forEach(is -> assertEquals(
                        is.fetch().isOurs() ? new ImportStep.RemoveFetch() : new ImportStep.RemoveClaim(),
                        ImportDecision.decide(is)));
    }

    @Test
    void aDatasetThatIsNotDeclaredYetIsAwaited() {
        all().filter(is -> is.on()
                        && !is.phase().isEnd()
                        && is.standing().equals(ALLOWED)
                        && is.seal() instanceof SealState.Undeclared
                        && parts(is).stream()
                                .noneMatch(part -> part instanceof Part.Foreign || part instanceof Part.Leaving))
                .forEach(is -> assertEquals(
                        new ImportStep.Report(Phase.SEALING, "Sealing", "its dataset is being declared"),
                        ImportDecision.decide(is)));
    }

    @Test
    void whatAnEarlierImportHasLeftIsAwaited() {
        all().filter(is -> is.on()
                        && !is.phase().isEnd()
                        && parts(is).stream().anyMatch(Part.Leaving.class::isInstance)
                        && parts(is).stream().noneMatch(Part.Foreign.class::isInstance))
                .forEach(is -> assertInstanceOf(ImportStep.Report.class, ImportDecision.decide(is)));
    }

    @Test
    void nothingBeginsWhileImportsAreOff() {
        all().filter(is -> !is.on() && !is.phase().isEnd())
                .forEach(is -> assertInstanceOf(ImportStep.Report.class, ImportDecision.decide(is)));
    }

    @Test
    void theWayOfAnImportIsReserveFetchSealShareFinish() {
        ObservedImport is = new ObservedImport(
                "x",
                Phase.RESERVING,
                true,
                ALLOWED,
                new Part.Absent(),
                new Part.Absent(),
                new Part.Absent(),
                false,
                false);
        List<String> steps = new ArrayList<>();
        ImportStep step = ImportDecision.decide(is);
        while (!isEnd(step)) {
            steps.add(step.getClass().getSimpleName());
            is = after(is, step);
            step = ImportDecision.decide(is);
        }
        assertEquals(List.of("Reserve", "Fetch", "Seal", "Share", "Finish", "RemoveFetch", "RemoveClaim"), steps);
    }

    @Test
    void aFullAllowanceFailsWithItsOwnWords() {
        ObservedImport is = new ObservedImport(
                "x",
                Phase.RESERVING,
                true,
                ALLOWED,
                new ClaimState.NoRoom("no room"),
                new Part.Absent(),
                new Part.Absent(),
                false,
                false);
        assertEquals(new ImportStep.Fail("AllowanceFull", "no room"), ImportDecision.decide(is));
    }
}
