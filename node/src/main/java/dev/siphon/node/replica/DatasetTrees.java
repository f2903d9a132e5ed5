package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.linux.LoopDevice;
import dev.siphon.node.linux.LoopStatus;
import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.mount.Datasets;
import dev.siphon.node.mount.MountedVolume;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// The trees of [Replicas], as volumes use them.
public final class DatasetTrees implements Datasets {
    private final Replicas replicas;
    private final Path state;

    /// @param state the directory that `replicas` has for its trees
    public DatasetTrees(Replicas replicas, Path state) {
        this.replicas = replicas;
        this.state = state;
    }

    @Override
    public Path attach(Digest digest, Path image, Path manifest) {
        return replicas.attach(new DatasetImage(digest, image, manifest)).tree();
    }

    @Override
    public void detach(Digest digest) {
        replicas.detach(digest);
    }

    @Override
    public List<Digest> attached() {
        List<Digest> digests = new ArrayList<>();
        for (MountEntry entry : MountTable.read().entries()) {
            if (entry.type().equals(Attachments.TYPE) && entry.mountPoint().startsWith(state + "/")) {
                String folder = entry.mountPoint().substring(state.toString().length() + 1);
                digest(folder.substring(0, folder.indexOf('/'))).ifPresent(digests::add);
            }
        }
        return digests;
    }

    private static Optional<Digest> digest(String name) {
        try {
            return Optional.of(new Digest(name));
        } catch (DriverException.InvalidRequest _) {
            return Optional.empty();
        }
    }

    @Override
    public Optional<String> problem(String beginning) {
        return replicas.list().stream()
                .filter(status -> status.digest().beginning().equals(beginning))
                .findFirst()
                .flatMap(ReplicaStatus::problem);
    }

    /// By the tag of the device, which stays the same whatever file is behind it.
    @Override
    public Optional<MountedVolume> recognize(MountEntry entry) {
        if (!entry.type().equals(Attachments.TYPE)) {
            return Optional.empty();
        }
        return LoopDevice.all().stream()
                .filter(device -> device.device().equals(entry.device()))
                .map(LoopStatus::tag)
                .flatMap(tag -> AttachmentKey.beginning(tag).stream())
                .<MountedVolume>map(MountedVolume.Sealed::new)
                .findFirst();
    }

    /// Whoever waits for the image may be waiting for CephFS; the tree itself answers.
    @Override
    public boolean mayForce(boolean dead) {
        return false;
    }

    /// Nothing is ever written; the tree itself is taken away by [#detach].
    @Override
    public void awaitEnd(MountEntry unmounted, Duration limit) {
        // nothing to wait for
    }
}
