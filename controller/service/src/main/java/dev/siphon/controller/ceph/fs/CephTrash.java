package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.audit.Trash;
import dev.siphon.controller.ceph.call.ReconnectingHandle;
import dev.siphon.csi.DriverException;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/// Implements [Trash] with libcephfs (`src/pybind/mgr/volumes/fs/operations/trash.py` is the mgr's part).
final class CephTrash implements Trash {
    /// Below the mounted directory.
    static final String PATH = CephFsMounts.VOLUMES + "/_deleting";

    /// New entries per listing whose time is requested from the MDS.
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
            // The mgr creates the directory when needed.
        }
        return new Entries(listing.count, listing.since);
    }

    /// The entries listed so far.
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
                // The mgr renames what it removes, and a rename sets the change time.
                time = mount.stat(trash.child(entry.name()))
                        .map(stat -> stat.changed().instant());
            }
            if (since.size() < MOST_TIMES) {
                time.ifPresent(at -> since.put(name, at));
            }
        }
    }
}
