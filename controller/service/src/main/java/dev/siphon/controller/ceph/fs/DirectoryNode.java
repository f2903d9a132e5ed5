package dev.siphon.controller.ceph.fs;

import dev.siphon.csi.DriverException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;

/// A directory of a tree, by its name in its parent: in deep trees, the full paths of all waiting directories
/// would fill the memory.
///
/// @param parent empty for the root, whose name is unused
/// @param level 0 for the root
record DirectoryNode(Optional<DirectoryNode> parent, MountPath name, int level) {
    /// Maximum depth of a tree that is walked. A user can nest directories without end, and each call passes the
    /// full path: 256 KB for names of 255 bytes.
    static final int MOST_LEVELS = 1_000;

    static final DirectoryNode ROOT = new DirectoryNode(Optional.empty(), MountPath.of(""), 0);

    /// Returns a directory in this one.
    DirectoryNode child(MountPath entry) {
        return new DirectoryNode(Optional.of(this), entry, level + 1);
    }

    /// Returns its path.
    ///
    /// @param root the tree's root
    MountPath in(MountPath root) {
        Deque<MountPath> names = new ArrayDeque<>();
        for (DirectoryNode each = this; each.parent.isPresent(); each = each.parent.get()) {
            names.push(each.name);
        }
        StringBuilder path = new StringBuilder(root.bytes());
        names.forEach(each -> path.append('/').append(each.bytes()));
        return new MountPath(root.mounted(), path.toString());
    }

    boolean isTooDeep() {
        return level > MOST_LEVELS;
    }

    /// @throws DriverException.InUse (FAILED_PRECONDITION) if this is deeper than [#MOST_LEVELS]
    void requireWalkable(MountPath root) {
        if (isTooDeep()) {
            throw new DriverException.InUse(in(root).brief() + " is more than " + MOST_LEVELS
                    + " directories deep, and deeper ones are not copied; move or remove the lower ones,"
                    + " and start again from a new snapshot");
        }
    }
}
