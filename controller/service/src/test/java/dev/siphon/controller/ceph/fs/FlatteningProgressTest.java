package dev.siphon.controller.ceph.fs;

import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.siphon.csi.VolumeId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class FlatteningProgressTest {
    private final AtomicLong now = new AtomicLong();
    private final FlatteningProgress trees = new FlatteningProgress(now::get);

    private TreeFlattener tree(String account, int number) {
        VolumeId.Provisioned volume = new VolumeId.Provisioned("lab", "fs", account, "v" + number);
        return trees.of(volume, "/volumes/" + account + "/v" + number + "/data");
    }

    private List<TreeFlattener> trees(String account, int count) {
        List<TreeFlattener> all = new ArrayList<>();
        for (int number = 0; number < count; number++) {
            all.add(tree(account, number));
        }
        return all;
    }

    @Test
    void anAccountWithManyLeavesAnothersTreeAsFarAsItIs() {
        TreeFlattener one = tree("few", 0);
        trees("many", 2 * FlatteningProgress.MOST);
        assertSame(one, tree("few", 0));
        TreeFlattener late = tree("late", 0);
        trees("many", 2 * FlatteningProgress.MOST);
        assertSame(late, tree("late", 0));
    }

    @Test
    void whoHasTooManyGetsTheFirstOnesDone() {
        List<TreeFlattener> first = trees("many", FlatteningProgress.MOST + 10);
        List<TreeFlattener> again = trees("many", FlatteningProgress.MOST + 10);
        assertSame(first.getFirst(), again.getFirst());
        assertSame(first.get(FlatteningProgress.MOST - 1), again.get(FlatteningProgress.MOST - 1));
        assertNotSame(first.getLast(), again.getLast());
        trees.remove(new VolumeId.Provisioned("lab", "fs", "many", "v0"), first.getFirst());
        TreeFlattener now = tree("many", FlatteningProgress.MOST);
        assertSame(now, tree("many", FlatteningProgress.MOST));
    }

    @Test
    void whatNobodyGoesOnWithMakesRoom() {
        for (int account = 0; account < FlatteningProgress.MOST; account++) {
            tree("a" + account, 0);
        }
        assertNotSame(tree("new", 0), tree("new", 0));
        now.addAndGet(FlatteningProgress.KEPT.toNanos());
        TreeFlattener used = tree("a7", 0);
        now.addAndGet(1);
        assertSame(tree("new", 0), tree("new", 0));
        assertSame(used, tree("a7", 0));
    }

    @Test
    void whatIsDoneBeginsAnewUnderItsName() {
        VolumeId.Provisioned volume = new VolumeId.Provisioned("lab", "fs", "a", "v0");
        TreeFlattener done = tree("a", 0);
        trees.remove(volume, done);
        TreeFlattener next = tree("a", 0);
        assertNotSame(done, next);
        trees.remove(volume, done);
        assertSame(next, tree("a", 0));
    }
}
