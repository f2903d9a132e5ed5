package dev.siphon.controller.dataset;

import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/// A Kubernetes that declares one dataset without users.
record NoPods(Dataset dataset) implements DatasetUsageCluster {
    @Override
    public List<RecordedUsage> declared() {
        return List.of(new RecordedUsage(dataset, Optional.empty()));
    }

    @Override
    public void each(Set<VolumeId.DatasetVolume> datasets, Consumer<PodUse> each) {
        // no pods
    }

    @Override
    public void eachReplica(BiConsumer<VolumeId.DatasetVolume, String> each) {
        // no pods
    }

    @Override
    public void report(String name, DatasetUsage use) {
        throw new IllegalStateException("nothing is written down");
    }
}
