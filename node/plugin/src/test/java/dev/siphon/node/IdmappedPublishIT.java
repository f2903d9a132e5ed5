package dev.siphon.node;

import static dev.siphon.node.Refusals.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.NodePublishVolumeRequest;
import csi.v1.VolumeUsage;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.linux.Programs;
import dev.siphon.node.linux.Workplace;
import io.grpc.Status.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// `containerUser`: files carry the account's uid and gid whatever the container's process runs as. Uses the kernel
/// client and a real Ceph, in a guest of the lab.
@Tag("kernel")
class IdmappedPublishIT {
    private static final long MIB = 1 << 20;
    private static final int UID = 10_001;
    private static final int GID = 10_501;
    private static final int FOREIGN = 1000;
    private static final String OWNER = UID + ":" + GID;

    /// The C library's text for EOVERFLOW.
    private static final String UNMAPPED = "Value too large for defined data type";

    private static final List<String> MADE = List.of("dir", "file", "hard", "link", "moved", "pipe");
    private static final String OWNERS = "cd \"$1\" && stat -c %n=%u:%g * | sort | tr '\\n' ' '";
    private static final String MAKE = "cd \"$1\" && echo text >file && mkdir dir && ln -s file link && mkfifo pipe"
            + " && cp file copy && mv copy moved && ln file hard";

    private static Optional<World> world = Optional.empty();

    private final Workplace workplace = world.orElseThrow().workplace();
    private final Lab.Volume volume = world.orElseThrow().volume();
    private final Path staging = workplace.directory("staging");

    /// Shared by all tests: in a guest, starting a process takes seconds, and a command to Ceph one.
    private record World(Workplace workplace, NodeProcess node, Lab.Volume volume) {
        World(Workplace workplace, Lab.Volume volume) {
            this(workplace, NodeProcess.start(workplace.directory("node"), "--syscall-timeout=5"), volume);
        }
    }

    @BeforeAll
    static void start() throws IOException {
        Workplace workplace = Workplace.create();
        // other users must reach the mounts inside
        Files.setPosixFilePermissions(workplace.path("."), PosixFilePermissions.fromString("rwx--x--x"));
        workplace.directory("pod");
        world = Optional.of(new World(workplace, Lab.createVolume(Lab.createGroup(1024 * MIB), 512 * MIB, UID, GID)));
    }

    @AfterAll
    static void end() {
        node().close();
        world.orElseThrow().workplace().close();
    }

    private static NodeProcess node() {
        return world.orElseThrow().node();
    }

    @BeforeEach
    void stage() {
        node().stub().nodeStageVolume(Requests.stage(volume, staging));
        done(0, staging, "find \"$1\" -mindepth 1 -delete && chmod 700 \"$1\"");
    }

    @AfterEach
    void leaveNothing() {
        for (String mount : workplace.mounts()) {
            if (!mount.equals(staging.toString())) {
                node().stub().nodeUnpublishVolume(Requests.unpublish(volume, Path.of(mount)));
            }
        }
        node().stub().nodeUnstageVolume(Requests.unstage(volume, staging));
        assertEquals(List.of(), workplace.mounts());
    }

    private NodePublishVolumeRequest request(String user, Path target) {
        return Requests.publish(volume.with(Map.of("containerUser", user)), staging, target);
    }

    private Path publish(String name, String user) {
        Path target = workplace.path("pod/" + name);
        node().stub().nodePublishVolume(request(user, target));
        return target;
    }

    /// Publishes the volume as a login host sees it, without mapping.
    private Path publishAsItIs() {
        Path target = workplace.path("pod/plain");
        node().stub().nodePublishVolume(Requests.publish(volume, staging, target));
        return target;
    }

    private static String done(int uid, Path directory, String script) {
        Shell.Result result = Shell.run(uid, uid, directory, script);
        assertEquals(0, result.exit(), result::said);
        return result.said();
    }

