package dev.siphon.controller.dataset;

import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/// A Kubernetes that declares one dataset, which nobody there uses.
record NoPods(Dataset dataset) implements UsingPods {
    @Override
    public List<Known> declared() {
        return List.of(new Known(dataset, Optional.empty()));
    }

    @Override
    public void each(Set<VolumeId.Dataset> datasets, Consumer<Use> each) {
        // there are none
    }

    @Override
    public void eachReplica(BiConsumer<VolumeId.Dataset, String> each) {
        // there are none
    }

    @Override
    public void report(String name, DatasetUse use) {
        throw new IllegalStateException("nothing is written down");
    }
}
