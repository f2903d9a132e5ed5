package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.audit.Trash;
import dev.siphon.controller.ceph.call.ReconnectingHandle;
import dev.siphon.csi.DriverException;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/// [Trash] by libcephfs: the directory in which the mgr keeps it (`src/pybind/mgr/volumes/fs/operations/trash.py`).
final class CephTrash implements Trash {
    /// Below the directory that is mounted.
    static final String PATH = CephFsMounts.VOLUMES + "/_deleting";

    /// New ones that one list asks the MDS for.
    private static final int MOST_NEW = 1_000;

    private final CephFileSystems fileSystems;

    CephTrash(CephFileSystems fileSystems) {
        this.fileSystems = fileSystems;
    }

    @Override
    public Optional<Entries> list(String cluster, String fileSystem, Map<String, Instant> known) {
        return ReconnectingHandle.unlessNothingIsThere(
                Optional.empty(),
                () -> Optional.of(
                        fileSystems.client(cluster, fileSystem).call("list trash", mount -> list(mount, known))));
    }

    private static Entries list(Mount mount, Map<String, Instant> known) {
        MountPath trash = mount.locate(PATH);
        Listing listing = new Listing(mount, trash, known);
        try {
            mount.list(trash, listing::add);
        } catch (DriverException.NotFound empty) {
            // the mgr makes it when it is needed
        }
        return new Entries(listing.count, listing.since);
    }

    /// What was listed so far.
    private static final class Listing {
        private final Mount mount;
        private final MountPath trash;
        private final Map<String, Instant> known;
        private final Map<String, Instant> since = new HashMap<>();
        private int count;
        private int asked;

        Listing(Mount mount, MountPath trash, Map<String, Instant> known) {
            this.mount = mount;
            this.trash = trash;
            this.known = known;
        }

        void add(Mount.Entry entry) {
            count++;
            String name = entry.name().toString();
            Optional<Instant> time = Optional.ofNullable(known.get(name));
            if (time.isEmpty() && asked < MOST_NEW) {
                asked++;
                // what is renamed has that as the time of its last change, and the mgr renames what it removes
                time = mount.stat(trash.child(entry.name()))
                        .map(stat -> stat.changed().instant());
            }
            if (since.size() < MOST_TIMES) {
                time.ifPresent(at -> since.put(name, at));
            }
        }
    }
}
