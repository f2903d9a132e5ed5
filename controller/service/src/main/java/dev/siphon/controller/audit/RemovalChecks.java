package dev.siphon.controller.audit;

import dev.siphon.controller.audit.Finding.Kind;
import dev.siphon.controller.volume.CephNames;
import java.util.ArrayList;
import java.util.List;

/// Checks what removed volumes have left with the mgr.
final class RemovalChecks {
    private final FileSystemScan scan;
    private final GracePeriods gracePeriods;

    RemovalChecks(FileSystemScan scan, GracePeriods gracePeriods) {
        this.scan = scan;
        this.gracePeriods = gracePeriods;
    }

    /// Returns everything that is left of removed volumes.
    List<Finding> all() {
        List<Finding> found = new ArrayList<>();
        scan.top().trash().forEach((name, since) -> {
            if (since.plus(gracePeriods.trash()).isBefore(scan.at())) {
                found.add(new Finding(
                        Kind.TRASH_LEFT,
                        path("/volumes/_deleting/" + name),
                        "was removed but has not been purged since " + since,
                        new Repair.ByHand("check that the mgr works and mgr/volumes/pause_purging is not set;"
                                + " until the purge, no space is freed")));
            }
        });
        for (String volume : scan.top().authFiles()) {
            int slash = volume.indexOf('/');
            String group = volume.substring(0, slash);
            boolean ours = !group.isEmpty() && CephNames.isGroup(group);
            if (ours && scan.at("/volumes/" + volume).isEmpty()) {
                String file = "/volumes/_" + volume.replace('/', ':') + ".meta";
                found.add(new Finding(
                        Kind.AUTH_FILE_LEFT,
                        path(file),
                        "belongs to a volume that is gone",
                        new Repair.RemoveFile(scan.cluster(), scan.fileSystem(), file)));
            }
        }
        return found;
    }

    private String path(String path) {
        return scan.cluster() + ":" + scan.fileSystem() + ":" + path;
    }
}
