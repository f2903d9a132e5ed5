package dev.siphon.controller.volume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.siphon.csi.SnapshotId;
import org.junit.jupiter.api.Test;

final class NamesTest {
    private static final Group GROUP = new Group("lab", "cephfs", Names.group("10001"));
    private static final ContentSource VOLUME = new ContentSource.FromVolume(GROUP.volume(Names.plain(GROUP, "source")));
    private static final ContentSource SNAPSHOT = new ContentSource.FromSnapshot(
            new SnapshotId(GROUP.volume(Names.plain(GROUP, "source")), Names.snapshot("s")));

    @Test
    void whatWasBegunFromOneSourceIsNeverFinishedAsAnothers() {
        String fromVolume = Names.filled(GROUP, "a", VOLUME);
        String fromSnapshot = Names.filled(GROUP, "a", SNAPSHOT);

        assertThat(fromVolume).isNotEqualTo(fromSnapshot).startsWith(Names.filledPrefix(GROUP, "a"));
        assertThat(fromSnapshot).startsWith(Names.filledPrefix(GROUP, "a"));
        assertThat(Names.common(fromVolume)).isEqualTo(Names.common(fromSnapshot));
    }

    @Test
    void aFilledVolumesNameLeadsBackToItsSource() {
        String filled = Names.filled(GROUP, "a", VOLUME);

        assertThat(filled).endsWith(Names.filledSuffix(VOLUME)).doesNotEndWith(Names.filledSuffix(SNAPSHOT));
        assertThat(Names.kindOf(filled)).contains(Names.Kind.FILLED);
    }
}
