package dev.siphon.node.mount;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Digest;
import java.io.IOException;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Remembers when each dataset was last opened on this node with a key that Ceph accepted. While Ceph does not
/// answer, only such a dataset may be shown from its replica.
///
/// One file for each dataset, in a directory of its own, survives restarts. It holds the time, the dataset's digest
/// and a digest of the key, never the key. Errors of a file are only logged: then the dataset counts as not opened.
public final class OpenedDatasets {
    private static final Logger LOG = LoggerFactory.getLogger(OpenedDatasets.class);

    private final RecordFiles records;
    private final Duration offlineFor;
    private final InstantSource clock;

    /// @param folder created when needed
    /// @param offlineFor how long an opening counts; zero if none does
    public OpenedDatasets(Path folder, Duration offlineFor, InstantSource clock) {
        this.records = new RecordFiles(folder);
        this.offlineFor = offlineFor;
        this.clock = clock;
    }

    /// @param at when
    /// @param dataset its whole digest; a volume's id has only the beginning
    /// @param key [ImageKeys#digest] of what opened it
    private record Opening(Instant at, Digest dataset, Digest key) {
        String text() {
            return String.join("\n", at.toString(), dataset.hex(), key.hex()) + "\n";
        }

        static Optional<Opening> parse(String text) {
            List<String> lines = text.lines().toList();
            try {
                return lines.size() == 3
                        ? Optional.of(new Opening(
                                Instant.parse(lines.get(0)), new Digest(lines.get(1)), new Digest(lines.get(2))))
                        : Optional.empty();
            } catch (DateTimeException | DriverException.InvalidRequest _) {
                return Optional.empty();
            }
        }
    }

    /// Records that Ceph has opened the dataset of `volume` for these credentials now.
    void add(VolumeId.DatasetVolume volume, Digest dataset, CephCredentials credentials) {
        if (offlineFor.isZero()) {
            return;
        }
        try {
            records.put(name(volume), new Opening(clock.instant(), dataset, ImageKeys.digest(credentials)).text());
        } catch (IOException e) {
            LOG.atWarn()
                    .addKeyValue("dataset", volume)
                    .addKeyValue("reason", e.toString())
                    .log("cannot record that a dataset was opened: it cannot be shown while Ceph is away");
        }
    }

    /// Returns the digest of a dataset that any key opened lately.
    ///
    /// @param away why none can now
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if none did
    Digest lately(VolumeId.DatasetVolume volume, DriverException away) {
        return opening(volume, _ -> true)
                .orElseThrow(() -> new DriverException.BackendUnavailable(
                        away.getMessage() + "; this node has not opened the dataset within " + hours()
                                + " before, so it shows no replica either",
                        away));
    }

    private String hours() {
        return offlineFor.toString().substring("PT".length()).toLowerCase(Locale.ROOT);
    }

    /// Returns the digest of a dataset that this key opened last, and lately; empty otherwise.
    Optional<Digest> lately(VolumeId.DatasetVolume volume, CephCredentials credentials) {
        Digest key = ImageKeys.digest(credentials);
        return opening(volume, opening -> opening.key().equals(key));
    }

    private Optional<Digest> opening(VolumeId.DatasetVolume volume, Predicate<Opening> which) {
        return read(volume)
                .filter(this::counts)
                .filter(which)
                .map(Opening::dataset)
                .filter(dataset -> dataset.beginning().equals(volume.digest()));
    }

    /// One in the future does not count: the clock was set back, so nobody knows how old it is.
    private boolean counts(Opening opening) {
        Duration age = Duration.between(opening.at(), clock.instant());
        return !age.isNegative() && age.compareTo(offlineFor) < 0;
    }

    /// Removes what no longer counts.
    public void sweep() {
        try {
            records.sweep(text -> Opening.parse(text).filter(this::counts).isPresent());
        } catch (IOException e) {
            LOG.atWarn().addKeyValue("reason", e.toString()).log("cannot list the datasets that were opened");
        }
    }

    private Optional<Opening> read(VolumeId.DatasetVolume volume) {
        try {
            return records.find(name(volume)).flatMap(Opening::parse);
        } catch (IOException _) {
            return Optional.empty(); // damaged
        }
    }

    /// Returns the record's name, of a dataset at its place: the same image elsewhere has other readers.
    private static String name(VolumeId.DatasetVolume volume) {
        return RecordFiles.nameOf(volume.withoutClaim().toString());
    }
}
