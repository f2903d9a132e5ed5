package dev.siphon.e2e.kubernetes;

import dev.siphon.e2e.lab.Command;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.UnaryOperator;

/// A volume of ceph-csi, Rook's CSI driver, with its claim, created exactly as that driver does it: the subvolume
/// and its metadata (`internal/cephfs/core`), its journal in omaps (`internal/journal/voljournal.go`), and the
/// objects that its provisioner writes. The driver itself does not run.
///
/// @param uuid by which ceph-csi identifies it
record CephCsiVolume(Cluster cluster, Tenant tenant, String claim, String uuid) implements AutoCloseable {
    /// The subvolumegroup of ceph-csi.
    static final String GROUP = "csi";

    /// The name that Rook gives its driver, and Rook's namespace.
    private static final String DRIVER = "rook-ceph.cephfs.csi.ceph.com";

    private static final String ROOK = "rook-ceph";
    private static final long BYTES = 64L << 20;

    /// Creates the volume of a claim of 64 MiB.
    ///
    /// @param attributes more attributes of the PersistentVolume
    static CephCsiVolume make(Cluster cluster, Tenant tenant, String claim, Map<String, String> attributes) {
        var volume = new CephCsiVolume(cluster, tenant, claim, UUID.randomUUID().toString());
        volume.makeSubvolume();
        volume.writeJournal();
        volume.createObjects(volume.csi(attributes));
        return volume;
    }

    /// Does the same with a PersistentVolume that a kubelet can mount without that driver.
    ///
    /// @param mounted returns the subvolume's mount point on the lab's node
    static CephCsiVolume shown(Cluster cluster, Tenant tenant, String claim, UnaryOperator<String> mounted) {
        var volume = new CephCsiVolume(cluster, tenant, claim, UUID.randomUUID().toString());
        volume.makeSubvolume();
        volume.writeJournal();
        volume.createObjects("  hostPath: {path: " + mounted.apply(volume.path()) + "}\n");
        return volume;
    }

    String fileSystem() {
        return cluster.lab().fileSystem();
    }

    String subvolume() {
        return "csi-vol-" + uuid;
    }

    /// Returns the PersistentVolume's name.
    String name() {
        return "pvc-" + uuid;
    }

    /// Returns its data directory in CephFS.
    String path() {
        return ceph("getpath").strip();
    }

    /// Returns the mgr's `subvolume info`.
    String info() {
        return ceph("info");
    }

    private String ceph(String verb) {
        return cluster.ceph("fs", "subvolume", verb, fileSystem(), subvolume(), "--group_name", GROUP);
    }

    /// Creates it without mode, owner or RADOS namespace.
    private void makeSubvolume() {
        var _ = cluster.ceph("fs", "subvolumegroup", "create", fileSystem(), GROUP);
        var _ = cluster.ceph(
                "fs", "subvolume", "create", fileSystem(), subvolume(), Long.toString(BYTES), "--group_name", GROUP);
        Map<String, String> metadata = Map.of(
                "csi.storage.k8s.io/pvc/name", claim,
                "csi.storage.k8s.io/pvc/namespace", tenant.namespace(),
                "csi.storage.k8s.io/pv/name", name());
        metadata.forEach((key, value) -> cluster.ceph(
                "fs", "subvolume", "metadata", "set", fileSystem(), subvolume(), key, value, "--group_name", GROUP));
    }

    private void writeJournal() {
        omap("csi.volumes.default", "csi.volume." + name(), uuid);
        omap("csi.volume." + uuid, "csi.volname", name());
        omap("csi.volume." + uuid, "csi.imagename", subvolume());
        omap("csi.volume." + uuid, "csi.volume.owner", tenant.namespace());
    }

    private void omap(String object, String key, String value) {
        rados("setomapval", object, key, value);
    }

    /// Returns the keys of ceph-csi's journal entry.
    String journal() {
        return rados("listomapkeys", "csi.volume." + uuid);
    }

    private String rados(String... words) {
        List<String> command = new ArrayList<>(List.of("rados", "-p", fileSystem() + ".meta", "--namespace", GROUP));
        command.addAll(List.of(words));
        return Command.run(command.toArray(String[]::new));
    }

    private String csi(Map<String, String> attributes) {
        StringBuilder more = new StringBuilder();
        attributes.forEach((key, value) ->
                more.append("      ").append(key).append(": \"").append(value).append("\"\n"));
        return """
                  csi:
                    driver: %1$s
                    volumeHandle: 0001-0009-%2$s-0000000000000001-%3$s
                    controllerExpandSecretRef: {name: rook-csi-cephfs-provisioner, namespace: %2$s}
                    nodeStageSecretRef: {name: rook-csi-cephfs-node, namespace: %2$s}
                    volumeAttributes:
                      clusterID: %2$s
                      fsName: %4$s
                      storage.kubernetes.io/csiProvisionerIdentity: 1732000000000-1-%1$s
                      subvolumeName: %5$s
                      subvolumePath: %6$s
                """.formatted(DRIVER, ROOK, uuid, fileSystem(), subvolume(), path()) + more;
    }

    private void createObjects(String source) {
        cluster.apply(tenant.namespace(), """
                apiVersion: v1
                kind: PersistentVolume
                metadata:
                  name: %1$s
                  annotations:
                    pv.kubernetes.io/provisioned-by: %2$s
                    volume.kubernetes.io/provisioner-deletion-secret-name: rook-csi-cephfs-provisioner
                    volume.kubernetes.io/provisioner-deletion-secret-namespace: %3$s
                spec:
                  accessModes: [ReadWriteMany]
                  capacity: {storage: 64Mi}
                  claimRef: {apiVersion: v1, kind: PersistentVolumeClaim, name: %4$s, namespace: %5$s}
                  persistentVolumeReclaimPolicy: Delete
                  storageClassName: rook-cephfs
                  volumeMode: Filesystem
                """.formatted(name(), DRIVER, ROOK, claim, tenant.namespace()) + source);
        cluster.apply(tenant.namespace(), """
                apiVersion: v1
                kind: PersistentVolumeClaim
                metadata: {name: %1$s, namespace: %2$s}
                spec:
                  accessModes: [ReadWriteMany]
                  resources: {requests: {storage: 64Mi}}
                  storageClassName: rook-cephfs
                  volumeMode: Filesystem
                  volumeName: %3$s
                """.formatted(claim, tenant.namespace(), name()));
        var _ = tenant.claimCalled(claim).bound();
    }

    /// Returns its reclaim policy.
    String policy() {
        return cluster.client()
                .persistentVolumes()
                .withName(name())
                .get()
                .getSpec()
                .getPersistentVolumeReclaimPolicy();
    }

    /// Removes what is left of the volume.
    @Override
    public void close() {
        var _ = cluster.client().persistentVolumes().withName(name()).delete();
        var _ = cluster.client()
                .persistentVolumes()
                .withName("taken-" + subvolume())
                .delete();
        var _ = ceph("rm");
        rados("rmomapkey", "csi.volumes.default", "csi.volume." + name());
        rados("rm", "csi.volume." + uuid);
    }
}
