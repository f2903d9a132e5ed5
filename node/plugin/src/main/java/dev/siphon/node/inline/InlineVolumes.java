package dev.siphon.node.inline;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.node.mount.RecordFiles;
import dev.siphon.node.mount.TargetPath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Records the dataset of each inline volume of this node, in files in a directory of its own. The kubelet
/// identifies such a volume only by a generated name, so the record must survive restarts.
public final class InlineVolumes {
    private static final Logger LOG = LoggerFactory.getLogger(InlineVolumes.class);

    /// The form of a name by `makeVolumeHandle` in `pkg/volume/csi` of Kubernetes: a SHA-256.
    private static final Pattern NAME = Pattern.compile("csi-[0-9a-f]{64}");

    private final RecordFiles records;

    /// @param folder created when needed
    public InlineVolumes(Path folder) {
        this.records = new RecordFiles(folder);
    }

    /// Checks a name that the kubelet generated.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it has another form
    public static void check(String name) {
        if (!NAME.matcher(name).matches()) {
            throw new DriverException.InvalidRequest("volume_id is not the name of an inline volume: expected " + NAME);
        }
    }

    /// Records that `name` shows `volume` at `target`. Idempotent.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the record cannot be written
    public void put(String name, VolumeId.DatasetVolume volume, TargetPath target) {
        check(name);
        try {
            records.put(name, volume + "\n" + target.text() + "\n");
        } catch (IOException e) {
            throw new DriverException.BackendUnavailable("the state directory cannot be written: " + e, e);
        }
    }

    /// Returns the dataset of `name`; empty if it is no inline volume of this node.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the record cannot be read
    public Optional<VolumeId.DatasetVolume> find(String name) {
        if (!NAME.matcher(name).matches()) {
            return Optional.empty();
        }
        try {
            return records.find(name)
                    .flatMap(text -> text.lines().findFirst())
                    .flatMap(VolumeId.DatasetVolume::tryParse);
        } catch (IOException e) {
            throw new DriverException.BackendUnavailable("the state directory cannot be read: " + e, e);
        }
    }

    /// Deletes the record of `name`. Idempotent.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the record cannot be deleted
    public void remove(String name) {
        if (NAME.matcher(name).matches()) {
            try {
                records.remove(name);
            } catch (IOException e) {
                throw new DriverException.BackendUnavailable("the state directory cannot be written: " + e, e);
            }
        }
    }

    /// Deletes the records of pods that disappeared without an unpublish, and the files of interrupted writes.
    public void sweep() {
        try {
            records.sweep(InlineVolumes::isOfPod);
        } catch (IOException e) {
            LOG.atWarn().addKeyValue("reason", e.toString()).log("cannot list the inline volumes");
        }
    }

    /// Checks only the parent of the target path: the path itself may be a hanging mount.
    private static boolean isOfPod(String text) {
        List<String> lines = text.lines().toList();
        return lines.size() == 2
                && lines.get(1).startsWith("/")
                && Optional.ofNullable(Path.of(lines.get(1)).getParent())
                        .filter(Files::isDirectory)
                        .isPresent();
    }
}
