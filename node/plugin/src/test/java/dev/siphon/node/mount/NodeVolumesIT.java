package dev.siphon.node.mount;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.node.linux.MountFlag;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.linux.Workplace;
import dev.siphon.node.mount.VolumeUse.PublishAccessMode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// How the node handles subvolumes that the mgr did not leave intact, and mounts that others change: real mounts,
/// without Ceph.
class NodeVolumesIT {
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final VolumeId VOLUME = VolumeId.parse("s1:lab:fs:g:v");
    private static final String DATA = "0123abcd-0000-1111-2222-0123456789ab";

    private final Workplace workplace = Workplace.create();
    private final BlockingCalls calls = new BlockingCalls();
    private final Path subvolume = workplace.directory("cluster/fs/volumes/g/v");
    private final Path staging = workplace.directory("staging");
    private final Path target = workplace.directory("pod").resolve("target");
    private NodeVolumes volumes = volumes();

    private NodeVolumes volumes() {
        return OverlayMounter.volumes(workplace, calls, LONG);
    }

    @BeforeEach
    void makeData() throws IOException {
        Files.createDirectory(subvolume.resolve(DATA));
        Files.writeString(subvolume.resolve(".meta"), "version = 2");
        Files.writeString(subvolume.resolve(DATA).resolve("file"), "content");
    }

    @AfterEach
    void leaveNothing() {
        workplace.close();
        calls.close();
    }

    private static CephCredentials credentials() {
        return MounterContract.credentials("u", CephCredentialsTest.AES_KEY);
    }

    private static VolumeContext context(String dataPath, String... options) {
        return VolumeContext.fromMap(
                VOLUME,
                options.length == 0
                        ? Map.of("monitors", "10.0.0.1", "dataPath", dataPath)
                        : Map.of(
                                "monitors",
                                "10.0.0.1",
                                "dataPath",
                                dataPath,
                                "mountOptions",
                                String.join(",", options)));
    }

    private static VolumeUse use(PublishAccessMode mode, String... options) {
        return new VolumeUse(mode, List.of(options), false);
    }

    private void stage(VolumeContext context, VolumeUse use) {
        TargetPath path = TargetPath.parse("staging_target_path", staging.toString());
        volumes.stage(new StageRequest(VOLUME, path, context, use, credentials()), LONG);
    }

    private void stage() {
        stage(context("v"), use(PublishAccessMode.MULTI_NODE_MULTI_WRITER));
    }

    private void publish(VolumeUse use) {
        volumes.publish(
                new PublishRequest(
                        VOLUME,
                        TargetPath.parse("staging_target_path", staging.toString()),
                        TargetPath.parse("target_path", target.toString()),
                        use,
                        Optional.empty(),
                        Optional.empty(),
                        new CachePreference.AnyDirectory()),
                LONG);
    }

    private void unstage() {
        volumes.unstage(VOLUME, TargetPath.parse("staging_target_path", staging.toString()), LONG);
    }

    private static Set<MountFlag> flags(Path path) {
        return MountTable.read().at(path.toString()).orElseThrow().flags();
    }

    @Test
    void theDataDirectoryAloneIsShown() throws IOException {
        stage();
        assertEquals("content", Files.readString(staging.resolve("file")));
        assertFalse(Files.exists(staging.resolve(".meta")));
        assertEquals(List.of(staging.toString()), workplace.mounts());
        unstage();
    }

    @Test
    void noDataDirectoryIsNotFound() throws IOException {
        Files.move(subvolume.resolve(DATA), subvolume.resolve("not-a-uuid"));
        assertThrows(DriverException.NotFound.class, this::stage);
        assertThrows(
                DriverException.NotFound.class,
                () -> stage(context("none"), use(PublishAccessMode.MULTI_NODE_MULTI_WRITER)));
        assertEquals(List.of(), workplace.mounts());
    }

    @Test
    void severalDataDirectoriesAreAFault() throws IOException {
        Files.createDirectory(subvolume.resolve("ffffffff-0000-1111-2222-0123456789ab"));
        assertThrows(DriverException.BackendFault.class, this::stage);
        assertEquals(List.of(), workplace.mounts());
    }

    @Test
    void aLinkInPlaceOfTheDataDirectoryIsNotFollowed() throws IOException {
        Path others = workplace.directory("cluster/fs/volumes/g/other");
        Files.move(subvolume.resolve(DATA), others.resolve(DATA));
        Files.createSymbolicLink(subvolume.resolve(DATA), Path.of("../other", DATA));
        assertThrows(DriverException.BackendFault.class, this::stage);
        assertEquals(List.of(), workplace.mounts());
    }

    @Test
    void aLinkInPlaceOfTheSubvolumeIsNotFollowed() throws IOException {
        Files.move(subvolume, subvolume.resolveSibling("moved"));
        Files.createSymbolicLink(subvolume, Path.of("moved"));
        assertThrows(DriverException.BackendFault.class, this::stage);
        assertEquals(List.of(), workplace.mounts());
    }

    @Test
    void aFileInPlaceOfTheDataDirectoryIsAFault() throws IOException {
        Files.delete(subvolume.resolve(DATA).resolve("file"));
        Files.delete(subvolume.resolve(DATA));
        Files.writeString(subvolume.resolve(DATA), "a file");
        assertThrows(DriverException.BackendFault.class, this::stage);
        assertEquals(List.of(), workplace.mounts());
    }

    @Test
    void optionsBecomeFlagsOfTheMount() {
        VolumeUse use = use(PublishAccessMode.MULTI_NODE_MULTI_WRITER, "noexec");
        stage(context("v", "noatime"), use);
        Set<MountFlag> staged = Set.of(MountFlag.NO_SUID, MountFlag.NO_DEV, MountFlag.NO_ATIME, MountFlag.NO_EXEC);
        assertEquals(staged, flags(staging));
        publish(use(PublishAccessMode.MULTI_NODE_MULTI_WRITER, "ro"));
        assertTrue(flags(target).containsAll(staged), "never less than what was staged");
        assertTrue(flags(target).contains(MountFlag.READ_ONLY));
        assertFalse(flags(staging).contains(MountFlag.READ_ONLY));
        assertThrows(DriverException.IncompatibleExisting.class, this::stage);
    }

    @Test
    void aSecondMountOnTheSamePathIsTakenAwayToo() {
        stage();
        publish(use(PublishAccessMode.MULTI_NODE_MULTI_WRITER));
        dev.siphon.node.linux.Programs.run("mount", "--bind", staging.toString(), target.toString());
        volumes.unpublish(VOLUME, TargetPath.parse("target_path", target.toString()), LONG);
        assertFalse(Files.exists(target));
        unstage();
    }

    @Test
    void aMountThatIsInUseIsLeft() throws IOException {
        stage();
        try (var _ = Files.newInputStream(staging.resolve("file"))) {
            assertThrows(DriverException.InUse.class, this::unstage);
            assertEquals("content", Files.readString(staging.resolve("file")));
        }
        unstage();
        assertEquals(List.of(), workplace.mounts());
    }

    @Test
    void anotherRunKnowsWhatThisOneMounted() {
        stage();
        publish(use(PublishAccessMode.MULTI_NODE_MULTI_WRITER));
        volumes = volumes();
        volumes.recover();
        stage();
        publish(use(PublishAccessMode.MULTI_NODE_MULTI_WRITER));
        assertEquals(2, workplace.mounts().size());
        volumes.unpublish(VOLUME, TargetPath.parse("target_path", target.toString()), LONG);
        unstage();
        assertEquals(List.of(), workplace.mounts());
    }
}
