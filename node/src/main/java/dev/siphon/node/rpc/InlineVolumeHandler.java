package dev.siphon.node.rpc;

import csi.v1.NodePublishVolumeRequest;
import csi.v1.NodeUnpublishVolumeRequest;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.server.Deadlines;
import dev.siphon.node.device.NearestDatasetPublisher;
import dev.siphon.node.inline.InlineDatasets;
import dev.siphon.node.inline.InlineVolumes;
import dev.siphon.node.mount.CephCredentials;
import dev.siphon.node.mount.NodeVolumes;
import dev.siphon.node.mount.PublishAccessMode;
import dev.siphon.node.mount.StageRequest;
import dev.siphon.node.mount.TargetPath;
import dev.siphon.node.mount.VolumeUse;
import dev.siphon.node.pod.Pod;
import java.util.Map;
import java.util.Optional;

/// Datasets that the controller is asked for when they are shown to a pod: those that pods name themselves (CSI
/// ephemeral inline volumes, which show nothing else), and those of claims whose Secret has no key.
final class InlineVolumeHandler {
    private final NodeVolumes volumes;
    private final InlineVolumes known;
    private final InlineDatasets datasets;
    private final NearestDatasetPublisher placing;
    private final Deadlines deadlines;

    InlineVolumeHandler(
            NodeVolumes volumes,
            InlineVolumes known,
            InlineDatasets datasets,
            NearestDatasetPublisher placing,
            Deadlines deadlines) {
        this.volumes = volumes;
        this.known = known;
        this.datasets = datasets;
        this.placing = placing;
        this.deadlines = deadlines;
    }

    /// The volume that a request names, be it inline or not; as [NodeRequestFields#volumeId].
    Optional<VolumeId> volumeId(String text) {
        return known.find(text).<VolumeId>map(volume -> volume).or(() -> NodeRequestFields.volumeId(text));
    }

    /// Shows a dataset to a pod, read-only whatever the pod asks for. Whether it may read it the controller says,
    /// now: nothing that a node knows is asked.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the pod says anything but a dataset's name
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
        VolumeUse asked = Capability.read(request.hasVolumeCapability(), request.getVolumeCapability(), true);
        VolumeUse use = new VolumeUse(PublishAccessMode.MULTI_NODE_READER_ONLY, asked.options(), true);
        Optional<VolumeId.DatasetVolume> before = known.find(name);
        if (before.isPresent() && volumes.isShown(before.get(), target, deadlines.remaining())) {
            return; // a pod that has it keeps it, whoever answers now
        }
        InlineDatasets.Opened opened = datasets.open(name, pod, dataset, deadlines.remaining());
        // a dataset of that name may be another one since
        before.filter(other -> !other.equals(opened.volume()))
                .ifPresent(other -> volumes.unpublishUnstaged(other, target, deadlines.remaining()));
        known.put(name, opened.volume(), target);
        StageRequest stage = new StageRequest(opened.volume(), target, opened.context(), use, opened.credentials());
        placing.publish(
                opened.volume(),
                Optional.of(pod),
                nearest -> volumes.publishUnstaged(stage, nearest, deadlines.remaining()));
    }

    private static DriverException noPod(String volume) {
        return new DriverException.InUse(volume + " cannot be published: the kubelet does not say for which pod; the"
                + " CSIDriver object of this driver has to have podInfoOnMount: true");
    }

    /// Whether a volume's key comes from the controller, for each pod: there is none in its secrets.
    ///
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if the secrets are for another volume
    boolean isAskedFor(VolumeId volume, Map<String, String> secrets) {
        if (!(volume instanceof VolumeId.DatasetVolume) || CephCredentials.arePresent(secrets) || !datasets.isThere()) {
            return false;
        }
        CephCredentials.checkVolume(volume, secrets);
        return true;
    }

    /// Shows the dataset of a claim to a pod, at the target alone. The kubelet stages a claim's volume
    /// once for all pods of a node, and knows no pod then; the controller answers about pods, so that a
    /// node gets what its own need.
    ///
    /// @param context the PersistentVolume's, from which the mounter and the mount options are
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the kubelet does not say for which pod
    /// @throws DriverException as [InlineDatasets#open]
    void publishClaimed(
            VolumeId.DatasetVolume volume,
            Optional<VolumeContext> context,
            Optional<Pod> pod,
            VolumeUse use,
            TargetPath target) {
        Pod reader = pod.orElseThrow(() -> noPod("volume " + volume));
        if (volumes.isShown(volume, target, deadlines.remaining())) {
            return; // a pod that has it keeps it, whoever answers now
        }
        InlineDatasets.Opened opened = datasets.open(
                DatasetAccess.nameOfClaimed(reader.uid(), volume), reader, volume.toString(), deadlines.remaining());
        if (!opened.volume().equals(volume)) {
            throw new DriverException.BackendFault(
                    "the controller was asked for volume " + volume + " and answers with " + opened.volume());
        }
        VolumeContext now =
                context.map(written -> opened.context().usedAs(written)).orElse(opened.context());
        StageRequest stage = new StageRequest(volume, target, now, use, opened.credentials());
        placing.publish(volume, pod, nearest -> volumes.publishUnstaged(stage, nearest, deadlines.remaining()));
    }

    private static String dataset(Map<String, String> context) {
        context.keySet().stream()
                .filter(key -> !key.equals(InlineDatasets.DATASET) && !VolumeContext.isOfKubernetes(key))
                .sorted()
                .findFirst()
                .ifPresent(unknown -> {
                    throw new DriverException.InvalidRequest("volumeAttributes of an inline volume may say "
                            + InlineDatasets.DATASET + " alone, and not " + QuotedText.of(unknown));
                });
        String dataset = context.getOrDefault(InlineDatasets.DATASET, "");
        if (dataset.isEmpty()) {
            throw new DriverException.InvalidRequest("volumeAttributes of an inline volume must say which "
                    + InlineDatasets.DATASET + ", for example `dataset: u1/imagenet-v1`; for any other volume make a"
                    + " PersistentVolumeClaim");
        }
        return dataset;
    }

    /// Takes an inline volume away; false if it is none of this node.
    boolean unpublish(NodeUnpublishVolumeRequest request, TargetPath target) {
        Optional<VolumeId.DatasetVolume> volume = known.find(request.getVolumeId());
        volume.ifPresent(found -> {
            volumes.unpublishUnstaged(found, target, deadlines.remaining());
            known.remove(request.getVolumeId());
        });
        return volume.isPresent();
    }
}
