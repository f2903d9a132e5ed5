package dev.siphon.node.image;

import dev.siphon.csi.DriverException;
import dev.siphon.node.linux.FileStatus;
import dev.siphon.node.tar.TarMember;
import dev.siphon.node.tar.TarPath;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/// The tree that a tar would unpack to. The last of several members with one name wins. Missing parent directories
/// are implied. Hard links refer to earlier members. Symbolic links are not followed, so nothing leads out of the
/// tree.
///
/// A file's inode number is the offset of its content in the tar.
final class TarTree {
    private static final int DIRECTORY = 0x4000;
    private static final int REGULAR = 0x8000;
    private static final int SYMLINK = 0xa000;
    private static final int SPECIAL = 0x1000;
    private static final int IMPLIED_PERMISSIONS = 0755;
    private static final long MAX_ID = 0xffff_ffffL;

    private final ImageModes modes;
    private final int strip;
    private final FileStatus tar;
    private final Branch root;
    private final SkippedFiles skippedFiles = new SkippedFiles();

    /// @param strip how many leading parts of each name are removed
    /// @param tar the status of the tar file
    TarTree(ImageModes modes, int strip, FileStatus tar) {
        this.modes = modes;
        this.strip = strip;
        this.tar = tar;
        root = new Branch(implied());
    }

    private abstract static sealed class Node {
        FileStatus status;
        byte[] attributes = ExtendedAttributes.NONE;

        private Node(FileStatus status) {
            this.status = status;
        }
    }

    private static final class Branch extends Node {
        private Map<String, Node> children = HashMap.newHashMap(2);

        Branch(FileStatus status) {
            super(status);
        }
    }

    private static final class Leaf extends Node {
        private final String target;

        Leaf(FileStatus status, String target) {
            super(status);
            this.target = target;
        }
    }

    /// @throws DriverException InvalidRequest (INVALID_ARGUMENT) for a member that no tree can have,
    ///     CapacityOutOfRange (OUT_OF_RANGE) if it exceeds the limits of EROFS
    void add(TarMember member) {
        List<String> parts = TarPath.parts(member.path(), strip, member.offset());
        if (!parts.isEmpty()) {
            add(member, above(member, parts), parts.getLast());
        } else if (member.kind() == TarMember.Kind.DIRECTORY) {
            describe(root, member);
        } else if (strip == 0) {
            throw TarPath.refused(member, "has no name");
        }
    }

    private void add(TarMember member, Branch above, String name) {
        switch (member.kind()) {
            case DIRECTORY -> {
                if (above.children.get(name) instanceof Branch existing) {
                    describe(existing, member);
                } else {
                    Branch branch = new Branch(implied());
                    describe(branch, member);
                    above.children.put(name, branch);
                }
            }
            case HARD_LINK -> {
                Leaf linked = linked(member);
                if (above.children.get(name) != linked) {
                    linked.status = status(linked.status, 2);
                    replace(member, above, name, linked);
                }
            }
            case FILE -> leaf(member, above, name, REGULAR);
            case SYMLINK -> leaf(member, above, name, SYMLINK);
            case SPECIAL -> leaf(member, above, name, SPECIAL);
        }
    }

    private void leaf(TarMember member, Branch above, String name, int type) {
        Leaf leaf = new Leaf(status(member, type), type == SYMLINK ? member.link() : "");
        leaf.attributes = attributes(member);
        replace(member, above, name, leaf);
    }

    private static void replace(TarMember member, Branch above, String name, Leaf leaf) {
        if (above.children.put(name, leaf) instanceof Branch earlier && !earlier.children.isEmpty()) {
            throw TarPath.refused(member, "has the name of a directory that other members are in");
        }
    }

    private void describe(Branch branch, TarMember member) {
        branch.status = status(member, DIRECTORY);
        branch.attributes = attributes(member);
    }

    private Branch above(TarMember member, List<String> parts) {
        Branch branch = root;
        for (String part : parts.subList(0, parts.size() - 1)) {
            branch = switch (branch.children.computeIfAbsent(part, _ -> new Branch(implied()))) {
                case Branch inner -> inner;
                case Leaf _ ->
                    throw TarPath.refused(member, "is below " + TarPath.quoted(part) + ", which is not a directory");
            };
        }
        return branch;
    }

