package dev.siphon.e2e.isolation;

import csi.v1.CreateVolumeRequest;
import csi.v1.NodePublishVolumeRequest;
import csi.v1.Volume;
import dev.siphon.e2e.driver.NodeMounts;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.isolation.Attack.Control;
import dev.siphon.e2e.isolation.Verdict.By;
import dev.siphon.e2e.lab.Lab;
import io.grpc.Status;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/// Attacks through the driver. A node gets one volume's key with another's id; the controller gets a request for
/// one account to use another's data.
final class CsiAttacks {
    /// An access refusal, or (CSI v1.13, NodePublishVolume) a target that holds another volume.
    private static final Set<Status.Code> REFUSALS = Set.of(Status.Code.PERMISSION_DENIED, Status.Code.ALREADY_EXISTS);

    private final KeyedDriver driver;
    private int places;

    CsiAttacks(KeyedDriver driver) {
        this.driver = driver;
    }

    List<Attack> all() {
        return List.of(
                staging("NodeStage with its id and the attacker's key, read a file", Target::volume),
                staging("a PV by hand with its path and the attacker's key, read a file", CsiAttacks::byHand),
                Attack.of(
                        "NodeStage of one's own volume, with its path in the volume_context",
                        Control.OWN_KEY,
                        (target, from, who) -> stage(
                                who,
                                from,
                                target,
                                isAttacker(who, from)
                                        ? from.volume().toBuilder()
                                                .putVolumeContext("mountPath", target.group())
                                                .putVolumeContext("dataPath", target.subvolume())
                                                .build()
                                        : target.volume())),
                Attack.of(
                        "NodePublish of its id where one's own volume is staged", Control.OWN_KEY, this::publishOther),
                Attack.of(
                                "a volume of u1 with the contents of its snapshot, by id (CreateVolume)",
                                Control.OWN_KEY,
                                this::cloneOf)
                        .openFor(CephAttacks.SAME_ACCOUNT));
    }

    private static boolean isAttacker(KeyHolder who, Target from) {
        return who.equals(from.key());
    }

    private interface As {
        Volume volume(Target target);
    }

    private Attack staging(String title, As as) {
        return Attack.of(title, Control.OWN_KEY, (target, from, who) -> stage(who, from, target, as.volume(target)));
    }

    private static Volume byHand(Target target) {
        return Volume.newBuilder()
                .setVolumeId("static:lab:" + Lab.here().fileSystem() + ":" + target.data())
                .putVolumeContext("monitors", Lab.here().monitors())
                .build();
    }

    private Verdict stage(KeyHolder who, Target from, Target target, Volume volume) {
        try (NodeMounts mounts = mounts(who, from, target)) {
            Outcome<?> staged = mounts.stage(volume, Requests.shared());
            if (!staged.ok()) {
                // the node's own check, or the refusal that it got from the MDS
                return verdict(staged.message().contains("its volume_context leads to") ? By.SIPHON : By.MDS, staged);
            }
            Path place = mounts.staging(volume);
            // a node puts a volume that is named by its path here
            FileAttempt.read(
                    (volume.getVolumeId().startsWith("static:") ? place.resolve("tree") : place).resolve("secret"));
            return new Verdict.Done();
        } catch (FileAttempt.ContentsRefused e) {
            return Verdict.refused(By.OSD, e.toString());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private NodeMounts mounts(KeyHolder who, Target from, Target target) {
        return driver.mountsWith((isAttacker(who, from) ? from : target).volume(), "place-" + places++);
    }

    private static Verdict verdict(By by, Outcome<?> outcome) {
        if (outcome.ok()) {
            return new Verdict.Done();
        }
        if (!REFUSALS.contains(outcome.code())) {
            throw new AssertionError("failed, but was not refused: " + outcome.code() + " " + outcome.message());
        }
        return new Verdict.Refused(by, outcome.message());
    }

    private Verdict publishOther(Target target, Target from, KeyHolder who) {
        Target staged = isAttacker(who, from) ? from : target;
        try (NodeMounts mounts = mounts(who, from, target)) {
            mounts.stage(staged.volume(), Requests.shared()).get();
            Path path = mounts.staging(staged.volume());
            NodePublishVolumeRequest request = NodePublishVolumeRequest.newBuilder()
                    .setVolumeId(target.volume().getVolumeId())
                    .setStagingTargetPath(path.toString())
                    .setTargetPath(path.resolveSibling("pod").toString())
                    .setVolumeCapability(Requests.shared())
                    .putAllVolumeContext(target.volume().getVolumeContextMap())
                    .build();
            Outcome<?> published = Outcome.of(() -> driver.node().node().nodePublishVolume(request));
            if (published.ok()) {
                var _ = driver.node()
                        .node()
                        .nodeUnpublishVolume(csi.v1.NodeUnpublishVolumeRequest.newBuilder()
                                .setVolumeId(request.getVolumeId())
                                .setTargetPath(request.getTargetPath())
                                .build());
            }
            return verdict(By.SIPHON, published);
        }
    }

    /// Asks read-only: if that is allowed, the snapshot itself serves, which takes no time.
    private Verdict cloneOf(Target target, Target from, KeyHolder who) {
        String owner = (isAttacker(who, from) ? from : target).owner();
        CreateVolumeRequest request = Requests.readOnly(
                Requests.fromSnapshot(Requests.volume("clone-" + places++, owner, Requests.GIB), target.snapshotId()));
        var made = Outcome.of(() -> driver.controller().controller().createVolume(request));
        made.response()
                .ifPresent(volume -> driver.controller()
                        .controller()
                        .deleteVolume(Requests.delete(volume.getVolume().getVolumeId())));
        return verdict(By.SIPHON, made);
    }
}
