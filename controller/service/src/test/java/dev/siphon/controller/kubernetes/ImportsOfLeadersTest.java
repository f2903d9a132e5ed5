package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// How imports get to their end, and what they say afterwards, whichever leader takes a step.
@Timeout(120)
final class ImportsOfLeadersTest extends ImportsOfLeaders {
    @Test
    void anImportGetsToItsEndWhicheverLeaderTakesAStep() {
        apply("x", "\"vision\"");
        pass();
        assertEquals("Reserving", status("x", "phase"));
        assertFalse(isThere(JOBS + "/x-import"), "the room is reserved first");
        bind();
        pass();
        assertEquals("Fetching", status("x", "phase"));
        assertFalse(isThere(SNAPSHOTS + "/x"));
        end("Complete");
        pass();
        assertEquals("Sealing", status("x", "phase"));
        seal();
        pass();
        pass();
        assertEquals("Ready", status("x", "phase"));
        assertEquals("u1/x", status("x", "dataset"));
        assertEquals("1", status("x", "settledGeneration"));
        assertFalse(isThere(JOBS + "/x-import"));
        assertFalse(isThere(CLAIMS + "/x-import"));
        assertTrue(isThere(SNAPSHOTS + "/x"));
        pass();
        assertEquals("2", status("x", "pods"));
        assertEquals(
                "[\"a\",\"b\"]",
                JsonParts.at(get(IMPORTS + "/x"), "status", "usedBy")
                        .orElseThrow()
                        .toString());
        assertEquals(Set.of("u1", "group:vision"), readers());
    }

    @Test
    void anImportSaysThatItsDatasetWasDeletedUntilItIsDeclaredAgain() {
        apply("x", "\"vision\"");
        finish();
        delete(DATASETS + "/u1.x");
        pass();
        assertEquals("DatasetDeleted", status("x", "reason"));
        assertEquals("1", status("x", "settledGeneration"));
        assertTrue(isThere(SNAPSHOTS + "/x"), "it has the dataset's image");
        assertNothingIsAsked();
        declare();
        pass();
        assertEquals("Ready", status("x", "reason"));
        assertEquals(Set.of("u1", "group:vision"), readers());
        assertNothingIsAsked();
    }

    @Test
    void aVolumeThatOutlivesItsDatasetIsNotAskedFor() {
        apply("x", "", true);
        finish();
        delete(SNAPSHOTS + "/x");
        delete(DATASETS + "/u1.x");
        pass();
        assertEquals("VolumeKept", status("x", "reason"));
        assertEquals("1", status("x", "settledGeneration"));
        assertTrue(isThere(CLAIMS + "/x-import"));
        assertNothingIsAsked();
        declare();
        assertNothingIsAsked();
    }

    @Test
    void aVolumeThatIsNoLongerToStayIsRemovedAlsoWithoutItsDataset() {
        apply("x", "", true);
        finish();
        delete(DATASETS + "/u1.x");
        pass();
        assertTrue(isThere(CLAIMS + "/x-import"));
        set(IMPORTS + "/x", "spec", "keepVolume", "false");
        pass();
        assertFalse(isThere(CLAIMS + "/x-import"));
        assertEquals("DatasetDeleted", status("x", "reason"));
        assertEquals("0", status("x", "pods"));
    }

    @Test
    void aDatasetOfAnotherImageIsNotTheImports() {
        apply("x", "\"vision\"");
        finish();
        delete(DATASETS + "/u1.x");
        pass();
        declare("/datasets/other");
        pass();
        assertEquals("DatasetReplaced", status("x", "reason"));
        assertEquals(Set.of("u1"), readers());
        assertNothingIsAsked();
        delete(DATASETS + "/u1.x");
        pass();
        assertEquals("DatasetDeleted", status("x", "reason"));
    }

    @Test
    void aFailedFetchLeavesNothing() {
        apply("x", "");
        pass();
        bind();
        pass();
        end("Failed");
        pass();
        pass();
        assertEquals("Failed", status("x", "phase"));
        assertEquals("FetchFailed", status("x", "reason"));
        assertFalse(isThere(JOBS + "/x-import"));
        assertFalse(isThere(CLAIMS + "/x-import"));
    }

    @Test
    void aGroupThatTheAccountIsNotInReservesNothing() {
        apply("x", "\"secret\"");
        pass();
        assertEquals("NotAMember", status("x", "reason"));
        assertFalse(isThere(CLAIMS + "/x-import"));
    }

    @Test
    void aSilentDirectoryDelaysAnImportAndFailsNone() {
        directory.down(true);
        apply("x", "");
        try {
            pass();
        } catch (dev.siphon.csi.DriverException.BackendUnavailable down) {
            assertTrue(String.valueOf(down.getMessage()).contains("directory"), down::getMessage);
        }
        assertEquals("", status("x", "phase"));
        directory.down(false);
        pass();
        assertEquals("Reserving", status("x", "phase"));
    }

    @Test
    void theFourthImportOfANamespaceWaits() {
        for (String name : new String[] {"a", "b", "c", "d"}) {
            apply(name, "");
        }
        pass();
        long begun = Set.of("a", "b", "c", "d").stream()
                .filter(name -> isThere(CLAIMS + "/" + name + "-import"))
                .count();
        assertEquals(3, begun);
    }
}
