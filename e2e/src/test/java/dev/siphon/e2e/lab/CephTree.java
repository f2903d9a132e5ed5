package dev.siphon.e2e.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// A cluster's whole file system, as its administrator sees it through a mount of `/`: groups, subvolumes, the
/// mgr's `.meta` files with Siphon's notes, snapshots, the index of clones, and what waits to be purged.
public final class CephTree implements AutoCloseable {
    private static final Duration MOUNT_LIMIT = Duration.ofSeconds(60);
    private static final Duration PURGE_LIMIT = Duration.ofMinutes(3);
    private static final Pattern UUID = Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
    private static final Pattern SNAPSHOT_INODE = Pattern.compile("_(.*)_[0-9]{10,}");

    private static final String PURGE =
            "find \"$1\" -mindepth 1 -maxdepth 1 -type d -print0 | xargs -0 -r -n 20 -P 4 rm -rf";

    private final Path root;

    private CephTree(Path root) {
        this.root = root;
    }

    /// Mounts the file system of `lab`.
    public static CephTree mount(Lab lab) {
        try {
            Path root = Files.createTempDirectory("siphon-tree-");
            CephTree tree = new CephTree(root);
            try {
                List<String> command =
                        new ArrayList<>(CephClient.here().mount(lab, "admin", lab.keyring(), "/", MOUNT_LIMIT));
                command.add(root.toString());
                Command.run(MOUNT_LIMIT, command);
            } catch (IllegalStateException e) {
                Files.delete(root);
                throw e;
            }
            return tree;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Returns the local path of a path in the file system.
    public Path at(String path) {
        return root.resolve(path.substring(1));
    }

    /// Lists everything that mgr and driver keep below `/volumes`, one line each, with all UUIDs equal and without
    /// the contents of volumes. Two states are equal if and only if these lists are. The list also omits the file
    /// by which a controller requests a journal flush: only long commands create it.
    ///
    /// @return sorted, without removed subvolumes that wait to be purged
    public List<String> state() {
        purge();
        List<String> lines = new ArrayList<>();
        Path volumes = at("/volumes");
        if (Files.exists(volumes)) {
            children(volumes).stream()
                    .filter(child -> !child.endsWith("_siphon-flush"))
                    .forEach(child -> describe(volumes, child, lines));
        }
        lines.sort(null);
        return lines;
    }

    /// Does the same as [#state()] for one group; writes the group's own name as `GROUP`.
    public List<String> state(String group) {
        Path volumes = at("/volumes");
        List<String> lines = new ArrayList<>();
        if (Files.exists(volumes.resolve(group))) {
            describe(volumes, volumes.resolve(group), lines);
        }
        children(volumes).stream()
                .filter(each -> each.getFileName().toString().startsWith("_" + group + ":"))
                .forEach(each -> describe(volumes, each, lines));
        Path clones = at("/volumes/_index/clone");
        if (Files.exists(clones)) {
            children(clones).stream()
                    .map(CephTree::target)
                    .filter(target -> target.contains(group))
                    .forEach(target -> lines.add("clone -> " + target));
        }
        return lines.stream().map(line -> line.replace(group, "GROUP")).sorted().toList();
    }

    /// Returns the subvolumes of a group, including those that only retain snapshots; sorted.
    public List<String> subvolumes(String group) {
        Path folder = at("/volumes/" + group);
        return Files.exists(folder)
                ? children(folder).stream()
                        .map(Path::getFileName)
                        .map(Path::toString)
                        .sorted()
                        .toList()
                : List.of();
    }

    /// Sets a directory's quota, as an administrator would by hand.
    public void setQuotaBytes(String path, long bytes) {
        // the JDK sets no attribute outside `user.`
        String script = "import os, sys; os.setxattr(sys.argv[1], 'ceph.quota.max_bytes', sys.argv[2].encode())";
        Command.run("python3", "-c", script, at(path).toString(), Long.toString(bytes));
    }

    /// Removes an empty group, as if its account had never had a volume.
    public void removeGroup(String group) {
        try {
            Files.deleteIfExists(at("/volumes/" + group));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Makes the file system one that never had a volume: sets `/volumes` aside until [#putBack].
    public void setAside() {
        try {
            Files.createDirectories(at("/volumes"));
            Files.move(at("/volumes"), at("/aside"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Replaces `/volumes` by the one that was set aside. The mgr may still be purging what was created meanwhile.
    public void putBack() {
        Path emptied = at("/volumes");
        if (Files.exists(emptied)) {
            purge();
            Await.until(
                    "/volumes is removed",
                    PURGE_LIMIT,
                    () -> Command.attempt("rm", "-rf", emptied.toString()).exit() == 0);
        }
        try {
            Files.move(at("/aside"), emptied);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Returns the subvolumegroups, sorted.
    public List<String> groups() {
        Path volumes = at("/volumes");
        return Files.exists(volumes)
                ? children(volumes).stream()
                        .filter(Files::isDirectory)
                        .map(each -> each.getFileName().toString())
                        .filter(name -> !name.startsWith("_"))
                        .sorted()
                        .toList()
                : List.of();
    }

    /// Waits until nothing is left to purge. The mgr purges at most four subvolumes a second
    /// (`volumes/fs/async_job.py` sleeps for a second after each). So this purges plain folders itself; the mgr
    /// purges the links to subvolumes that were removed with snapshots retained.
    public void purge() {
        Path deleting = at("/volumes/_deleting");
        if (!Files.exists(deleting)) {
            return;
        }
        // ignores the exit status: the mgr may remove the same things; the wait covers the rest
        var _ = Command.attempt("sh", "-c", PURGE, "purge", deleting.toString());
        Await.until(
                "the mgr's purge is done", PURGE_LIMIT, () -> children(deleting).isEmpty());
    }

    private static void describe(Path top, Path path, List<String> lines) {
        String name = UUID.matcher(top.relativize(path).toString()).replaceAll("UUID");
        if (Files.isSymbolicLink(path)) {
            lines.add(name + " -> " + target(path));
        } else if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
            lines.add(name + "/");
            snapshots(path).forEach(snapshot -> lines.add(name + "/.snap/" + snapshot));
            // a volume's files lie below its data directory
            if (!name.endsWith("UUID")) {
                children(path).forEach(child -> describe(top, child, lines));
            }
        } else {
            lines.add(name + " = " + content(path));
        }
    }

    private static List<String> snapshots(Path folder) {
        // an ancestor's snapshots show here too, as _NAME_INODE
        return children(folder.resolve(".snap")).stream()
                .map(each -> each.getFileName().toString())
                .filter(name -> !SNAPSHOT_INODE.matcher(name).matches())
                .sorted()
                .toList();
    }

    private static String target(Path link) {
        try {
            return UUID.matcher(Files.readSymbolicLink(link).toString()).replaceAll("UUID");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String content(Path file) {
        try {
            return UUID.matcher(Files.readString(file)).replaceAll("UUID").replace('\n', '|');
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<Path> children(Path folder) {
        try (Stream<Path> list = Files.list(folder)) {
            return list.toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        Command.run("umount", root.toString());
        try {
            Files.delete(root);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
