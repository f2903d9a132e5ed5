package dev.siphon.e2e.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;

/// The client that mounts CephFS: the kernel's in a guest, ceph-fuse elsewhere.
public enum CephClient {
    FUSE("ceph-fuse", "fuse"),
    KERNEL("kernel", "kernel");

    private final String title;
    private final String mounter;

    CephClient(String title, String mounter) {
        this.title = title;
        this.mounter = mounter;
    }

    /// Returns the client of the machine that this process runs on.
    public static CephClient here() {
        // lab.d/guest sets this for everything that runs in a guest
        return "kernel".equals(System.getenv("LAB_MOUNTER")) ? KERNEL : FUSE;
    }

    /// Returns the name for people.
    public String title() {
        return title;
    }

    /// Returns the name in a volume_context.
    public String mounter() {
        return mounter;
    }

    /// Returns the command that mounts a directory of a lab's file system; the caller appends the mount point.
    ///
    /// @param limit for the mount
    public List<String> mount(Lab lab, String userId, Path keyring, String directory, Duration limit) {
        return switch (this) {
            case FUSE ->
                List.of(
                        "ceph-fuse",
                        "--conf=" + lab.conf(),
                        "--id=" + userId,
                        "--keyring=" + keyring,
                        "--client_fs=" + lab.fileSystem(),
                        "--client_mountpoint=" + directory,
                        "--client_mount_timeout=" + limit.toSeconds());
            case KERNEL ->
                List.of(
                        "mount",
                        "-t",
                        "ceph",
                        "-o",
                        "conf=" + lab.conf() + ",secretfile=" + secretOf(keyring) + ",mount_timeout="
                                + limit.toSeconds(),
                        userId + "@." + lab.fileSystem() + "=" + directory);
        };
    }

    /// Writes the key into a file, as mount.ceph expects it.
    private static Path secretOf(Path keyring) {
        try {
            Path secret = Files.createTempFile(
                    "siphon-",
                    ".secret",
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            secret.toFile().deleteOnExit();
            Files.writeString(secret, Files.readString(keyring).replaceAll("(?s).*?key = ([^\\s]+).*", "$1"));
            return secret;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
