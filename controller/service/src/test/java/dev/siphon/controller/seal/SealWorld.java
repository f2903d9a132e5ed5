package dev.siphon.controller.seal;

import dev.siphon.controller.dataset.MintedKeys;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.key.ClientSessions;
import dev.siphon.controller.key.Identities;
import dev.siphon.controller.key.NoSessions;
import dev.siphon.controller.volume.Callers;
import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.ClassParameters;
import dev.siphon.controller.volume.ControllerDomain;
import dev.siphon.controller.volume.DatasetPlace;
import dev.siphon.controller.volume.InMemoryCeph;
import dev.siphon.controller.volume.InMemoryDirectory;
import dev.siphon.controller.volume.InterceptedPorts;
import dev.siphon.controller.volume.Owners;
import dev.siphon.controller.volume.SnapshotClass.Modes;
import dev.siphon.controller.volume.SnapshotClass.Sealing;
import dev.siphon.controller.volume.SnapshotClass.SnapshotRequest;
import dev.siphon.controller.volume.SnapshotView;
import dev.siphon.controller.volume.VolumeRequest;
import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.controller.volume.VolumeRequest.ContentSource;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.Manifest;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/// A driver that seals snapshots over a Ceph in memory, for account u1, whose volume `data` has one file.
final class SealWorld {
    static final Sealing SEALING = new Sealing(Modes.READABLE, new SnapshotRequest("u1", "imagenet-v1"));
    static final Manifest MANIFEST = new Manifest(5000, 1, List.of(Digest.of(ByteBuffer.allocate(1))));
    private static final long GIB = 1L << 30;

    final InMemoryCeph ceph = new InMemoryCeph();
    final InMemorySealing cluster = new InMemorySealing();
    final MintedKeys minted = new MintedKeys();

    /// How long one call waits until an image is read back.
    Duration patience = Duration.ZERO;

    /// The client sessions.
    ClientSessions sessions = new NoSessions();
    final InMemoryDirectory directory = new InMemoryDirectory(
            Map.of("u1", new Account("u1", "id-1", 10_001, 10_001, Set.of("u1"), OptionalLong.empty())));

    /// The controller dies after this many more calls; negative for never.
    int callsLeft = -1;

    ControllerDomain domain;
    SealedSnapshots sealed;
    VolumeId.Provisioned volume;

    /// The controller's death, which none of its code catches.
    static final class Killed extends Error {
        private static final long serialVersionUID = 1L;
    }

    SealWorld() {
        domain = domain();
        sealed = sealed();
        volume = (VolumeId.Provisioned) domain.volumes()
                .create(new VolumeRequest(
                        "data",
                        new CapacityRange(GIB, 0),
                        ClassParameters.parse(Map.of("owner", "u1")),
                        false,
                        Optional.empty()))
                .id();
        ceph.write(volume, "file", "contents");
    }

    private CephPorts ports() {
        return InterceptedPorts.of(ceph.ports(), (_, make) -> {
            cut();
            return make.get();
        });
    }

    private void cut() {
        if (callsLeft == 0) {
            throw new Killed();
        }
        callsLeft--;
    }

    private <T> T cuttable(Class<T> port, T target) {
        return port.cast(Proxy.newProxyInstance(
                port.getClassLoader(), new Class<?>[] {port}, (_, method, arguments) -> {
                    cut();
                    try {
                        return method.invoke(target, arguments);
                    } catch (InvocationTargetException thrown) {
                        throw Optional.ofNullable(thrown.getCause()).orElse(thrown);
                    }
                }));
    }

    private ControllerDomain domain() {
        return ControllerDomain.over(
                ports(),
                new Owners(directory, Optional.empty(), Optional.empty()),
                Callers.NONE,
                () -> Duration.ofSeconds(30));
    }

    private SealedSnapshots sealed() {
        CephPorts ports = ports();
        return new SealedSnapshots(
                new SealedSnapshots.Ports(
                        ports,
                        cluster.datasets(),
                        minted.keys(ports.files()),
                        cuttable(Identities.class, minted),
                        cuttable(ClientSessions.class, sessions),
                        cuttable(SealingCluster.class, cluster),
                        patience),
                domain);
    }

    /// Restarts the controller, which loses its memory.
    void restart() {
        callsLeft = -1;
        domain = domain();
        sealed = sealed();
    }

    SnapshotView ask() {
        return sealed.create(volume, "snapshot-1", SEALING);
    }

    DatasetPlace place(SnapshotId id) {
        return DatasetPlace.of(id).orElseThrow();
    }

    /// Does the packer's work, and ends it.
    void pack(SnapshotId id) {
        ceph.file(place(id).path() + "/image", "image");
        ceph.file(place(id).path() + "/image.manifest", MANIFEST.text());
        cluster.packers.replaceAll((_, _) -> new PackerOutcome.Ended());
    }

    /// Requests the snapshot until it is ready.
    SnapshotView seal() {
        var _ = ask();
        SnapshotId id = ask().id();
        pack(id);
        return ask();
    }

    /// Returns the request of a claim that only reads a snapshot's content.
    static VolumeRequest reading(SnapshotId id, Map<String, String> parameters) {
        return new VolumeRequest(
                "pvc-1",
                new CapacityRange(GIB, 0),
                ClassParameters.parse(parameters),
                true,
                Optional.of(new ContentSource.FromSnapshot(id)));
    }
}