    private static String failed(int uid, Path directory, String script) {
        Shell.Result result = Shell.run(uid, uid, directory, script);
        assertNotEquals(0, result.exit(), result::said);
        return result.said();
    }

    private static String account(Path directory, String script) {
        Shell.Result result = Shell.run(UID, GID, directory, script);
        assertEquals(0, result.exit(), result::said);
        return result.said();
    }

    private static String owned(String owner) {
        return String.join(" ", MADE.stream().map(name -> name + "=" + owner).toList());
    }

    @Test
    void rootInTheContainerIsTheAccount() {
        Path pod = publish("pod", "root");
        Path plain = publishAsItIs();
        done(0, pod, MAKE);
        assertEquals(owned("0:0"), done(0, pod, OWNERS));
        assertEquals(owned(OWNER), account(plain, OWNERS));
        assertEquals("text", account(plain, "cat \"$1/file\""));
        account(plain, "echo more >>\"$1/file\"; echo theirs >\"$1/dir/back\"");
        assertEquals("text\nmore\ntheirs", done(0, pod, "cat \"$1/file\" \"$1/dir/back\""));
        done(0, pod, "chown 0:0 \"$1/file\" && chmod 600 \"$1/file\" && rm -r \"$1/dir\"");
        assertEquals("-rw-------", account(plain, "stat -c %A \"$1/file\""));
        assertFalse(Files.exists(plain.resolve(".siphon-idmap")));
    }

    @Test
    void aForeignUserIsTheAccount() {
        Path pod = publish("pod", FOREIGN + ":" + FOREIGN);
        Path plain = publishAsItIs();
        done(FOREIGN, pod, MAKE);
        assertEquals(owned(FOREIGN + ":" + FOREIGN), done(FOREIGN, pod, OWNERS));
        // root cannot create files, but has root's rights to existing ones
        assertTrue(failed(0, pod, "touch \"$1/roots\"").contains(UNMAPPED));
        done(0, pod, "echo roots >>\"$1/file\"; chmod 600 \"$1/file\"");
        assertEquals(owned(OWNER), account(plain, OWNERS));
    }

    @Test
    void theAccountIsItselfAndNobodyElseMakesFiles() {
        Path pod = publish("pod", "account");
        account(pod, MAKE);
        assertEquals(owned(OWNER), account(pod, OWNERS));
        assertEquals(owned(OWNER), account(publishAsItIs(), OWNERS));
        assertTrue(failed(0, pod, "touch \"$1/roots\"").contains(UNMAPPED));
        assertTrue(failed(FOREIGN, pod, "touch \"$1/theirs\"").contains("Permission denied"));
    }

    @Test
    void nobodyElseMakesFilesEvenWhereTheModeLetsHim() {
        Path pod = publish("pod", "1000");
        done(FOREIGN, pod, "chmod 777 \"$1\"; echo text >\"$1/file\"; chmod 666 \"$1/file\"");
        for (int other : List.of(0, 1001, UID)) {
            for (String make : List.of("touch", "mkdir", "mkfifo", "ln -s x")) {
                String said = failed(other, pod, make + " \"$1/other\"");
                assertTrue(said.contains(UNMAPPED), said);
            }
        }
        // nor with a group other than the account's
        Shell.Result group = Shell.run(FOREIGN, 1001, pod, "touch \"$1/other\"");
        assertTrue(group.exit() != 0 && group.said().contains(UNMAPPED), group::said);
        assertEquals("file=" + OWNER, account(publishAsItIs(), OWNERS));
    }

    @Test
    void aFileIsGivenToNobodyElse() {
        Path pod = publish("pod", "root");
        done(0, pod, "echo text >\"$1/file\"");
        for (String other : List.of("1000", "1000:1000", ":1000", UID + ":" + GID)) {
            String said = failed(0, pod, "chown " + other + " \"$1/file\"");
            assertTrue(said.contains(UNMAPPED), said);
        }
        assertEquals("file=" + OWNER, account(publishAsItIs(), OWNERS));
    }

