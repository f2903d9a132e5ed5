package dev.siphon.node.rpc;

import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.mount.ClientMount;
import dev.siphon.node.mount.MountedVolume;
import dev.siphon.node.mount.Mounter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/// A mounter that counts calls of [#mount] and [#recognize].
final class CountingMounter implements Mounter {
    private final Mounter mounter;
    private final AtomicInteger questions = new AtomicInteger();

    CountingMounter(Mounter mounter) {
        this.mounter = mounter;
    }

    int questions() {
        return questions.get();
    }

    @Override
    public String name() {
        return mounter.name();
    }

    @Override
    public void mount(ClientMount mount, Path mountPoint, Duration limit) {
        questions.incrementAndGet();
        mounter.mount(mount, mountPoint, limit);
    }

    @Override
    public Optional<MountedVolume> recognize(MountEntry entry) {
        questions.incrementAndGet();
        return mounter.recognize(entry);
    }

    @Override
    public boolean needsItsRoot() {
        return mounter.needsItsRoot();
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
