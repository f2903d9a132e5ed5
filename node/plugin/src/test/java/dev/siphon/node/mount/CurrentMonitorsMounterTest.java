package dev.siphon.node.mount;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.Monitors;
import dev.siphon.csi.VolumeContext.MounterChoice;
import dev.siphon.csi.VolumeId;
import dev.siphon.node.linux.MountEntry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class CurrentMonitorsMounterTest {
    private static final Monitors OF_VOLUME = Monitors.parse("10.0.0.1");
    private static final Monitors MOVED = Monitors.parse("10.0.0.2");

    @Test
    void aClientConnectsToTheMonitorsOfNow() {
        Noting client = new Noting();
        Mounters mounters = new Mounters(List.of(client), (_, _) -> client)
                .following((cluster, told) -> cluster.equals("lab") ? MOVED : told);
        CephKey key = CephKey.parse("key", CephCredentialsTest.AES_KEY);
        Mounter mounter = mounters.selection().choose(MounterChoice.AUTO, key);

        for (String cluster : List.of("lab", "other")) {
            mounter.mount(
                    new ClientMount(
                            new VolumeId.Static(cluster, "cephfs", "/a"),
                            OF_VOLUME,
                            "cephfs",
                            "/a",
                            new CephCredentials("u", key),
                            ClientOptions.of(List.of(), false)),
                    Path.of("/mnt"),
                    Duration.ofSeconds(1));
        }

        assertEquals(List.of(MOVED, OF_VOLUME), client.monitors);
        assertEquals("noting", mounter.name());
        assertTrue(mounter.needsItsRoot());
        assertTrue(mounter.mayForce(true));
    }

    private static final class Noting implements Mounter {
        private final List<Monitors> monitors = new ArrayList<>();

        @Override
        public String name() {
            return "noting";
        }

        @Override
        public void mount(ClientMount mount, Path mountPoint, Duration limit) {
            monitors.add(mount.monitors());
        }

        @Override
        public boolean needsItsRoot() {
            return true;
        }

        @Override
        public Optional<MountedVolume> recognize(MountEntry entry) {
            return Optional.empty();
        }

        @Override
        public boolean mayForce(boolean dead) {
            return dead;
        }

        @Override
        public void awaitEnd(MountEntry unmounted, Duration limit) {}
    }
}
