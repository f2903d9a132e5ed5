package dev.siphon.node.inline;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.node.mount.CephCredentials;
import dev.siphon.node.pod.Pod;
import java.time.Duration;
import java.util.Map;

/// Port: who knows what a dataset is that a pod names or has a claim for, and whether that pod may read it.
@FunctionalInterface
public interface InlineDatasets {
    /// The one attribute that a pod writes (`volumeAttributes` of its volume).
    String DATASET = "dataset";

    /// Nobody: no Kubernetes is known.
    InlineDatasets NONE = new InlineDatasets() {
        @Override
        public Opened open(String volume, Pod pod, String dataset, Duration limit) {
            throw new DriverException.InUse(
                    "inline volumes need a node that may ask the Kubernetes API: start it with --kubernetes-namespace");
        }

        @Override
        public boolean isThere() {
            return false;
        }
    };

    /// Whether there is anybody to ask, now or later.
    default boolean isThere() {
        return true;
    }

    /// How the kubelet says that a volume is an inline one (`pkg/volume/csi` of Kubernetes).
    static boolean isWanted(Map<String, String> context) {
        return context.getOrDefault("csi.storage.k8s.io/ephemeral", "").equals("true");
    }

    /// What a dataset is mounted with.
    ///
    /// @param volume which one it is, for this pod's volume
    record Opened(VolumeId.DatasetVolume volume, VolumeContext context, CephCredentials credentials) {}

    /// Asks for a dataset.
    ///
    /// @param volume tells the pod's volume from others, as the name of a [dev.siphon.csi.dataset.DatasetAccess]
    /// @param dataset as of [dev.siphon.csi.dataset.DatasetAccess.Asked]
    /// @param limit how long to wait for an answer
    /// @throws DriverException whatever the controller refuses it with, or UNAVAILABLE if it does not answer
    Opened open(String volume, Pod pod, String dataset, Duration limit);
}
