package dev.siphon.node.mount;

import dev.siphon.node.linux.MountEntry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/// Mounts with the cluster's current monitors instead of those that the volume names.
record CurrentMonitorsMounter(Mounter mounter, CurrentMonitors monitors) implements Mounter {
    @Override
    public String name() {
        return mounter.name();
    }

    @Override
    public void mount(ClientMount mount, Path mountPoint, Duration limit) {
        mounter.mount(mount.at(monitors.of(mount.volume().cluster(), mount.monitors())), mountPoint, limit);
    }

    @Override
    public boolean needsItsRoot() {
        return mounter.needsItsRoot();
    }

    @Override
    public Optional<MountedVolume> recognize(MountEntry entry) {
        return mounter.recognize(entry);
    }

    @Override
    public boolean mayForce(boolean dead) {
        return mounter.mayForce(dead);
    }

    @Override
    public void awaitEnd(MountEntry unmounted, Duration limit) {
        mounter.awaitEnd(unmounted, limit);
    }
}
