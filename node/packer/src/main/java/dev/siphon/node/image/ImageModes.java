package dev.siphon.node.image;

import dev.siphon.node.linux.FileStatus;

/// Owners and permissions in an image.
public enum ImageModes {
    /// Everybody who may mount the dataset may read all of it. Everything belongs to root and is readable by
    /// everybody (`a+rX`). Write bits are cleared, because the file system is read-only. Setuid, setgid and sticky
    /// are cleared, because a setuid program of some account would run as root. So images of the same files are
    /// equal, whoever owned them. The right to mount decides about access (docs/how-to/publish-datasets.md). A
    /// file that anybody may execute is executable by everybody.
    READABLE {
        @Override
        int permissions(FileStatus status) {
            return switch (status.kind()) {
                case SYMLINK -> ALL;
                case DIRECTORY -> READ | EXECUTE;
                case REGULAR, SPECIAL -> (status.permissions() & EXECUTE) == 0 ? READ : READ | EXECUTE;
            };
        }

        @Override
        int uid(FileStatus status) {
            return 0;
        }

        @Override
        int gid(FileStatus status) {
            return 0;
        }

        @Override
        boolean keepsAccessLists() {
            return false;
        }
    },
    /// Keeps owners and permissions, with POSIX access lists: for data whose own permissions decide who may read
    /// it.
    PRESERVED {
        @Override
        int permissions(FileStatus status) {
            return status.permissions();
        }

        @Override
        int uid(FileStatus status) {
            return status.uid();
        }

        @Override
        int gid(FileStatus status) {
            return status.gid();
        }

        @Override
        boolean keepsAccessLists() {
            return true;
        }
    };

    private static final int READ = 0444;
    private static final int EXECUTE = 0111;
    private static final int ALL = 0777;

    /// Returns the lowest 12 bits of the mode in the image.
    abstract int permissions(FileStatus status);

    abstract int uid(FileStatus status);

    abstract int gid(FileStatus status);

    abstract boolean keepsAccessLists();
}
