package dev.siphon.controller.audit;

import dev.siphon.controller.audit.Finding.Kind;
import dev.siphon.controller.volume.Names;
import java.util.ArrayList;
import java.util.List;

/// Looks at what removed volumes have left with the mgr.
final class RemovalChecks {
    private final Look look;
    private final Ages ages;

    RemovalChecks(Look look, Ages ages) {
        this.look = look;
        this.ages = ages;
    }

    /// Everything that is left of volumes that were removed.
    List<Finding> all() {
        List<Finding> found = new ArrayList<>();
        look.top().trash().forEach((name, since) -> {
            if (since.plus(ages.trash()).isBefore(look.at())) {
                found.add(new Finding(
                        Kind.TRASH_LEFT,
                        path("/volumes/_deleting/" + name),
                        "was removed and is not purged, since " + since,
                        new Repair.ByHand("is the mgr well, and mgr/volumes/pause_purging not set? It frees no space"
                                + " until then")));
            }
        });
        for (String volume : look.top().authFiles()) {
            int slash = volume.indexOf('/');
            String group = volume.substring(0, slash);
            boolean ours = !group.isEmpty() && Names.isGroup(group);
            if (ours && look.at("/volumes/" + volume).isEmpty()) {
                String file = "/volumes/_" + volume.replace('/', ':') + ".meta";
                found.add(new Finding(
                        Kind.AUTH_FILE_LEFT,
                        path(file),
                        "belongs to a volume that is gone",
                        new Repair.RemoveFile(look.cluster(), look.fileSystem(), file)));
            }
        }
        return found;
    }

    private String path(String path) {
        return look.cluster() + ":" + look.fileSystem() + ":" + path;
    }
}
