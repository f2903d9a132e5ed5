package dev.siphon.controller.dataset;

import dev.siphon.csi.dataset.Dataset;
import java.util.Map;
import java.util.Optional;

/// Datasets in a file, with the recorded ids of their readers in memory.
record SeenDatasets(DatasetsFile declared, Map<String, ReaderIds> seen) implements DatasetCatalog {
    @Override
    public Optional<Dataset> find(String name) {
        return declared.find(name);
    }

    @Override
    public Declared all() {
        Declared all = declared.all();
        return new Declared(all.datasets(), all.wrong(), seen);
    }

    @Override
    public ReaderIds readers(String name) {
        return seen.getOrDefault(name, ReaderIds.NONE);
    }

    @Override
    public void note(String name, ReaderIds readers) {
        seen.put(name, readers);
    }

    @Override
    public void report(String name, DatasetStatus state) {
        declared.report(name, state);
    }
}
