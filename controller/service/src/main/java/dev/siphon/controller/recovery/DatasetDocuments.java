package dev.siphon.controller.recovery;

import dev.siphon.controller.identity.AccountDirectory;
import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.DatasetPlace;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.Digest;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Predicate;

/// Rebuilds Datasets as they were declared, with those readers whose names still mean the same account.
final class DatasetDocuments {
    /// How many levels below [Dataset#DIRECTORY] are searched for datasets.
    private static final int LEVELS = 4;

    private static final String SEALED_FORM = "[0-9a-f]{64} [0-9]{1,18}";

    private final CephPorts ceph;
    private final AccountDirectory directory;
    private final Set<String> handedOver = new HashSet<>();

    DatasetDocuments(CephPorts ceph, AccountDirectory directory) {
        this.ceph = ceph;
        this.directory = directory;
    }

    /// Passes each recorded Dataset to `each`.
    ///
    /// @param wanted selects Datasets by the account that their name begins with
    void declared(Predicate<Optional<String>> wanted, Consumer<Document> each) {
        for (String cluster : ceph.clusters().ids()) {
            for (Clusters.FileSystem fileSystem : ceph.clusters().fileSystems(cluster)) {
                below(cluster, fileSystem.name(), Dataset.DIRECTORY, LEVELS, record -> {
                    if (wanted.test(Dataset.account(record.dataset().name()))
                            && handedOver.add(record.dataset().name())) {
                        each.accept(document(record.dataset(), record.meant()));
                    }
                });
            }
        }
    }

    private void below(
            String cluster, String fileSystem, String path, int levels, Consumer<DatasetRecords.DatasetRecord> each) {
        for (String name : ceph.files().directories(cluster, fileSystem, path)) {
            String directory = path + "/" + name;
            ceph.files()
                    .note(cluster, fileSystem, directory, RecordNotes.DATASETS)
                    .flatMap(DatasetRecords::parse)
                    .ifPresent(records -> records.all().forEach(each));
            if (levels > 1) {
                below(cluster, fileSystem, directory, levels - 1, each);
            }
        }
    }

    /// Returns the Dataset of a sealed snapshot without a record, as it was declared when it was sealed.
    Optional<Document> sealed(SnapshotId snapshot, String owner) {
        return DatasetPlace.of(snapshot)
                .filter(place -> place.isSealed(ceph.files()))
                .flatMap(place -> place.note(ceph.files(), DatasetPlace.NAME)
                        .filter(Dataset::isName)
                        .filter(handedOver::add)
                        .flatMap(name -> place.note(ceph.files(), DatasetPlace.SEALED)
                                .filter(text -> text.matches(SEALED_FORM))
                                .map(text -> dataset(place, name, text.split(" ", -1), owner))))
                .map(Document::of)
                .map(found ->
                        new Document(List.of("its readers were not recorded: only its owner is set"), found.object()));
    }

    private static com.google.gson.JsonObject dataset(
            DatasetPlace place, String name, String[] digestAndBytes, String owner) {
        return new Dataset(
                        name,
                        Optional.of(place.cluster()),
                        place.fileSystem(),
                        place.path(),
                        new Digest(digestAndBytes[0]),
                        Long.parseLong(digestAndBytes[1]),
                        Set.of(owner))
                .toObject();
    }

    private Document document(Dataset dataset, Map<String, String> meant) {
        List<String> comments = new ArrayList<>();
        Set<String> readers = new TreeSet<>();
        for (String reader : new TreeSet<>(dataset.readers())) {
            Optional<String> why = readerWarning(reader, Optional.ofNullable(meant.get(reader)));
            why.ifPresentOrElse(
                    doubt -> comments.add("left out reader " + reader + ": " + doubt), () -> readers.add(reader));
        }
        return new Document(comments, dataset.readBy(readers).toObject());
    }

    /// Returns why a name may mean another account by now.
    private Optional<String> readerWarning(String reader, Optional<String> meant) {
        if (meant.isEmpty()) {
            return Optional.empty();
        }
        try {
            return directory
                    .account(reader)
                    .map(SubvolumeGroup::nameOf)
                    .filter(now -> !now.equals(meant.get()))
                    .map(_ -> "the directory gives that name to somebody else now");
        } catch (DriverException.BackendUnavailable silent) {
            return Optional.of("the account of that name is not known, " + silent.getMessage());
        }
    }
}
