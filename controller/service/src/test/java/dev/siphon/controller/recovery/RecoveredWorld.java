package dev.siphon.controller.recovery;

import dev.siphon.controller.dataset.DatasetCatalog;
import dev.siphon.controller.dataset.ReaderIds;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.volume.Callers;
import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.ClassParameters;
import dev.siphon.controller.volume.ControllerDomain;
import dev.siphon.controller.volume.InMemoryCeph;
import dev.siphon.controller.volume.InMemoryDirectory;
import dev.siphon.controller.volume.Owners;
import dev.siphon.controller.volume.VolumeRequest;
import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.Digest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

/// A Ceph with volumes of two accounts, and a Kubernetes with objects for them until it is lost.
final class RecoveredWorld implements ClusterRecords, DatasetCatalog {
    static final long GIB = 1L << 30;

    final InMemoryCeph ceph = new InMemoryCeph();
    final CephPorts ports = ceph.ports();
    final MetadataWriter metadata = new MetadataWriter(ports, () -> this.now);
    final InMemoryDirectory directory = new InMemoryDirectory(Map.of("u1", account("u1"), "u2", account("u2")));
    final ControllerDomain domain = ControllerDomain.over(
            ports,
            new Owners(directory, Optional.empty(), Optional.empty()),
            Callers.NONE,
            () -> Duration.ofSeconds(9));
    final Map<String, VolumeRecord> persistentVolumes = new TreeMap<>();
    final List<SnapshotRecord> snapshots = new ArrayList<>();
    final Map<String, Dataset> declared = new HashMap<>();
    final Map<String, ReaderIds> meant = new HashMap<>();
    final Set<VolumeId.Provisioned> standing = new HashSet<>();
    Instant now = Instant.parse("2026-01-01T00:00:00Z");

    static Account account(String name) {
        return new Account(name, "id of " + name, 10_001, 10_001, Set.of(name), OptionalLong.empty());
    }

    VolumeId.Provisioned create(String name, String owner, Map<String, String> more) {
        Map<String, String> parameters = new HashMap<>(more);
        parameters.put("owner", owner);
        return (VolumeId.Provisioned) domain.volumes()
                .create(new VolumeRequest(
                        name, new CapacityRange(GIB, 0), ClassParameters.parse(parameters), false, Optional.empty()))
                .id();
    }

    /// Creates a volume and its PersistentVolume, for a claim `data` in a namespace.
    VolumeId.Provisioned claimed(String name, String owner, String namespace) {
        VolumeId.Provisioned volume = create(name, owner, Map.of());
        persistentVolumes.put(
                name,
                new VolumeRecord(
                        volume,
                        """
                {"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"%s"},"spec":{\
                "capacity":{"storage":"1Gi"},"claimRef":{"namespace":"%s","name":"data"},\
                "csi":{"volumeHandle":"%s"}}}""".formatted(name, namespace, volume),
                        Map.of(
                                MetadataWriter.VOLUME, name,
                                MetadataWriter.NAMESPACE, namespace,
                                MetadataWriter.CLAIM, "data")));
        return volume;
    }

    /// Returns the text of that PersistentVolume.
    String text(String persistentVolume) {
        return volume(persistentVolume).orElseThrow().text();
    }

    /// Declares a dataset, and creates its directory.
    Dataset dataset(String name, String... readers) {
        String path = Dataset.DIRECTORY + "/" + name.replace('.', '-');
        ports.files().makeDirectory(InMemoryCeph.CLUSTER, InMemoryCeph.FILE_SYSTEM, path, name);
        return new Dataset(
                name, Optional.empty(), InMemoryCeph.FILE_SYSTEM, path, new Digest("0".repeat(64)), 5, Set.of(readers));
    }

    /// Returns the writer of a starting controller.
    RecordWriter writer() {
        return new RecordWriter(this, this, ports, metadata, () -> now);
    }

    /// Deletes all objects of Kubernetes.
    void loseKubernetes() {
        persistentVolumes.clear();
        snapshots.clear();
        declared.clear();
    }

    Recovery recovery() {
        return new Recovery(ports, directory, standing, new Recovery.Installed("cephfs.siphon.dev", "siphon"));
    }

    @Override
    public void eachVolume(Consumer<VolumeRecord> each) {
        persistentVolumes.values().forEach(each);
    }

    @Override
    public Optional<VolumeRecord> volume(String persistentVolume) {
        return Optional.ofNullable(persistentVolumes.get(persistentVolume));
    }

    @Override
    public void eachSnapshot(Consumer<SnapshotRecord> each) {
        snapshots.forEach(each);
    }

    @Override
    public Optional<Dataset> find(String name) {
        return Optional.ofNullable(declared.get(name));
    }

    @Override
    public Declared all() {
        return new Declared(List.copyOf(declared.values()), Map.of(), meant);
    }

    @Override
    public ReaderIds readers(String name) {
        return meant.getOrDefault(name, ReaderIds.NONE);
    }

    @Override
    public void note(String name, ReaderIds readers) {
        meant.put(name, readers);
    }

    @Override
    public void report(String name, DatasetStatus state) {
        // not needed
    }
}
