package dev.siphon.controller.seal;

import dev.siphon.controller.ceph.CephAdapter;
import dev.siphon.controller.ceph.CephLab;
import dev.siphon.controller.ceph.FuseMount;
import dev.siphon.controller.ceph.KeyHolder;
import dev.siphon.controller.dataset.DatasetIdentities;
import dev.siphon.controller.dataset.DatasetVolumes;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.key.FileKeyStore;
import dev.siphon.controller.key.MintedIdentity;
import dev.siphon.controller.key.VolumeKey;
import dev.siphon.controller.key.VolumeKeys;
import dev.siphon.controller.volume.AccountAccess;
import dev.siphon.controller.volume.Callers;
import dev.siphon.controller.volume.ClassParameters;
import dev.siphon.controller.volume.ControllerDomain;
import dev.siphon.controller.volume.DatasetPlace;
import dev.siphon.controller.volume.FileTree;
import dev.siphon.controller.volume.InMemoryDirectory;
import dev.siphon.controller.volume.Owners;
import dev.siphon.controller.volume.SnapshotClass.Modes;
import dev.siphon.controller.volume.SnapshotClass.Sealing;
import dev.siphon.controller.volume.SnapshotClass.SnapshotRequest;
import dev.siphon.controller.volume.SnapshotView;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.controller.volume.VolumeRequest;
import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Stream;

/// A driver with keys that seals snapshots on the lab's cluster. Tests do the work of its packers. The accounts are
/// `u1`, `u2`, and `limited`, which has an allowance.
final class SealLab implements AutoCloseable {
    static final long MIB = 1 << 20;
    static final long ALLOWANCE = 64 * MIB;
    private static final int SIZE_MIB = 32;
    private static final Duration KEY_FOLLOWS = Duration.ofSeconds(20);

    final CephAdapter adapter = CephLab.adapter();
    final InMemorySealing cluster = new InMemorySealing();
    final FileKeyStore store;
    final ControllerDomain domain;
    final SealedSnapshots sealed;
    private final Path folder;
    private final VolumeKeys keys;
    private final FuseMount admin;
    private final List<VolumeId.Provisioned> made = new ArrayList<>();

    /// The location of a directory's objects, and one of them.
    record Objects(String pool, String namespace, String one) {
        /// Returns the `rados` arguments for this location.
        String[] with(String... words) {
            return Stream.concat(Stream.of("--pool", pool, "--namespace", namespace), Stream.of(words))
                    .toArray(String[]::new);
        }
    }

    /// A volume with the file `file`, and the holder of its key.
    ///
    /// @param mountPath what the key mounts
    /// @param folder its data directory, relative to `mountPath`
    record Held(
            String name, VolumeId.Provisioned id, String mountPath, String folder, KeyHolder key, Objects objects) {}

