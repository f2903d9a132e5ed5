package dev.siphon.node.image;

import dev.siphon.node.linux.FileStatus;

/// Who may read what in an image.
public enum ImageModes {
    /// Whoever may mount the dataset may read all of it: everything is root's, readable by everybody (`a+rX`),
    /// with no write bits, which would promise what a read-only file system does not keep, and without setuid,
    /// setgid and sticky. Those would have to go in any case: what belonged to some account and ran as it would
    /// run as root. So images of the same files are equal whoever owned them. Access is decided by who may
    /// mount, as docs/datasets.md has it. Execution is everybody's if it was anybody's.
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
    /// As they are, with POSIX access lists: for data whose own permissions say who may read it.
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

    /// The lowest 12 bits of the mode that the image gives a file.
    abstract int permissions(FileStatus status);

    abstract int uid(FileStatus status);

    abstract int gid(FileStatus status);

    abstract boolean keepsAccessLists();
}
