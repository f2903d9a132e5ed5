package dev.siphon.e2e.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;

/// What mounts CephFS: the kernel in a guest, which has a client, and ceph-fuse elsewhere.
public enum CephClient {
    FUSE("ceph-fuse", "fuse"),
    KERNEL("kernel", "kernel");

    private final String title;
    private final String mounter;

    CephClient(String title, String mounter) {
        this.title = title;
        this.mounter = mounter;
    }

    /// The one of the machine that this process runs on.
    public static CephClient here() {
        // lab.d/guest says so to all that runs in a guest
        return "kernel".equals(System.getenv("LAB_MOUNTER")) ? KERNEL : FUSE;
    }

    /// What people call it.
    public String title() {
        return title;
    }

    /// What a volume_context calls it.
    public String mounter() {
        return mounter;
    }

    /// The command that mounts a directory of a lab's file system; the mount point is to be added behind it.
    ///
    /// @param limit how long it may take
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

    /// The key goes by a file, as mount.ceph takes it.
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
