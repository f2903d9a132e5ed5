package dev.siphon.controller.volume;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.SpellingSuggestion;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/// The parameters of a VolumeSnapshotClass, checked; all their names are in this file.
///
/// @param sealing how its snapshots become sealed datasets; empty of one whose snapshots stay snapshots
public record SnapshotClass(Optional<Sealing> sealing) {
    private static final String KIND = "kind";
    private static final String MODES = "modes";
    private static final Set<String> KNOWN = Set.of(KIND, MODES);

    /// What the snapshotter adds with `--extra-create-metadata`: it says for which object.
    private static final String FROM_KUBERNETES = "csi.storage.k8s.io/";

    private static final String NAMESPACE = FROM_KUBERNETES + "volumesnapshot/namespace";
    private static final String NAME = FROM_KUBERNETES + "volumesnapshot/name";

    /// What is kept of owners and permissions (`siphon dataset pack --modes`).
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
    /// @param object with which somebody has asked for it
    public record Sealing(Modes modes, SnapshotRequest object) {}

    /// A VolumeSnapshot.
    public record SnapshotRequest(String namespace, String name) {
        /// Reads what [#toString] wrote; empty if that is something else.
        public static Optional<SnapshotRequest> parse(String text) {
            String[] parts = text.split("/", -1);
            return parts.length == 2 ? Optional.of(new SnapshotRequest(parts[0], parts[1])) : Optional.empty();
        }

        @Override
        public String toString() {
            return namespace + "/" + name;
        }
    }

    /// Reads a VolumeSnapshotClass, with the VolumeSnapshot that the snapshotter has added, if it has.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if a parameter is unknown, with the nearest
    ///     known one, or has a value that it cannot have
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
        if (parameters.containsKey(MODES)) {
            throw new DriverException.InvalidRequest("parameter " + MODES + " goes with " + KIND + ": dataset");
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
        return new Sealing(modes, new SnapshotRequest(given(parameters, NAMESPACE), given(parameters, NAME)));
    }

    private static String given(Map<String, String> parameters, String name) {
        return Optional.ofNullable(parameters.get(name))
                .filter(value -> !value.isEmpty())
                .orElseThrow(() -> new DriverException.InvalidRequest("parameter " + KIND
                        + ": dataset, and nobody says what the VolumeSnapshot is called: run the snapshotter with"
                        + " --extra-create-metadata. Without Kubernetes `siphon dataset seal` seals"));
    }
}