    @Test
    void whatAnotherUidLeftIsNobodysAndClosed() {
        Path plain = publishAsItIs();
        done(0, plain, "echo secret >\"$1/roots\"; chmod 600 \"$1/roots\"");
        Path pod = publish("pod", "root");
        assertEquals("roots=65534:65534", done(0, pod, OWNERS));
        assertTrue(failed(0, pod, "cat \"$1/roots\"").contains("Permission denied"));
    }

    @Test
    void podsOfOneNodeSeeTheSameFilesAsTheirOwn() {
        Path roots = publish("roots", "root");
        Path theirs = publish("theirs", "1000:100");
        Path own = publish("own", "account");
        done(0, roots, "echo one >\"$1/file\"");
        Shell.Result second = Shell.run(FOREIGN, 100, theirs, "echo two >>\"$1/file\"");
        assertEquals(0, second.exit(), second::said);
        account(own, "echo three >>\"$1/file\"");
        assertEquals("file=0:0", done(0, roots, OWNERS));
        assertEquals("file=1000:100", done(0, theirs, OWNERS));
        assertEquals("file=" + OWNER, done(0, own, OWNERS));
        assertEquals("one\ntwo\nthree", done(0, roots, "cat \"$1/file\""));
    }

    @Test
    void aReadOnlyTargetIsReadAsTheAccount() {
        account(publishAsItIs(), "echo text >\"$1/file\"");
        Path target = workplace.path("pod/reader");
        node().stub()
                .nodePublishVolume(
                        request("root", target).toBuilder().setReadonly(true).build());
        assertEquals("text", done(0, target, "cat \"$1/file\""));
        assertEquals("file=0:0", done(0, target, OWNERS));
        assertTrue(failed(0, target, "touch \"$1/other\"").contains("Read-only file system"));
    }

    @Test
    void aRepeatIsTheSameAndAnotherUserIsRefused() {
        Path target = publish("pod", "root");
        publish("pod", "0:0");
        node().kill();
        world = Optional.of(new World(workplace, volume));
        publish("pod", "root");
        assertEquals(2, workplace.mounts().size());
        for (String other : List.of("1000", "0:1000", "account")) {
            refused(Code.ALREADY_EXISTS, () -> node().stub().nodePublishVolume(request(other, target)));
        }
        refused(Code.ALREADY_EXISTS, () -> node().stub().nodePublishVolume(Requests.publish(volume, staging, target)));
        Path plain = publishAsItIs();
        for (String other : List.of("root", "account")) {
            refused(Code.ALREADY_EXISTS, () -> node().stub().nodePublishVolume(request(other, plain)));
        }
    }

    @Test
    void aDeadMountIsReplacedByOneOfTheSameUser() {
        Path pod = publish("pod", "root");
        done(0, pod, "echo text >\"$1/file\" && sync \"$1/file\"");
        Lab.evict(volume.id());
        node().stub()
                .nodePublishVolume(request("root", pod).toBuilder()
                        .putAllSecrets(volume.secrets())
                        .build());
        done(0, pod, "echo more >>\"$1/file\" && cat \"$1/file\"");
        assertEquals("file=0:0", done(0, pod, OWNERS));
        assertEquals("file=" + OWNER, account(publishAsItIs(), OWNERS));
    }