    private Leaf linked(TarMember member) {
        Node node = root;
        for (String part : TarPath.parts(member.link(), strip, member.offset())) {
            Optional<Node> next =
                    node instanceof Branch branch ? Optional.ofNullable(branch.children.get(part)) : Optional.empty();
            node = next.orElseThrow(() -> dangling(member));
        }
        return switch (node) {
            case Leaf leaf -> leaf;
            case Branch _ -> throw dangling(member);
        };
    }

    private static DriverException dangling(TarMember member) {
        return TarPath.refused(
                member, "is a hard link to " + TarPath.quoted(member.link()) + ", and no file before it has that name");
    }

    private byte[] attributes(TarMember member) {
        SortedMap<String, byte[]> kept = new TreeMap<>(member.attributes());
        // a tar stores access lists in another format
        kept.keySet().removeIf(name -> !ExtendedAttributes.keeps(ImageModes.READABLE, name));
        return kept.isEmpty()
                ? ExtendedAttributes.NONE
                : ExtendedAttributes.encoded(kept, TarPath.quoted(member.path()));
    }

    /// Returns the status of a directory without a member of its own.
    private FileStatus implied() {
        return status(
                DIRECTORY | IMPLIED_PERMISSIONS,
                0,
                0,
                new TarMember.Content(0, 0, List.of()),
                new TarMember.Time(0, 0));
    }

    private FileStatus status(TarMember member, int type) {
        return status(
                type | member.permissions(),
                id(member, member.uid()),
                id(member, member.gid()),
                member.content(),
                member.modified());
    }

    private int id(TarMember member, long id) {
        if (modes == ImageModes.PRESERVED && (id < 0 || id >= MAX_ID)) {
            throw TarPath.refused(member, "is owned by " + id + ", which is not a valid id on Linux");
        }
        return (int) id;
    }

    private FileStatus status(int mode, int uid, int gid, TarMember.Content content, TarMember.Time modified) {
        return new FileStatus(
                mode,
                1,
                uid,
                gid,
                content.at(),
                tar.device(),
                tar.mount(),
                content.size(),
                modified.seconds(),
                modified.nanos(),
                tar.changedSeconds(),
                tar.changedNanos());
    }

    private static FileStatus status(FileStatus of, int links) {
        return new FileStatus(
                of.mode(),
                links,
                of.uid(),
                of.gid(),
                of.inode(),
                of.device(),
                of.mount(),
                of.size(),
                of.modifiedSeconds(),
                of.modifiedNanos(),
                of.changedSeconds(),
                of.changedNanos());
    }

    private record Pending(Branch branch, ImageInode.Folder folder) {}

    /// Returns the whole tree. Frees the collected members on the way, so it works only once.
    ImageInode.Folder build(PackListener listener) {
        ImageInode.Folder top = new ImageInode.Folder(root.status, root.attributes);
        Deque<Pending> pending = new ArrayDeque<>();
        pending.push(new Pending(root, top));
        while (!pending.isEmpty()) {
            Pending next = pending.pop();
            List<ImageInode> found = new ArrayList<>(next.branch().children.size());
            next.branch().children.forEach((name, node) -> {
                byte[] octets = name.getBytes(StandardCharsets.ISO_8859_1);
                ErofsLimits.checkName(next.folder(), octets);
                switch (node) {
                    case Branch branch -> {
                        var folder = new ImageInode.Folder(next.folder(), octets, branch.status, branch.attributes);
                        found.add(folder);
                        pending.push(new Pending(branch, folder));
                    }
                    case Leaf leaf -> inode(next.folder(), octets, leaf).ifPresent(found::add);
                }
            });
            next.folder().fill(found);
            next.branch().children = Map.of();
        }
        skippedFiles.reportTo(listener);
        return top;
    }

    private Optional<ImageInode> inode(ImageInode.Folder folder, byte[] name, Leaf leaf) {
        return switch (leaf.status.kind()) {
            case REGULAR -> Optional.of(new ImageInode.RegularFile(folder, name, leaf.status, leaf.attributes));
            case SYMLINK -> {
                byte[] target = leaf.target.getBytes(StandardCharsets.ISO_8859_1);
                ErofsLimits.checkTarget(folder, name, target);
                yield Optional.of(new ImageInode.Symlink(folder, name, leaf.status, target));
            }
            case DIRECTORY, SPECIAL -> {
                skippedFiles.add(TreePath.quoted(folder, name));
                yield Optional.empty();
            }
        };
    }
}
