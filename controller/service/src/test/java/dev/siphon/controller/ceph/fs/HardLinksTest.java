package dev.siphon.controller.ceph.fs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

final class HardLinksTest {
    private static final MountPath NAME = MountPath.of("/volumes/g/v/some/name");

    @Test
    void everyNameButTheFirstIsOneOfTheSameFile() {
        HardLinks links = new HardLinks(new HardLinkBudget(1 << 20));
        HardLinks.First first = assertInstanceOf(HardLinks.First.class, links.meet(7, 3, NAME));
        assertInstanceOf(HardLinks.First.class, links.meet(8, 2, MountPath.of("/other")));
        for (int i = 0; i < 2; i++) {
            HardLinks.Again again =
                    assertInstanceOf(HardLinks.Again.class, links.meet(7, 3, MountPath.of("/again" + i)));
            assertEquals(first, again.first());
        }
    }

    @Test
    void whatHasAllItsNamesIsForgotten() {
        HardLinks links = new HardLinks(new HardLinkBudget(1_000));
        for (long inode = 0; inode < 1_000_000; inode++) {
            assertInstanceOf(HardLinks.First.class, links.meet(inode, 2, NAME));
            assertInstanceOf(HardLinks.Again.class, links.meet(inode, 2, NAME));
        }
        assertEquals(0, links.remembered());
        assertEquals(0, links.refused());
    }

    @Test
    void noMoreAreRememberedThanThereIsRoomFor() {
        HardLinks links = new HardLinks(new HardLinkBudget(10_000));
        for (long inode = 0; inode < 1_000_000; inode++) {
            HardLinks.Meeting _ = links.meet(inode, 2, NAME);
        }
        assertTrue(links.remembered() > 10 && links.remembered() < 100, links.remembered() + " remembered");
        assertEquals(1_000_000 - links.remembered(), links.refused());
        assertInstanceOf(HardLinks.Again.class, links.meet(0, 2, NAME));
        assertInstanceOf(HardLinks.First.class, links.meet(1_000_000, 2, NAME), "there is room again");
        assertInstanceOf(HardLinks.NoRoom.class, links.meet(1_000_001, 2, NAME));
    }

    @Test
    void thoseOfAProcessShareItsMemoryAndGiveItBack() {
        HardLinkBudget memory = new HardLinkBudget(10_000);
        HardLinks mine = new HardLinks(memory);
        try (HardLinks others = new HardLinks(memory)) {
            for (long inode = 0; others.refused() == 0; inode++) {
                HardLinks.Meeting _ = others.meet(inode, 2, NAME);
            }
            assertFalse(others.isCrowded(), "it has all of it");
            assertInstanceOf(HardLinks.NoRoom.class, mine.meet(1, 2, NAME));
            assertTrue(mine.isCrowded());
            assertInstanceOf(HardLinks.Again.class, others.meet(1, 2, NAME));
            assertInstanceOf(HardLinks.First.class, mine.meet(1, 2, NAME), "what one gives back another may take");
        }
        for (long inode = 2; inode < 30; inode++) {
            assertInstanceOf(HardLinks.First.class, mine.meet(inode, 2, NAME), "all was given back");
        }
        mine.close();
        assertTrue(memory.take(10_000), "nothing is used when all are closed");
    }
}
