package dev.siphon.controller.ceph.fs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class PendingGroupChangesTest {
    private static final SubvolumeGroup ANN = new SubvolumeGroup("lab", "cephfs", "siphon-ann");
    private static final SubvolumeGroup BOB = new SubvolumeGroup("lab", "cephfs", "siphon-bob");

    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
    private final PendingGroupChanges changes = new PendingGroupChanges(now::get);
    private final List<String> asked = new ArrayList<>();

    private void run(SubvolumeGroup group, String name, Runnable change) {
        OptionalLong lately = changes.askedLately(group);
        if (lately.isEmpty()) {
            asked.add(name);
        }
        changes.run(group, lately.orElse(now.get()), change);
    }

    private static void nothing() {}

    private void pass(long nanos) {
        now.addAndGet(nanos);
    }

    @Test
    void oneAfterTheOtherAsksEachTime() {
        run(ANN, "1", PendingGroupChangesTest::nothing);
        run(ANN, "2", PendingGroupChangesTest::nothing);
        assertEquals(List.of("1", "2"), asked);
    }

    @Test
    void besideAnotherItAsksOnceInAWhile() {
        run(ANN, "1", () -> {
            pass(PendingGroupChanges.LASTS.toNanos() - 1);
            run(ANN, "2", () -> {
                pass(1);
                run(ANN, "3", PendingGroupChangesTest::nothing);
                run(ANN, "4", () -> run(ANN, "5", PendingGroupChangesTest::nothing));
            });
        });
        assertEquals(List.of("1", "3"), asked);
    }

    @Test
    void besideAnotherAccountItAsks() {
        run(ANN, "1", () -> run(BOB, "2", PendingGroupChangesTest::nothing));
        assertEquals(List.of("1", "2"), asked);
    }

    @Test
    void aChangeThatFailsAnswersForNoOther() {
        Runnable refuse = () -> {
            throw new DriverException.OperationPending("held");
        };
        assertThrows(DriverException.OperationPending.class, () -> changes.run(ANN, now.get(), refuse));
        run(ANN, "1", PendingGroupChangesTest::nothing);
        assertEquals(List.of("1"), asked);
    }
}
