package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.audit.MetaFile;
import dev.siphon.controller.audit.VolumesDirectory;
import dev.siphon.controller.ceph.call.ReconnectingHandle;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Implements [VolumesDirectory] with libcephfs. `src/pybind/mgr/volumes/fs/operations` defines the mgr's names.
final class CephVolumesDirectory implements VolumesDirectory {
    private static final String CLONES = CephFsMounts.VOLUMES + "/_index/clone";
    private static final String OLD = CephFsMounts.VOLUMES + "/_legacy";
    private static final String NOTE = "user.siphon.";
    private static final Pattern AUTH_FILE = Pattern.compile("_([^:]+):(.+)\\.meta");
    private static final int META_MODE = 0640;

    private final CephFileSystems fileSystems;

    CephVolumesDirectory(CephFileSystems fileSystems) {
        this.fileSystems = fileSystems;
    }

    @Override
    public Top top(String cluster, String fileSystem) {
        return ReconnectingHandle.unlessNothingIsThere(
                new Top(List.of(), Map.of(), Map.of(), Set.of(), Set.of()),
                () -> call(cluster, fileSystem, CephVolumesDirectory::top));
    }

    private static Top top(Mount mount) {
        List<String> groups = new ArrayList<>();
        Set<String> authFiles = new HashSet<>();
        list(mount, CephFsMounts.VOLUMES, entry -> {
            String name = entry.name().toString();
            Matcher auth = AUTH_FILE.matcher(name);
            if (entry.isDirectory() && !name.startsWith("_")) {
                groups.add(name);
            } else if (!entry.isDirectory() && auth.matches()) {
                authFiles.add(auth.group(1) + "/" + auth.group(2));
            }
        });
        Set<String> old = new HashSet<>();
        list(mount, OLD, entry -> old.add(entry.name().toString()));
        return new Top(groups.stream().sorted().toList(), clones(mount), trash(mount), authFiles, old);
    }

    private static Map<String, String> clones(Mount mount) {
        Map<String, String> clones = new HashMap<>();
        list(mount, CLONES, entry -> {
            MountPath link = mount.locate(CLONES).child(entry.name());
            unlessGone(() ->
                    clones.put(entry.name().toString(), mount.readLink(link).toString()));
        });
        return clones;
    }

    private static Map<String, Instant> trash(Mount mount) {
        Map<String, Instant> trash = new HashMap<>();
        list(
                mount,
                CephTrash.PATH,
                entry -> mount.stat(mount.locate(CephTrash.PATH).child(entry.name()))
                        .ifPresent(stat -> trash.put(
                                entry.name().toString(), stat.changed().instant())));
        return trash;
    }

    @Override
    public Optional<GroupState> group(SubvolumeGroup group) {
        return call(group.cluster(), group.fileSystem(), mount -> {
            MountPath path = mount.locate(group.path());
            try (OpenFile directory = mount.openDirectory(path)) {
                Map<String, String> notes = new HashMap<>();
                for (String name : mount.userAttributes(path)) {
                    if (name.startsWith(NOTE)) {
                        mount.attribute(path, name)
                                .filter(value -> !value.isEmpty())
                                .ifPresent(value -> notes.put(name.substring(NOTE.length()), value));
                    }
                }
                return Optional.of(new GroupState(group, directory.number("ceph.quota.max_bytes"), notes));
            } catch (DriverException.NotFound gone) {
                return Optional.empty();
            }
        });
    }

    @Override
    public List<String> entries(SubvolumeGroup group) {
        return call(group.cluster(), group.fileSystem(), mount -> {
            List<String> names = new ArrayList<>();
            list(mount, group.path(), entry -> names.add(entry.name().toString()));
            return names.stream().sorted().toList();
        });
    }

    @Override
    public Optional<EntryState> entry(SubvolumeGroup group, String name) {
        return call(group.cluster(), group.fileSystem(), mount -> {
            try {
                return VolumeEntryReader.read(mount, mount.locate(group.path()), name);
            } catch (DriverException.NotFound gone) {
                return Optional.empty();
            }
        });
    }

    @Override
    public void writeMeta(VolumeId.Provisioned volume, MetaFile meta) {
        boolean _ = call(volume.cluster(), volume.fileSystem(), mount -> {
            MountPath path = mount.locate(SubvolumeGroup.pathOf(volume));
            MountPath aside = path.child(MountPath.of(".meta.tmp"));
            byte[] text = meta.text().getBytes(StandardCharsets.UTF_8);
            try (OpenFile directory = mount.openDirectory(path);
                    Arena arena = Arena.ofConfined()) {
                if (mount.stat(aside).isPresent()) {
                    mount.unlink(aside);
                }
                int flags = OpenFlags.WRITE | OpenFlags.CREATE | OpenFlags.EXCLUSIVE;
                try (OpenFile file = directory.open(MountPath.of(".meta.tmp"), flags)) {
                    file.write(arena.allocateFrom(ValueLayout.JAVA_BYTE, text), 0);
                    file.setMode(META_MODE);
                }
                mount.sync();
                mount.rename(aside, path.child(MountPath.of(".meta")));
            }
            return true;
        });
    }

    @Override
    public void removeFile(String cluster, String fileSystem, String path) {
        boolean _ = call(cluster, fileSystem, mount -> unlessGone(() -> mount.unlink(mount.locate(path))));
    }

    @Override
    public void removeEmptyDirectory(String cluster, String fileSystem, String path) {
        boolean _ = call(cluster, fileSystem, mount -> unlessGone(() -> mount.removeDirectory(mount.locate(path))));
    }

    /// Passes the entries of a directory to `each`; does nothing if the directory does not exist.
    private static void list(Mount mount, String path, Consumer<Mount.Entry> each) {
        unlessGone(() -> {
            MountPath directory = mount.locate(path);
            mount.openDirectory(directory).close();
            mount.list(directory, each);
        });
    }

    /// Runs an action whose target may no longer exist.
    ///
    /// @return whether it existed
    private static boolean unlessGone(Runnable action) {
        try {
            action.run();
            return true;
        } catch (DriverException.NotFound gone) {
            return false;
        }
    }

    private <T> T call(String cluster, String fileSystem, Function<Mount, T> body) {
        return fileSystems.client(cluster, fileSystem).call("survey", body);
    }
}
