package dev.siphon.controller.seal;

import dev.siphon.controller.dataset.DatasetCatalog;
import dev.siphon.controller.dataset.ReaderIds;
import dev.siphon.controller.volume.SnapshotClass.SnapshotRequest;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.Packer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// Packers controlled by a test, and the declared datasets, in memory.
final class InMemorySealing implements SealingCluster {
    final Map<String, PackerOutcome> packers = new TreeMap<>();
    final Map<String, PackOrder> orders = new TreeMap<>();
    final Map<String, CheckOrder> checks = new TreeMap<>();
    final Map<String, Dataset> declared = new TreeMap<>();
    final List<Notice> told = new ArrayList<>();

    /// The recorded results of reading images back, by dataset name.
    final Map<String, ReadBack> noted = new TreeMap<>();

    /// The outcome of reading an image back.
    PackerOutcome readBack = new PackerOutcome.Ended();

    /// The outcome after the first check, if it changes.
    Optional<PackerOutcome> becomes = Optional.empty();

    /// How often a running packer must be told to stop.
    int stopsAfter = 1;

    @Override
    public Optional<PackerOutcome> find(String name) {
        Optional<PackerOutcome> now = Optional.ofNullable(packers.get(name));
        now.flatMap(_ -> becomes).ifPresent(next -> packers.put(name, next));
        return now;
    }

    @Override
    public PackerOutcome begin(SealOrder order) {
        PackerOutcome made = switch (order) {
            case PackOrder pack -> {
                orders.put(order.name(), pack);
                yield new PackerOutcome.Running("begins");
            }
            case CheckOrder check -> {
                checks.put(order.name(), check);
                yield readBack;
            }
        };
        if (!(made instanceof PackerOutcome.Queued)) {
            packers.putIfAbsent(order.name(), made);
        }
        return packers.getOrDefault(order.name(), made);
    }

    @Override
    public boolean clear(String name) {
        if (packers.get(name) instanceof PackerOutcome.Running && --stopsAfter > 0) {
            return false;
        }
        packers.remove(name);
        return true;
    }

    @Override
    public void declare(Dataset dataset) {
        Dataset there = declared.getOrDefault(dataset.name(), dataset);
        if (!there.path().equals(dataset.path())) {
            throw new DriverException.IncompatibleExisting("there is another dataset " + dataset.name());
        }
        declared.putIfAbsent(dataset.name(), dataset);
    }

    @Override
    public void withdraw(String name, String path) {
        declared.values()
                .removeIf(
                        dataset -> dataset.name().equals(name) && dataset.path().equals(path));
        noted.keySet().retainAll(declared.keySet());
    }

    @Override
    public ReadBacks readBacks() {
        return new ReadBacks() {
            @Override
            public List<Image> all() {
                return declared.keySet().stream()
                        .flatMap(name -> find(name).stream())
                        .toList();
            }

            @Override
            public Optional<Image> find(String name) {
                return Optional.ofNullable(declared.get(name))
                        .filter(dataset -> Packer.isImage(dataset.path()))
                        .map(dataset -> new Image(dataset, Optional.ofNullable(noted.get(name))));
            }

            @Override
            public void note(String name, ReadBack now) {
                if (declared.containsKey(name)) {
                    noted.put(name, now);
                }
            }
        };
    }

    @Override
    public void report(SnapshotRequest object, Notice notice) {
        told.add(notice);
    }

    DatasetCatalog datasets() {
        return new DatasetCatalog() {
            @Override
            public Optional<Dataset> find(String name) {
                if (Optional.ofNullable(noted.get(name))
                        .filter(now -> now.state() == ReadBack.State.REFUSED)
                        .isPresent()) {
                    throw new DriverException.InUse("dataset " + name + " is refused");
                }
                return Optional.ofNullable(declared.get(name));
            }

            @Override
            public Declared all() {
                return new Declared(List.copyOf(declared.values()), Map.of(), Map.of());
            }

            @Override
            public ReaderIds readers(String name) {
                return ReaderIds.NONE;
            }

            @Override
            public void note(String name, ReaderIds readers) {
                // not needed
            }

            @Override
            public void report(String name, DatasetStatus state) {
                // not needed
            }
        };
    }
}
