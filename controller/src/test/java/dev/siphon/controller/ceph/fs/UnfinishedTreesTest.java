package dev.siphon.controller.ceph.fs;

import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.siphon.csi.VolumeId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class UnfinishedTreesTest {
    private final AtomicLong now = new AtomicLong();
    private final UnfinishedTrees trees = new UnfinishedTrees(now::get);

    private Flattening tree(String account, int number) {
        VolumeId.Provisioned volume = new VolumeId.Provisioned("lab", "fs", account, "v" + number);
        return trees.of(volume, "/volumes/" + account + "/v" + number + "/data");
    }

    private List<Flattening> trees(String account, int count) {
        List<Flattening> all = new ArrayList<>();
        for (int number = 0; number < count; number++) {
            all.add(tree(account, number));
        }
        return all;
    }

    @Test
    void anAccountWithManyLeavesAnothersTreeAsFarAsItIs() {
        Flattening one = tree("few", 0);
        trees("many", 2 * UnfinishedTrees.MOST);
        assertSame(one, tree("few", 0));
        Flattening late = tree("late", 0);
        trees("many", 2 * UnfinishedTrees.MOST);
        assertSame(late, tree("late", 0));
    }

    @Test
    void whoHasTooManyGetsTheFirstOnesDone() {
        List<Flattening> first = trees("many", UnfinishedTrees.MOST + 10);
        List<Flattening> again = trees("many", UnfinishedTrees.MOST + 10);
        assertSame(first.getFirst(), again.getFirst());
        assertSame(first.get(UnfinishedTrees.MOST - 1), again.get(UnfinishedTrees.MOST - 1));
        assertNotSame(first.getLast(), again.getLast());
        trees.remove(new VolumeId.Provisioned("lab", "fs", "many", "v0"), first.getFirst());
        Flattening now = tree("many", UnfinishedTrees.MOST);
        assertSame(now, tree("many", UnfinishedTrees.MOST));
    }

    @Test
    void whatNobodyGoesOnWithMakesRoom() {
        for (int account = 0; account < UnfinishedTrees.MOST; account++) {
            tree("a" + account, 0);
        }
        assertNotSame(tree("new", 0), tree("new", 0));
        now.addAndGet(UnfinishedTrees.KEPT.toNanos());
        Flattening used = tree("a7", 0);
        now.addAndGet(1);
        assertSame(tree("new", 0), tree("new", 0));
        assertSame(used, tree("a7", 0));
    }

    @Test
    void whatIsDoneBeginsAnewUnderItsName() {
        VolumeId.Provisioned volume = new VolumeId.Provisioned("lab", "fs", "a", "v0");
        Flattening done = tree("a", 0);
        trees.remove(volume, done);
        Flattening next = tree("a", 0);
        assertNotSame(done, next);
        trees.remove(volume, done);
        assertSame(next, tree("a", 0));
    }
}
