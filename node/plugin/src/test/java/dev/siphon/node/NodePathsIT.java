package dev.siphon.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.node.linux.Programs;
import dev.siphon.node.linux.Workplace;
import io.grpc.Status.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/// Paths that an attacker has prepared, with a volume staged from a real Ceph.
class NodePathsIT {
    private static final long MIB = 1 << 20;

    private static Optional<Lab.Volume> made = Optional.empty();

    private final Workplace workplace = Workplace.create();
    private final NodeProcess node = NodeProcess.start(workplace.directory("node"));
    private final Path staging = workplace.directory("staging");
    private final Path pod = workplace.directory("pod");

    @BeforeAll
    static void makeVolume() {
        made = Optional.of(Lab.createVolume(Lab.createGroup(64 * MIB), 32 * MIB));
    }

    @BeforeEach
    void stage() {
        node.stub().nodeStageVolume(Requests.stage(volume(), staging));
    }

    @AfterEach
    void unstage() {
        node.stub().nodeUnstageVolume(Requests.unstage(volume(), staging));
        assertEquals(List.of(), workplace.mounts());
        node.close();
        workplace.close();
    }

    private static Lab.Volume volume() {
        return made.orElseThrow();
    }

    private static void refused(Code code, String word, Executable call) {
        String message = Refusals.refused(code, call);
        assertTrue(message.contains(word), message);
    }

    private void publishRefused(Code code, String word, Path target) {
        refused(code, word, () -> node.stub().nodePublishVolume(Requests.publish(volume(), staging, target)));
        assertEquals(List.of(staging.toString()), shown());
    }

    /// Returns the mounts here, without the client's own root.
    private List<String> shown() {
        return workplace.mounts().stream()
                .filter(point -> !point.contains("/state/mounts/"))
                .toList();
    }

    @Test
    void aLinkAsTargetIsRefusedAndNotFollowed() throws IOException {
        Path elsewhere = workplace.directory("elsewhere");
        Path link = Files.createSymbolicLink(pod.resolve("target"), elsewhere);
        publishRefused(Code.INVALID_ARGUMENT, "symbolic link", link);
        node.stub().nodeUnpublishVolume(Requests.unpublish(volume(), workplace.path("pod/none")));
        refused(
                Code.INVALID_ARGUMENT,
                "not a directory",
                () -> node.stub().nodeUnpublishVolume(Requests.unpublish(volume(), link)));
        assertTrue(Files.isSymbolicLink(link) && Files.isDirectory(elsewhere));
    }

    @Test
    void aLinkOnTheWayIsRefused() throws IOException {
        Path elsewhere = workplace.directory("elsewhere");
        Files.createDirectory(elsewhere.resolve("target"));
        Path link = Files.createSymbolicLink(pod.resolve("link"), elsewhere);
        publishRefused(Code.INVALID_ARGUMENT, "symbolic link", link.resolve("target"));
        publishRefused(Code.INVALID_ARGUMENT, "symbolic link", link.resolve("other"));
        assertFalse(Files.exists(elsewhere.resolve("other")));
        refused(
                Code.INVALID_ARGUMENT,
                "symbolic link",
                () -> node.stub().nodeUnpublishVolume(Requests.unpublish(volume(), link.resolve("target"))));
        assertTrue(Files.isDirectory(elsewhere.resolve("target")));
    }

    @Test
    void aTargetInsideAVolumeIsRefused() throws IOException {
        Files.createDirectories(staging.resolve("inner"));
        publishRefused(Code.INVALID_ARGUMENT, "inside a volume", staging.resolve("inner/target"));
        assertFalse(Files.exists(staging.resolve("inner/target")));
    }

    @Test
    void theDriversOwnDirectoryIsRefused() {
        publishRefused(Code.INVALID_ARGUMENT, "own directory", workplace.path("node/state/target"));
        publishRefused(Code.INVALID_ARGUMENT, "own directory", workplace.path("node/state"));
        publishRefused(Code.INVALID_ARGUMENT, "own directory", workplace.path("node"));
    }

    @Test
    void anotherKindOfFileAndFilesThatWouldBeHiddenAreRefused() throws IOException {
        Path file = Files.writeString(pod.resolve("file"), "mine");
        publishRefused(Code.INVALID_ARGUMENT, "not a directory", file);
        publishRefused(Code.INVALID_ARGUMENT, "not a directory", file.resolve("target"));
        publishRefused(Code.INVALID_ARGUMENT, "No such file", pod.resolve("none/target"));
        Path full = Files.createDirectory(pod.resolve("full"));
        Files.writeString(full.resolve("kept"), "kept");
        publishRefused(Code.FAILED_PRECONDITION, "not empty", full);
        refused(
                Code.FAILED_PRECONDITION,
                "not empty",
                () -> node.stub().nodeUnpublishVolume(Requests.unpublish(volume(), full)));
        assertEquals("mine", Files.readString(file));
        assertEquals("kept", Files.readString(full.resolve("kept")));
    }

    @Test
    void aLeftOverTargetIsRemoved() throws IOException {
        Path left = Files.createDirectory(pod.resolve("left"));
        node.stub().nodeUnpublishVolume(Requests.unpublish(volume(), left));
        assertFalse(Files.exists(left));
        node.stub().nodeUnpublishVolume(Requests.unpublish(volume(), pod.resolve("never/was")));
    }

    @Test
    void whatIsNotOursIsLeftMounted() {
        Path foreign = workplace.directory("pod/foreign");
        Programs.run("mount", "-t", "tmpfs", "foreign", foreign.toString());
        refused(
                Code.FAILED_PRECONDITION,
                "tmpfs",
                () -> node.stub().nodeUnpublishVolume(Requests.unpublish(volume(), foreign)));
        refused(
                Code.FAILED_PRECONDITION,
                "tmpfs",
                () -> node.stub().nodePublishVolume(Requests.publish(volume(), staging, foreign)));
        Programs.run("umount", foreign.toString());
    }

    @Test
    void anotherVolumesMountIsLeft() {
        Lab.Volume other = Lab.createVolume(Lab.createGroup(64 * MIB), 32 * MIB);
        refused(
                Code.ALREADY_EXISTS,
                "another volume",
                () -> node.stub().nodeStageVolume(Requests.stage(other, staging)));
        node.stub().nodeUnstageVolume(Requests.unstage(other, staging));
        assertEquals(List.of(staging.toString()), shown());
        refused(
                Code.ALREADY_EXISTS,
                "another volume",
                () -> node.stub().nodePublishVolume(Requests.publish(other, staging, pod.resolve("target"))));
        refused(Code.NOT_FOUND, "not mounted", () -> node.stub().nodeGetVolumeStats(Requests.stats(other, staging)));
    }

    @Test
    void aPathWithStrangeLettersWorks() throws IOException {
        Path strange = pod.resolve("a b\\c#d\u00e9\u4f60,e=f");
        node.stub().nodePublishVolume(Requests.publish(volume(), staging, strange));
        node.stub().nodePublishVolume(Requests.publish(volume(), staging, strange));
        assertEquals(
                1,
                dev.siphon.node.linux.MountTable.read().entries().stream()
                        .filter(entry -> entry.mountPoint().equals(strange.toString()))
                        .count());
        node.stub().nodeUnpublishVolume(Requests.unpublish(volume(), strange));
        assertEquals(List.of(staging.toString()), shown());
    }
}
