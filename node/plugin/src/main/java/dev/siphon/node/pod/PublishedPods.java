package dev.siphon.node.pod;

import dev.siphon.node.mount.RecordFiles;
import dev.siphon.node.mount.TargetPath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Records which pod each target path was published for, in files of a directory of its own. A process that starts
/// after the pod cannot learn it from the kubelet or the kernel.
///
/// Errors of a file are only logged: a pod must start even if later faults cannot be reported to it.
public final class PublishedPods {
    private static final Logger LOG = LoggerFactory.getLogger(PublishedPods.class);

    private final RecordFiles records;

    /// @param folder created when needed
    public PublishedPods(Path folder) {
        this.records = new RecordFiles(folder);
    }

    /// Removes the records of target paths that no longer exist, whoever removed them.
    public void sweep() {
        try {
            records.sweep(text -> target(text).filter(Files::isDirectory).isPresent());
        } catch (IOException e) {
            LOG.atWarn().addKeyValue("reason", e.toString()).log("cannot list the pods of target paths");
        }
    }

    /// Returns the parent of the target path: the path itself may be a mount that hangs.
    private static Optional<Path> target(String text) {
        return lines(text).map(lines -> Path.of(lines.getFirst()).getParent());
    }

    private static Optional<List<String>> lines(String text) {
        List<String> lines = text.lines().toList();
        return lines.size() == 2 && lines.getFirst().startsWith("/") ? Optional.of(lines) : Optional.empty();
    }

    /// Returns the known pods by target path.
    public Map<String, Pod> all() {
        Map<String, Pod> pods = new HashMap<>();
        try {
            records.all()
                    .values()
                    .forEach(text -> lines(text)
                            .ifPresent(lines ->
                                    Pod.parse(lines.getLast()).ifPresent(pod -> pods.put(lines.getFirst(), pod))));
        } catch (IOException e) {
            LOG.atWarn().addKeyValue("reason", e.toString()).log("cannot list the pods of target paths");
        }
        return pods;
    }

    /// Records the pod of `target`.
    void put(TargetPath target, Pod pod) {
        try {
            records.put(RecordFiles.nameOf(target.text()), target.text() + "\n" + pod.toJson() + "\n");
        } catch (IOException e) {
            failed("the pod of a target path cannot be kept", target, e);
        }
    }

    /// Removes the record of `target`.
    void remove(TargetPath target) {
        try {
            records.remove(RecordFiles.nameOf(target.text()));
        } catch (IOException e) {
            failed("the pod of a target path cannot be forgotten", target, e);
        }
    }

    /// Returns the pod of `target`, if it is known.
    Optional<Pod> at(TargetPath target) {
        try {
            return records.find(RecordFiles.nameOf(target.text()))
                    .flatMap(PublishedPods::lines)
                    .flatMap(lines -> Pod.parse(lines.getLast()));
        } catch (IOException e) {
            failed("the pod of a target path cannot be read", target, e);
            return Optional.empty();
        }
    }

    private static void failed(String what, TargetPath target, IOException e) {
        LOG.atWarn()
                .addKeyValue("path", target.text())
                .addKeyValue("reason", e.toString())
                .log(what);
    }
}