    @Test
    void theAllowanceEndsWritingAndTheNumbersAreTheVolumes() {
        Lab.Volume full =
                Lab.createVolume(Lab.createGroup(64 * MIB), 512 * MIB, UID, GID).with(Map.of("containerUser", "root"));
        Path staged = workplace.directory("full");
        Path pod = workplace.path("pod/full");
        node().stageAndPublish(full, staged, pod);
        String append = "dd if=/dev/zero of=\"$1/big\" bs=1M count=8 oflag=append conv=notrunc,fsync";
        String said = "";
        for (int i = 0; i < 40 && !said.contains("quota exceeded"); i++) {
            said = Shell.run(0, 0, pod, append).said();
        }
        assertTrue(said.contains("quota exceeded"), said);
        List<VolumeUsage> usage =
                node().stub().nodeGetVolumeStats(Requests.stats(full, pod)).getUsageList();
        assertEquals(512 * MIB, usage.get(0).getTotal());
        assertTrue(usage.get(0).getUsed() >= 56 * MIB, usage::toString);
        assertEquals(0, usage.get(0).getAvailable());
        // a full account's volume can still be published, for cleanup
        node().stub().nodeUnpublishVolume(Requests.unpublish(full, pod));
        node().stageAndPublish(full, staged, pod);
        done(0, pod, "rm \"$1/big\"");
        node().unpublishAndUnstage(full, staged, pod);
    }

    @Test
    void aDirectoryOfRootIsRefused() {
        Lab.Volume roots = Lab.createVolume(Lab.createGroup(64 * MIB), 32 * MIB).with(Map.of("containerUser", "root"));
        Path other = workplace.directory("other");
        Path target = workplace.path("pod/roots");
        node().stub().nodeStageVolume(Requests.stage(roots, other));
        String said = refused(
                Code.FAILED_PRECONDITION,
                () -> node().stub().nodePublishVolume(Requests.publish(roots, other, target)));
        assertTrue(said.contains("belongs to 0:0"), said);
        assertFalse(Files.exists(target));
        node().stub().nodeUnstageVolume(Requests.unstage(roots, other));
    }

    /// Does what a container runtime does for a pod with `hostUsers: false`. The pod's uids are the host's from
    /// 100000 on. Its mounts map files so that a uid in the pod is the same uid in the volume.
    @Test
    void aPodWithUsersOfItsOwnWritesAsItsAccountIfTheVolumeIsNotMapped() throws IOException {
        Path plain = publishAsItIs();
        Path bundle = workplace.directory("bundle");
        String idmap = "--options=bind,X-mount.idmap=b:0:100000:65536";
        Programs.run("mount", idmap, plain.toString(), bundle.toString());
        assertEquals("text", podOfItsOwn(UID, GID, bundle, "echo text >$1/file; cat $1/file"));
        assertEquals("file=" + OWNER, account(plain, OWNERS));
        assertTrue(podOfItsOwn(FOREIGN, FOREIGN, bundle, "touch $1/other 2>&1 || true")
                .contains("Permission denied"));
        // nothing prevents this: root of such a pod is root in the volume
        podOfItsOwn(0, 0, bundle, "touch $1/roots");
        assertEquals("file=" + OWNER + " roots=0:0", done(0, plain, OWNERS));
        Programs.run("umount", bundle.toString());

        Path mapped = publish("mapped", "root");
        Shell.Result twice = Shell.run(0, 0, mapped, "mount " + idmap + " \"$1\" " + bundle);
        assertNotEquals(0, twice.exit(), "a mount is idmapped once");
        assertFalse(MountTable.read().at(bundle.toString()).isPresent());
    }

    /// Runs `script` in a user namespace of 65536 uids, as `uid` and `gid` in it.
    private static String podOfItsOwn(int uid, int gid, Path directory, String script) {
        String run = "unshare --user sleep 60 & pid=$!;"
                + " until [ \"$(readlink /proc/$pid/ns/user)\" != \"$(readlink /proc/self/ns/user)\" ]; do :; done;"
                + " echo 0 100000 65536 >/proc/$pid/uid_map; echo 0 100000 65536 >/proc/$pid/gid_map;"
                + " nsenter --target $pid --user --setuid " + uid + " --setgid " + gid
                + " sh -c '" + script + "' sh \"$1\"; code=$?; kill $pid; exit $code";
        return done(0, directory, run);
    }
}
