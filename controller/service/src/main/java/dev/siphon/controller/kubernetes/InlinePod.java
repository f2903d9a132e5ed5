package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.explain.NamespacedName;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.controller.warm.GatedPod;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.dataset.Digest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/// The parts of a pod that decide who may have the keys of its datasets, from inline volumes or claims.
///
/// @param title for messages: `Pod u1/"train"`
/// @param isMirror whether a node created it itself
/// @param datasets the dataset of each inline volume, by the kubelet's name of the volume
/// @param claims its claims
record InlinePod(
        String title, String uid, String node, boolean isMirror, Map<String, String> datasets, PodClaims claims) {
    /// The kubelet's annotation at pods that it creates itself (`ConfigMirrorAnnotationKey` of Kubernetes).
    private static final String MIRROR = "kubernetes.io/config.mirror";

    private static final Keep PARTS = Keep.of(
            "metadata.name",
            "metadata.uid",
            "metadata.annotations." + MIRROR,
            "spec.nodeName",
            "spec.volumes.name",
            "spec.volumes.csi.driver",
            "spec.volumes.csi.volumeAttributes.dataset",
            "spec.volumes.persistentVolumeClaim.claimName",
            // only shows that the volume is ephemeral
            "spec.volumes.ephemeral.volumeClaimTemplate.metadata.name");

    InlinePod {
        datasets = Map.copyOf(datasets);
    }

    /// Reads the pod that a node's request names.
    ///
    /// @param driver the CSI driver's name
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the name is no valid pod name
    /// @throws DriverException.NotFound (NOT_FOUND) if there is no pod of that uid
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the pod is too large to be read completely
    static InlinePod read(KubernetesApi api, String driver, String namespace, DatasetAccess.Asked asked) {
        String title = "Pod " + namespace + "/" + QuotedText.of(asked.pod());
        if (!NamespacedName.isPart(asked.pod())) {
            throw new DriverException.InvalidRequest(title + " is not a valid Pod name");
        }
        ObjectParts parts = ObjectParts.find(
                        api, "get " + title, "api/v1/namespaces/" + namespace + "/pods/" + asked.pod(), PARTS)
                .filter(found -> JsonParts.text(found.kept(), "metadata", "uid").equals(Optional.of(asked.podUid())))
                .orElseThrow(() -> new DriverException.NotFound(title + " no longer exists"));
        if (!parts.whole()) {
            // the missing part may be the mirror annotation
            throw new DriverException.InUse(title + " has more volumes, or longer names in them, than Siphon"
                    + " reads: use fewer volumes in one pod");
        }
        return of(title, api, driver, namespace, parts.kept());
    }

    private static InlinePod of(String title, KubernetesApi api, String driver, String namespace, JsonObject pod) {
        String uid = JsonParts.text(pod, "metadata", "uid").orElse("");
        Map<String, String> datasets = new HashMap<>();
        JsonParts.each(pod, "spec", "volumes")
                .filter(volume -> JsonParts.text(volume, "csi", "driver").equals(Optional.of(driver)))
                .forEach(volume -> JsonParts.text(volume, "csi", "volumeAttributes", "dataset")
                        .ifPresent(dataset -> datasets.put(
                                handle(uid, JsonParts.text(volume, "name").orElse("")), dataset)));
        return new InlinePod(
                title,
                uid,
                JsonParts.text(pod, "spec", "nodeName").orElse(""),
                JsonParts.at(pod, "metadata", "annotations", MIRROR).isPresent(),
                datasets,
                new PodClaims(api, driver, namespace, claims(driver, pod)));
    }

    private static List<String> claims(String driver, JsonObject pod) {
        return new PodParser(driver)
                .uses(pod).stream()
                        .flatMap(use -> use instanceof GatedPod.DatasetReference.ByClaim(var claim)
                                ? Stream.of(claim)
                                : Stream.empty())
                        .toList();
    }

    /// Returns the kubelet's name of a pod's volume (`makeVolumeHandle` in `pkg/volume/csi` of Kubernetes).
    static String handle(String podUid, String volume) {
        byte[] both = (podUid + volume).getBytes(StandardCharsets.UTF_8);
        return "csi-" + Digest.of(ByteBuffer.wrap(both)).hex();
    }

    /// Checks that a pod on the requesting node has that dataset as an inline volume. Mirror pods do not count: a
    /// node may create them itself in any namespace (NodeRestriction).
    ///
    /// @param volume the kubelet's name of the requested volume
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if it does not, or the pod is a mirror pod
    void check(String volume, DatasetAccess.Asked asked) {
        checkNode(asked);
        if (!asked.dataset().equals(datasets.get(volume))) {
            throw new DriverException.AccessDenied(
                    title + " has no volume of dataset " + QuotedText.of(asked.dataset()));
        }
    }

    /// Checks the same for a request about a claim.
    ///
    /// @param name of the request
    /// @param volume to which the claim is bound
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if the pod has no such claim
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the claims cannot be read now
    void checkClaimed(String name, VolumeId.DatasetVolume volume, DatasetAccess.Asked asked) {
        checkNode(asked);
        boolean isAsked = name.equals(DatasetAccess.nameOfClaimed(uid, volume));
        if (!isAsked || !claims.have(volume)) {
            throw new DriverException.AccessDenied(title + " has no claim with volume " + volume);
        }
    }

    private void checkNode(DatasetAccess.Asked asked) {
        if (!node.equals(asked.node())) {
            throw new DriverException.AccessDenied(title + " is not on node " + QuotedText.of(asked.node()));
        }
        if (isMirror) {
            throw new DriverException.AccessDenied(title + " is a static pod of its node: it gets no dataset");
        }
    }
}
