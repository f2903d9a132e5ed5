package dev.siphon.controller.volume;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.SpellingSuggestion;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/// The checked parameters of a VolumeSnapshotClass; all their names are in this file.
///
/// @param sealing how its snapshots become sealed datasets; empty if they stay snapshots
public record SnapshotClass(Optional<Sealing> sealing) {
    private static final String KIND = "kind";
    private static final String MODES = "modes";
    private static final String FOLDER = "folder";
    private static final Set<String> KNOWN = Set.of(KIND, MODES, FOLDER);
    private static final Pattern FOLDER_NAME = Pattern.compile("[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}");

    /// Prefix of what the snapshotter adds with `--extra-create-metadata`: the requesting object.
    private static final String FROM_KUBERNETES = "csi.storage.k8s.io/";

    private static final String NAMESPACE = FROM_KUBERNETES + "volumesnapshot/namespace";
    private static final String NAME = FROM_KUBERNETES + "volumesnapshot/name";

    /// What an image keeps of owners and permissions (`siphon dataset pack --modes`).
    public enum Modes {
        READABLE,
        PRESERVED;

        @Override
        public String toString() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }
    }

    /// How a snapshot becomes a sealed dataset.
    ///
    /// @param folder the directory of the volume that is packed; "" for all of it
    /// @param object the VolumeSnapshot that requests it
    public record Sealing(Modes modes, String folder, SnapshotRequest object) {
        /// Packs the whole volume.
        public Sealing(Modes modes, SnapshotRequest object) {
            this(modes, "", object);
        }
    }

    /// A VolumeSnapshot.
    public record SnapshotRequest(String namespace, String name) {
        /// Parses what [#toString] wrote; empty if the text has another form.
        public static Optional<SnapshotRequest> parse(String text) {
            String[] parts = text.split("/", -1);
            return parts.length == 2 ? Optional.of(new SnapshotRequest(parts[0], parts[1])) : Optional.empty();
        }

        @Override
        public String toString() {
            return namespace + "/" + name;
        }
    }

    /// Parses a VolumeSnapshotClass, and the VolumeSnapshot if the snapshotter added it.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if a parameter has an invalid value or is unknown
    ///     (the message names the nearest known one), or if a dataset's VolumeSnapshot is missing
    public static SnapshotClass parse(Map<String, String> parameters) {
        for (String name : new TreeSet<>(parameters.keySet())) {
            if (!KNOWN.contains(name) && !name.startsWith(FROM_KUBERNETES)) {
                throw new DriverException.InvalidRequest(
                        "parameters has an unknown name " + QuotedText.of(name) + "; the nearest known one is \""
                                + SpellingSuggestion.to(name, KNOWN) + "\"; known are " + new TreeSet<>(KNOWN));
            }
        }
        String kind = parameters.getOrDefault(KIND, "snapshot");
        return switch (kind) {
            case "dataset" -> new SnapshotClass(Optional.of(sealing(parameters)));
            case "snapshot" -> plain(parameters);
            default ->
                throw new DriverException.InvalidRequest(
                        "parameter " + KIND + " " + QuotedText.of(kind) + " must be snapshot or dataset");
        };
    }

    private static SnapshotClass plain(Map<String, String> parameters) {
        for (String name : List.of(MODES, FOLDER)) {
            if (parameters.containsKey(name)) {
                throw new DriverException.InvalidRequest(
                        "parameter " + name + " is only allowed with " + KIND + ": dataset");
            }
        }
        return new SnapshotClass(Optional.empty());
    }

    private static Sealing sealing(Map<String, String> parameters) {
        Modes modes = switch (parameters.getOrDefault(MODES, "readable")) {
            case "readable" -> Modes.READABLE;
            case "preserved" -> Modes.PRESERVED;
            case String other ->
                throw new DriverException.InvalidRequest(
                        "parameter " + MODES + " " + QuotedText.of(other) + " must be readable or preserved");
        };
        String folder = parameters.getOrDefault(FOLDER, "");
        if (parameters.containsKey(FOLDER) && !FOLDER_NAME.matcher(folder).matches()) {
            throw new DriverException.InvalidRequest("parameter " + FOLDER + " " + QuotedText.of(folder)
                    + " must be the name of one directory in the volume's root");
        }
        return new Sealing(modes, folder, new SnapshotRequest(given(parameters, NAMESPACE), given(parameters, NAME)));
    }

    private static String given(Map<String, String> parameters, String name) {
        return Optional.ofNullable(parameters.get(name))
                .filter(value -> !value.isEmpty())
                .orElseThrow(() -> new DriverException.InvalidRequest("parameter " + KIND
                        + ": dataset needs the name of the VolumeSnapshot: run the snapshotter with"
                        + " --extra-create-metadata; without Kubernetes, use `siphon dataset seal`"));
    }
}
