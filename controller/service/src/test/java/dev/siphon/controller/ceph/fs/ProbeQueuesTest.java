package dev.siphon.controller.ceph.fs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.volume.SubvolumeGroup;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class ProbeQueuesTest {
    private static final SubvolumeGroup ANN = new SubvolumeGroup("lab", "cephfs", "siphon-ann");
    private static final SubvolumeGroup BOB = new SubvolumeGroup("lab", "cephfs", "siphon-bob");

    private final ProbeQueues queues = new ProbeQueues();

    private static CapabilityProbe ofVolume() {
        return CapabilityProbe.single("probe for a removal", _ -> {});
    }

    private static CapabilityProbe ofGroup(int strength) {
        return CapabilityProbe.ofGroup("probe for a change", strength, _ -> {});
    }

    @Test
    void probesRunInTheOrderOfArrival() {
        List<CapabilityProbe> all = List.of(ofVolume(), ofVolume(), ofVolume());
        assertTrue(queues.add(ANN, all.get(0)));
        assertFalse(queues.add(ANN, all.get(1)));
        assertTrue(queues.add(BOB, ofVolume()), "accounts do not wait for each other");
        assertEquals(
                Optional.of(all.get(1)), queues.finish(ANN, all.get(0), true).next());
        assertFalse(queues.add(ANN, all.get(2)));
        assertEquals(
                Optional.of(all.get(2)), queues.finish(ANN, all.get(1), false).next());
        assertEquals(Optional.empty(), queues.finish(ANN, all.get(2), true).next());
        assertEquals(Optional.empty(), queues.running(ANN));
        assertTrue(queues.add(ANN, ofVolume()), "the next starts a thread");
    }

    @Test
    void aSuccessAnswersThoseThatArrivedBeforeItWasSent() {
        CapabilityProbe first = ofGroup(1);
        CapabilityProbe same = ofGroup(1);
        CapabilityProbe weaker = ofGroup(0);
        CapabilityProbe stronger = ofGroup(2);
        CapabilityProbe volume = ofVolume();
        for (CapabilityProbe each : List.of(first, same, volume, stronger, weaker)) {
            var _ = queues.add(ANN, each);
        }
        first.sent();
        CapabilityProbe late = ofGroup(1);
        var _ = queues.add(ANN, late);
        ProbeQueues.Finished finished = queues.finish(ANN, first, true);
        assertEquals(List.of(first, same, weaker), finished.done());
        assertEquals(Optional.of(volume), finished.next());
        volume.sent();
        assertEquals(List.of(volume), queues.finish(ANN, volume, true).done());
        stronger.sent();
        assertEquals(List.of(stronger), queues.finish(ANN, stronger, false).done(), "a failure is the caller's own");
        assertEquals(Optional.of(late), queues.running(ANN));
    }

    @Test
    void whoLeavesIsNotAskedFor() {
        CapabilityProbe runs = ofVolume();
        CapabilityProbe waits = ofVolume();
        var _ = queues.add(ANN, runs);
        var _ = queues.add(ANN, waits);
        queues.withdraw(ANN, waits);
        queues.withdraw(ANN, runs);
        assertEquals(Optional.of(runs), queues.running(ANN), "what is sent must end");
        assertEquals(Optional.empty(), queues.finish(ANN, runs, true).next());
    }
}
