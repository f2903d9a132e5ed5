package dev.siphon.node.rpc;

import csi.v1.NodePublishVolumeRequest;
import csi.v1.NodeUnpublishVolumeRequest;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.server.Deadlines;
import dev.siphon.node.device.DatasetPlacement;
import dev.siphon.node.inline.Inline;
import dev.siphon.node.inline.InlineDatasets;
import dev.siphon.node.inline.InlineDatasets.Reply;
import dev.siphon.node.inline.InlineVolumes;
import dev.siphon.node.inline.OfflineDatasets;
import dev.siphon.node.inline.OfflineDatasets.OfflineDataset;
import dev.siphon.node.mount.CachePreference;
import dev.siphon.node.mount.CephCredentials;
import dev.siphon.node.mount.ClientOptions;
import dev.siphon.node.mount.NodeVolumes;
import dev.siphon.node.mount.StageRequest;
import dev.siphon.node.mount.TargetPath;
import dev.siphon.node.mount.VolumeUse;
import dev.siphon.node.pod.Pod;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Publishes datasets whose access the controller grants at publish time: those that pods name themselves (CSI
/// ephemeral inline volumes, which show only datasets), and those of claims whose Secret has no key.
final class InlineVolumeHandler {
    private final NodeVolumes volumes;
    private final InlineVolumes known;
    private final InlineDatasets datasets;
    private final OfflineDatasets offline;
    private final DatasetPlacement placement;
    private final Deadlines deadlines;

    InlineVolumeHandler(NodeVolumes volumes, Inline inline, DatasetPlacement placement, Deadlines deadlines) {
        this.volumes = volumes;
        this.known = inline.volumes();
        this.datasets = inline.datasets();
        this.offline = inline.offline();
        this.placement = placement;
        this.deadlines = deadlines;
    }

    /// Parses the id of an inline or other volume, as [NodeRequestFields#volumeId] does.
    Optional<VolumeId> volumeId(String text) {
        return known.find(text).<VolumeId>map(volume -> volume).or(() -> NodeRequestFields.volumeId(text));
    }

    /// Publishes a dataset to a pod, read-only whatever the pod requests. The controller decides now whether the
    /// pod may read it; the node's own grants do not count.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the pod's attributes are anything but a
    ///     dataset's name
    void publish(NodePublishVolumeRequest request, TargetPath target) {
        String name = request.getVolumeId();
        InlineVolumes.check(name);
        Map<String, String> context = request.getVolumeContextMap();
        Pod pod = Pod.ofContext(context).orElseThrow(() -> noPod("inline volume " + name));
        String dataset = dataset(context);
        if (request.getSecretsCount() > 0) {
            throw new DriverException.InvalidRequest("an inline volume of dataset " + QuotedText.of(dataset)
                    + " needs no nodePublishSecretRef: leave it out");
        }
        VolumeUse asked = NodeRequestFields.use(request.hasVolumeCapability(), request.getVolumeCapability(), true);
        VolumeUse use = new VolumeUse(VolumeUse.PublishAccessMode.MULTI_NODE_READER_ONLY, asked.options(), true);
        Optional<VolumeId.DatasetVolume> before = known.find(name);
        if (before.isPresent() && volumes.isShown(before.get(), target, deadlines.remaining())) {
            return; // a pod keeps what it has, even if the controller would refuse it now
        }
        switch (offline.ask(name, pod, dataset, deadlines.remaining())) {
            case Reply.Answered(var opened) -> {
                record(name, before, opened.volume(), target);
                publish(
                        pod,
                        new OfflineDataset(target, name, dataset, opened.volume()),
                        new StageRequest(opened.volume(), target, opened.context(), use, opened.credentials()));
            }
            case Reply.Unanswered(var why, boolean _) -> {
                VolumeId.DatasetVolume volume = offline.readable(dataset, pod, why);
                record(name, before, volume, target);
                publishReplica(new OfflineDataset(target, name, dataset, volume), pod, use.options(), why);
            }
        }
    }

    /// Records which dataset an inline volume shows. The pod's name for it may refer to another one since.
    private void record(
            String name, Optional<VolumeId.DatasetVolume> before, VolumeId.DatasetVolume volume, TargetPath target) {
        before.filter(other -> !other.equals(volume))
                .ifPresent(other -> volumes.unpublishUnstaged(other, target, deadlines.remaining()));
        known.put(name, volume, target);
    }

    /// Publishes a replica, since Ceph or the controller does not answer.
    private void publishReplica(OfflineDataset shown, Pod pod, List<String> options, DriverException away) {
        offline.begin(shown);
        CachePreference caches = placement.prefer(shown.volume(), pod);
        List<Path> replicaDirectories = volumes.publishReplica(
                shown.volume(), shown.target(), ClientOptions.of(options, true), caches, deadlines.remaining(), away);
        placement.report(shown.volume(), pod, caches, replicaDirectories);
        offline.shown(shown, pod, away);
    }

    /// Mounts and publishes a dataset. The controller has just allowed it, so a replica is enough if Ceph does not
    /// answer this node.
    private void publish(Pod pod, OfflineDataset shown, StageRequest stage) {
        CachePreference caches = placement.prefer(shown.volume(), pod);
        try {
            List<Path> replicaDirectories = volumes.publishUnstaged(stage, caches, deadlines.remaining());
            placement.report(shown.volume(), pod, caches, replicaDirectories);
        } catch (DriverException.BackendUnavailable | DriverException.DeadlinePassed away) {
            offline.checkReadable(shown.volume(), pod, away);
            List<String> options = new ArrayList<>(stage.use().options());
            options.addAll(stage.context().mountOptions());
            publishReplica(shown, pod, options, away);
        }
    }

    private static DriverException noPod(String volume) {
        return new DriverException.InUse(volume + " cannot be published: the kubelet does not say for which pod; set"
                + " podInfoOnMount: true in this driver's CSIDriver object");
    }

    /// Returns whether this node can ask the controller for keys.
    boolean canAsk() {
        return datasets.isThere();
    }

    /// Whether the controller must provide the volume's key for each pod, because the secrets have none.
    ///
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if the secrets are for another volume
    boolean isAskedFor(VolumeId volume, Map<String, String> secrets) {
        if (!(volume instanceof VolumeId.DatasetVolume) || CephCredentials.arePresent(secrets)) {
            return false;
        }
        CephCredentials.checkVolume(volume, secrets);
        return true;
    }

    /// Publishes the dataset of a claim to a pod, mounted only at the target. NodeStageVolume could not do this: it
    /// is called once per node, without a pod. The controller grants access per pod, so that a node gets only the
    /// keys that its pods need.
    ///
    /// @param context the PersistentVolume's, with mounter and mount options
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the kubelet does not report the pod
    /// @throws DriverException as [InlineDatasets#ask]
    void publishClaimed(
            VolumeId.DatasetVolume volume,
            Optional<VolumeContext> context,
            Optional<Pod> pod,
            VolumeUse use,
            TargetPath target) {
        Pod reader = pod.orElseThrow(() -> noPod("volume " + volume));
        if (volumes.isShown(volume, target, deadlines.remaining())) {
            return; // a pod keeps what it has, even if the controller would refuse it now
        }
        String name = DatasetAccess.nameOfClaimed(reader.uid(), volume);
        switch (offline.ask(name, reader, volume.toString(), deadlines.remaining())) {
            case Reply.Answered(var opened) -> {
                if (!opened.volume().equals(volume)) {
                    throw new DriverException.BackendFault(
                            "the controller was asked for volume " + volume + " and answers with " + opened.volume());
                }
                VolumeContext now =
                        context.map(written -> opened.context().usedAs(written)).orElse(opened.context());
                publish(
                        reader,
                        new OfflineDataset(target, name, volume.toString(), volume),
                        new StageRequest(volume, target, now, use, opened.credentials()));
            }
            case Reply.Unanswered(var why, boolean _) -> {
                offline.checkReadable(volume, reader, why);
                List<String> options = new ArrayList<>(use.options());
                context.map(VolumeContext::mountOptions).ifPresent(options::addAll);
                publishReplica(new OfflineDataset(target, name, volume.toString(), volume), reader, options, why);
            }
        }
    }

    private static String dataset(Map<String, String> context) {
        context.keySet().stream()
                .filter(key -> !key.equals(InlineDatasets.DATASET) && !VolumeContext.isOfKubernetes(key))
                .sorted()
                .findFirst()
                .ifPresent(unknown -> {
                    throw new DriverException.InvalidRequest("volumeAttributes of an inline volume may contain only "
                            + InlineDatasets.DATASET + ", not " + QuotedText.of(unknown));
                });
        String dataset = context.getOrDefault(InlineDatasets.DATASET, "");
        if (dataset.isEmpty()) {
            throw new DriverException.InvalidRequest("volumeAttributes of an inline volume must say which "
                    + InlineDatasets.DATASET + ", for example `dataset: u1/imagenet-v1`; for any other volume make a"
                    + " PersistentVolumeClaim");
        }
        return dataset;
    }

    /// Forgets that a dataset is shown without its image at `target`, since it is about to be unpublished.
    void ends(TargetPath target) {
        offline.ends(target);
    }

    /// Unpublishes an inline volume; returns false if this node does not know it.
    boolean unpublish(NodeUnpublishVolumeRequest request, TargetPath target) {
        Optional<VolumeId.DatasetVolume> volume = known.find(request.getVolumeId());
        volume.ifPresent(found -> {
            volumes.unpublishUnstaged(found, target, deadlines.remaining());
            known.remove(request.getVolumeId());
        });
        return volume.isPresent();
    }
}
