package dev.siphon.e2e.kubernetes;

import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.util.Objects;

/// A PersistentVolumeClaim of a test.
record TestClaim(Cluster cluster, String namespace, String name) {
    private static final int GROUP = 3;
    private static final int NAME = 4;

    Resource<PersistentVolumeClaim> resource() {
        return cluster.client().persistentVolumeClaims().inNamespace(namespace).withName(name);
    }

    /// Waits until the claim is bound.
    TestClaim bound() {
        var _ = cluster.await(
                "claim " + name + " is bound",
                resource(),
                claim -> claim != null && "Bound".equals(claim.getStatus().getPhase()));
        return this;
    }

    /// Returns the bound volume.
    PersistentVolume volume() {
        String volume = Objects.requireNonNull(resource().get().getSpec().getVolumeName(), name + " has no volume");
        return cluster.client().persistentVolumes().withName(volume).get();
    }

    /// Returns an attribute of that volume.
    String attribute(String key) {
        return volume().getSpec().getCsi().getVolumeAttributes().getOrDefault(key, "none");
    }

    /// Returns the volume's subvolume in Ceph.
    Subvolume subvolume() {
        // VERSION:CLUSTER:FS:GROUP:NAME
        String[] parts = volume().getSpec().getCsi().getVolumeHandle().split(":", -1);
        return new Subvolume(parts[GROUP], parts[NAME]);
    }

    /// Requests another size and waits until the claim has it.
    void resize(String size) {
        var _ = resource().edit(claim -> {
            claim.getSpec().getResources().getRequests().put("storage", new Quantity(size));
            return claim;
        });
        var _ = cluster.await(
                "claim " + name + " has " + size,
                resource(),
                claim -> new Quantity(size)
                        .equals(claim.getStatus().getCapacity().get("storage")));
    }

    /// Requests a VolumeAttributesClass and waits until the claim has it.
    void setAttributes(String attributesClass) {
        var _ = resource().edit(claim -> {
            claim.getSpec().setVolumeAttributesClassName(attributesClass);
            return claim;
        });
        var _ = cluster.await(
                "claim " + name + " has class " + attributesClass,
                resource(),
                claim -> attributesClass.equals(claim.getStatus().getCurrentVolumeAttributesClassName()));
    }

    /// Waits until an event of the claim matches `pattern`.
    ///
    /// @return the event, as `REASON: MESSAGE`
    String told(String pattern) {
        return cluster.awaitEvent(namespace, name, pattern);
    }

    /// Deletes the claim and waits until it is gone.
    void delete() {
        var _ = resource().delete();
        var _ = cluster.await("the end of claim " + name, resource(), Objects::isNull);
    }

    /// A subvolume of CephFS and its group.
    record Subvolume(String group, String name) {
        @Override
        public String toString() {
            return group + "/" + name;
        }
    }
}