    SealLab(Path folder) throws IOException {
        this.folder = folder;
        store = new FileKeyStore(Files.createDirectory(
                folder.resolve("keys"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"))));
        keys = new VolumeKeys(adapter.ports(), adapter.identities(), store, CephLab.PATIENT);
        domain = ControllerDomain.over(
                adapter.ports(),
                new Owners(
                        new InMemoryDirectory(Map.of(
                                "u1", account("u1", 10_001, OptionalLong.empty()),
                                "u2", account("u2", 10_002, OptionalLong.empty()),
                                "limited", account("limited", 10_003, OptionalLong.of(ALLOWANCE)))),
                        Optional.empty(),
                        Optional.empty()),
                new Callers(keys, AccountAccess.NONE),
                CephLab.PATIENT);
        FileTree files = adapter.ports().files();
        sealed = new SealedSnapshots(
                new SealedSnapshots.Ports(
                        adapter.ports(),
                        cluster.datasets(),
                        new DatasetVolumes.Keys(
                                new DatasetIdentities(files, adapter.identities(), Optional::empty), store),
                        adapter.identities(),
                        adapter.clientSessions(),
                        cluster,
                        Duration.ZERO),
                domain);
        admin = FuseMount.mount();
        Files.createDirectories(admin.at(Dataset.DIRECTORY));
    }

    private static Account account(String name, int uid, OptionalLong allowance) {
        return new Account(name, "sealing-" + name, uid, uid, Set.of(name), allowance);
    }

    /// Creates an empty volume of an account.
    VolumeId.Provisioned empty(String name, String owner, int mebibytes) {
        VolumeId.Provisioned id = (VolumeId.Provisioned) domain.volumes()
                .create(new VolumeRequest(
                        name,
                        new CapacityRange(mebibytes * MIB, 0),
                        ClassParameters.parse(Map.of("owner", owner)),
                        false,
                        Optional.empty()))
                .id();
        made.add(id);
        return id;
    }

    /// Deletes a volume before the end of the test.
    void remove(VolumeId.Provisioned volume) {
        domain.volumes().delete(volume);
        made.remove(volume);
    }

    /// Creates a volume of 32 MiB, with a file of 8 MiB.
    Held volume(String name, String owner) throws IOException {
        VolumeId.Provisioned id = empty(name, owner, SIZE_MIB);
        CephLab.await(KEY_FOLLOWS, () -> store.find(id).isPresent());
        String group = SubvolumeGroup.of(id).path();
        String data =
                adapter.ports().files().dataDirectory(id.cluster(), id.fileSystem(), group + "/" + id.subvolume());
        file(data + "/file", new byte[(int) (8 * MIB)]);
        return new Held(
                name,
                id,
                group,
                data.substring(group.length() + 1),
                holder(store.find(id).orElseThrow()),
                objects(data, "file"));
    }

    /// Creates a directory like that of an image.
    void makeDirectory(String path) {
        adapter.ports().files().makeDirectory("lab", CephLab.fileSystem(), path, "dataset-" + path.replace('/', '-'));
    }

    /// Writes a file as the administrator.
    void file(String path, byte[] content) throws IOException {
        try (var out = Files.newOutputStream(admin.at(path))) {
            out.write(content);
        }
    }

    /// Deletes a file and its directory.
    void removeDirectoryOf(String path) throws IOException {
        Files.delete(admin.at(path));
        Files.delete(admin.at(path).getParent());
    }

    /// Returns whether a packer of this snapshot was started.
    boolean hasPacker(SnapshotId snapshot) {
        return cluster.packers.containsKey(place(snapshot).packer());
    }

    /// Returns the location of a file's objects.
    Objects objects(String directory, String file) throws IOException {
        FileTree.Layout layout = adapter.ports().files().layout("lab", CephLab.fileSystem(), directory);
        Object inode = Files.getAttribute(admin.at(directory + "/" + file), "unix:ino");
        return new Objects(layout.pool(), layout.namespace(), Long.toHexString((Long) inode) + ".00000000");
    }

    KeyHolder holder(VolumeKey key) {
        return KeyHolder.of(key, folder);
    }

    /// Returns the caps of a minted identity, by service.
    Map<String, String> caps(String userId) {
        return adapter.identities().minted("lab", userId).stream()
                .filter(each -> each.userId().equals(userId))
                .map(MintedIdentity::caps)
                .findFirst()
                .orElseThrow();
    }

    /// Requests a sealed snapshot of a volume, once.
    SnapshotView ask(VolumeId.Provisioned volume, String name) {
        return sealed.create(volume, name, new Sealing(Modes.READABLE, new SnapshotRequest("namespace", name)));
    }

    DatasetPlace place(SnapshotId snapshot) {
        return DatasetPlace.of(snapshot).orElseThrow();
    }

    @Override
    public void close() {
        made.forEach(domain.volumes()::delete);
        keys.close();
        try (adapter;
                admin) {
            Files.delete(admin.at(Dataset.DIRECTORY));
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
