package dev.siphon.controller.dataset;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.controller.ceph.CephLab;
import dev.siphon.controller.ceph.FuseMount;
import dev.siphon.controller.ceph.KeyHolder;
import dev.siphon.controller.key.VolumeKey;
import dev.siphon.controller.volume.FileTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// A dataset's directory on the lab's cluster, mounted with various keys. It has files called `one`, `two` and so
/// on, each containing its number.
///
/// @param path in the file system
/// @param folder for keyrings
record KeyedDirectory(String path, Path folder) {
    private static final List<String> FILES = List.of("one", "two", "three");

    void make(FileTree files, String radosNamespace) throws IOException {
        try (FuseMount admin = FuseMount.mount()) {
            Files.createDirectories(admin.at("/datasets"));
            files.makeDirectory("lab", CephLab.fileSystem(), path, radosNamespace);
            for (int i = 0; i < FILES.size(); i++) {
                Files.writeString(admin.at(path + "/" + FILES.get(i)), Integer.toString(i + 1));
            }
        }
    }

    void remove() throws IOException {
        try (FuseMount admin = FuseMount.mount()) {
            for (String name : FILES) {
                Files.delete(admin.at(path + "/" + name));
            }
            Files.delete(admin.at(path));
            Files.delete(admin.at("/datasets"));
        }
    }

    /// Mounts the directory with a key.
    ///
    /// @param host the host name that the client reports
    FuseMount mount(String host, VolumeKey key) throws IOException {
        KeyHolder holder = KeyHolder.of(key, folder);
        return FuseMount.mountAs(
                host,
                "--id",
                holder.userId(),
                "--keyring",
                holder.keyring().toString(),
                "-r",
                path,
                "--client_mount_timeout=20");
    }

    boolean canMount(VolumeKey key) {
        return KeyHolder.of(key, folder).in(path, root -> assertEquals("1", Files.readString(root.resolve("one"))));
    }
}
