package dev.siphon.node.mount;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Monitors;
import dev.siphon.csi.VolumeId;
import dev.siphon.node.linux.DetachedMount;
import dev.siphon.node.linux.DirectoryHandle;
import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.linux.MountFlag;
import dev.siphon.node.linux.MountSyscalls;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.linux.Workplace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// The contract of [Mounter], for every client.
abstract class MounterContract {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    final Workplace workplace = Workplace.create();

    abstract Mounter mounter();

    /// Returns an existing volume; `path` contains the writable directory [#writable].
    abstract ClientMount volume();

    /// Returns a directory below the root of [#volume] that its credentials may write.
    abstract String writable();

    /// Returns well-formed credentials that the cluster does not know.
    abstract CephCredentials unknown();

    /// Returns the exception for a file system that does not exist.
    Class<? extends DriverException> unknownFileSystem() {
        return DriverException.NotFound.class;
    }

    @AfterEach
    void leaveNothing() {
        workplace.close();
    }

    private ClientMount with(String fileSystem, String path, CephCredentials credentials, String... options) {
        ClientMount volume = volume();
        return new ClientMount(
                volume.volume(),
                volume.monitors(),
                fileSystem,
                path,
                credentials,
                ClientOptions.of(List.of(options), false));
    }

    private MountEntry mounted(ClientMount mount, Path point) {
        mounter().mount(mount, point, LIMIT);
        return MountTable.read().at(point.toString()).orElseThrow();
    }

    private void end(MountEntry entry) {
        MountSyscalls.unmount(entry.mountPoint());
        mounter().awaitEnd(entry, LIMIT);
    }

    @Test
    void whatIsWrittenThroughOneMountIsReadThroughTheNext() throws IOException {
        Path point = workplace.directory("one");
        MountEntry entry = mounted(volume(), point);
        Files.writeString(point.resolve(writable()).resolve("file"), "kept");
        end(entry);
        assertFalse(Files.exists(point.resolve(writable())));
        entry = mounted(volume(), point);
        assertEquals("kept", Files.readString(point.resolve(writable()).resolve("file")));
        end(entry);
    }

    @Test
    void itRecognizesWhatItMountedAndBindsOfIt() {
        Path point = workplace.directory("one");
        Path bound = workplace.directory("bound");
        MountEntry entry = mounted(volume(), point);
        try (DirectoryHandle root = DirectoryHandle.open(point.toString());
                DirectoryHandle data = root.openBelow(writable());
                DirectoryHandle target = DirectoryHandle.open(bound.toString());
                DetachedMount clone = data.cloneMount()) {
            clone.restrict(Set.of(MountFlag.NO_DEV));
            clone.attach(target);
        }
        MountEntry bind = MountTable.read().at(bound.toString()).orElseThrow();
        MountedVolume recognized = mounter().recognize(bind).orElseThrow();
        assertTrue(recognized.is(volume().volume()));
        assertFalse(recognized.is(VolumeId.parse("s1:lab:other:g:v")));
        assertEquals(hosts(volume().monitors()), hosts(((MountedVolume.OfClient) recognized).monitors()));
        assertEquals(entry.device(), bind.device());
        assertTrue(mounter().recognize(entry).isPresent());
        MountSyscalls.unmount(bound.toString());
        end(entry);
    }

    private static List<String> hosts(Monitors monitors) {
        return monitors.entries().stream()
                .map(monitor -> monitor.preferred().toString())
                .toList();
    }

    @Test
    void itRecognizesNothingElse() {
        MountTable.read()
                .entries()
                .forEach(entry -> assertEquals(Optional.empty(), mounter().recognize(entry)));
    }

    @Test
    void eachMountIsAClientOfItsOwn() {
        MountEntry one = mounted(volume(), workplace.directory("one"));
        MountEntry two = mounted(volume(), workplace.directory("two"));
        assertNotEquals(one.device(), two.device());
        end(one);
        end(two);
    }

    @Test
    void aReadOnlyClientRefusesWrites() {
        Path point = workplace.directory("one");
        ClientMount volume = volume();
        MountEntry entry =
                mounted(with(volume.fileSystem(), volume.path(), volume.credentials(), "ro", "noatime"), point);
        assertThrows(
                IOException.class,
                () -> Files.writeString(point.resolve(writable()).resolve("no"), "no"));
        end(entry);
    }

    @Test
    void whatDoesNotExistIsNotFoundAndLeavesNothing() {
        Path point = workplace.directory("one");
        ClientMount volume = volume();
        ClientMount lostPath = with(volume.fileSystem(), "/volumes/none", volume.credentials());
        assertThrows(DriverException.NotFound.class, () -> mounter().mount(lostPath, point, LIMIT));
        assertEquals(List.of(), workplace.mounts());
        ClientMount lostFileSystem = with("none", volume.path(), volume.credentials());
        assertThrows(unknownFileSystem(), () -> mounter().mount(lostFileSystem, point, LIMIT));
        assertEquals(List.of(), workplace.mounts());
    }

    @Test
    void unknownCredentialsAreDeniedAndNotShown() {
        Path point = workplace.directory("one");
        ClientMount volume = volume();
        CephCredentials unknown = unknown();
        CephCredentials wrongKey =
                credentials(volume.credentials().userId(), unknown.key().reveal());
        for (CephCredentials bad : List.of(unknown, wrongKey)) {
            var e = assertThrows(
                    DriverException.AccessDenied.class,
                    () -> mounter().mount(with(volume.fileSystem(), volume.path(), bad), point, LIMIT));
            assertFalse(String.valueOf(e.getMessage()).contains(bad.key().reveal()));
            assertEquals(List.of(), workplace.mounts());
        }
    }

    static CephCredentials credentials(String user, String key) {
        return CephCredentials.fromSecrets(Map.of("userID", user, "userKey", key));
    }
}
