package dev.siphon.controller.seal;

import dev.siphon.controller.key.ClientSessions;
import dev.siphon.controller.key.Identities;
import dev.siphon.controller.key.SessionEviction;
import dev.siphon.controller.key.VolumeCaps;
import dev.siphon.controller.key.VolumeKey;
import dev.siphon.controller.volume.ClassParameters;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.ControllerDomain;
import dev.siphon.controller.volume.DatasetPlace;
import dev.siphon.controller.volume.FileTree;
import dev.siphon.controller.volume.SnapshotClass.Sealing;
import dev.siphon.controller.volume.Snapshots;
import dev.siphon.controller.volume.VolumeRequest;
import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.controller.volume.VolumeRequest.ContentSource;
import dev.siphon.controller.volume.Volumes;
import dev.siphon.controller.volume.Volumes.Volume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.Packer;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Runs packers and the checks that read images back, and creates what they need. A packer reads the snapshot
/// through a volume whose key reads nothing else. It writes the image with an identity that can write nothing else.
/// The check has an identity that reads the image's directory and nothing else.
final class Packers {
    private static final Logger LOG = LoggerFactory.getLogger(Packers.class);

    private final Clusters clusters;
    private final FileTree files;
    private final Identities identities;
    private final ClientSessions sessions;
    private final SealingCluster cluster;
    private final Snapshots snapshots;
    private final Volumes volumes;

    Packers(SealedSnapshots.Ports ports, ControllerDomain domain) {
        this.clusters = ports.ceph().clusters();
        this.files = ports.ceph().files();
        this.identities = ports.identities();
        this.sessions = ports.sessions();
        this.cluster = ports.cluster();
        this.snapshots = domain.snapshots();
        this.volumes = domain.volumes();
    }

    /// Returns the state of an image's packer, and starts one if there is none.
    PackerOutcome continuePacking(DatasetPlace place, Sealing sealing) {
        return cluster.find(place.packer())
                .orElseGet(() -> removeCheck(place.target()) // it read another image
                        ? cluster.begin(order(place, sealing))
                        : new PackerOutcome.Running("an earlier image is being read"));
    }

    private PackOrder order(DatasetPlace place, Sealing sealing) {
        Volume source = volumes.create(new VolumeRequest(
                place.sourceName(),
                CapacityRange.ANY,
                ClassParameters.ofSnapshot(place.cluster(), place.fileSystem(), snapshots.owner(place.snapshot())),
                true,
                Optional.of(new ContentSource.FromSnapshot(place.snapshot()))));
        return new PackOrder(
                place.packer(),
                sealing.modes(),
                sealing.folder(),
                new SealOrder.Mounted(source.id(), source.context().orElseThrow()),
                mounted(place.target()),
                key(place.target(), Packer.userId(place.target()), Optional.of(place.path())));
    }

    private SealOrder.Mounted mounted(VolumeId.Static target) {
        return new SealOrder.Mounted(
                target,
                VolumeContext.fromMap(
                        target, Map.of("monitors", String.join(",", clusters.monitors(target.cluster())))));
    }

    private VolumeKey key(VolumeId.Static target, String userId, Optional<String> writable) {
        FileTree.Layout layout = files.layout(target.cluster(), target.fileSystem(), target.path());
        return identities.mint(
                target.cluster(),
                userId,
                new VolumeCaps(target.fileSystem(), target.path(), writable, layout.pool(), layout.namespace()));
    }

    /// Returns the state of an image's check; empty if it has not started.
    Optional<PackerOutcome> check(VolumeId.Static target) {
        return cluster.find(Packer.checkerOf(target));
    }

    /// Starts the check of an image that nobody can write any more.
    ///
    /// @param digest of its manifest
    /// @param earlier as of [CheckOrder]
    PackerOutcome beginCheck(VolumeId.Static target, Digest digest, boolean earlier) {
        VolumeKey key = key(target, Packer.checkerId(target), Optional.empty());
        return cluster.begin(new CheckOrder(Packer.checkerOf(target), digest, mounted(target), key, earlier));
    }

    /// Revokes the packer's write access to an image: deletes its pod and its identity, and evicts the sessions of
    /// that identity. If the driver's identity may not evict sessions, a mount stays usable until its ticket
    /// expires.
    ///
    /// @return false while the packer may still write
    boolean end(DatasetPlace place) {
        return removePacker(place) && areEnded(place.target());
    }

    /// Does the same for an image whose source volume was deleted long ago.
    boolean end(VolumeId.Static target) {
        return removePacker(target) && areEnded(target);
    }

    private boolean areEnded(VolumeId.Static target) {
        String userId = Packer.userId(target);
        try {
            SessionEviction evicted = SessionEviction.of(
                    sessions,
                    target.cluster(),
                    target.fileSystem(),
                    session -> session.userId().equals(userId),
                    SessionEviction.PATIENCE);
            evicted.leftInWords().ifPresent(left -> LOG.warn("{} is not read back yet: {}", target.path(), left));
            return evicted.left().isEmpty();
        } catch (DriverException.AccessDenied denied) {
            LOG.warn(
                    "clients that mounted {} with its packer's key may write there until their ticket ends: {}",
                    target.path(),
                    denied.getMessage());
            return true;
        }
    }

    /// Removes the packer of an image, its check, and what was created for them.
    ///
    /// @return false while one of them runs
    boolean remove(DatasetPlace place) {
        boolean stopped = removePacker(place);
        return removeCheck(place.target()) && stopped;
    }

    /// Removes the check of an image, and what was created for it.
    ///
    /// @return false while it runs
    boolean removeCheck(VolumeId.Static target) {
        boolean stopped = cluster.clear(Packer.checkerOf(target));
        identities.remove(target.cluster(), Packer.checkerId(target));
        return stopped;
    }

    private boolean removePacker(DatasetPlace place) {
        boolean stopped = removePacker(place.target());
        volumes.delete(place.source());
        return stopped;
    }

    private boolean removePacker(VolumeId.Static target) {
        boolean stopped = cluster.clear(Packer.of(target));
        identities.remove(target.cluster(), Packer.userId(target));
        return stopped;
    }
}
