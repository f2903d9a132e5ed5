package dev.siphon.controller.seal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.ceph.FuseMount;
import dev.siphon.controller.ceph.KeyHolder;
import dev.siphon.controller.volume.DatasetPlace;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// What a packer's two keys permit on a real cluster. Each refused action is also done with a permitted key, so
/// that another failure cannot pass for a refusal.
@Timeout(300)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PackerKeyIT {
    private SealLab lab;

    /// The packer's source, another volume of the same account, and one of another account.
    private SealLab.Held source;
    private SealLab.Held beside;
    private SealLab.Held others;

    private PackOrder order;
    private SnapshotId snapshot;

    /// The holders of the packer's keys: one reads the snapshot, the other writes the image.
    private KeyHolder reading;
    private KeyHolder writing;

    private SealLab.Objects image;

    @BeforeAll
    void beginToSeal(@TempDir Path folder) throws IOException {
        lab = new SealLab(folder);
        lab.makeDirectory("/datasets/another");
        lab.file("/datasets/another/image", new byte[1000]);
        source = lab.volume("source", "u1");
        beside = lab.volume("beside", "u1");
        others = lab.volume("others", "u2");
        snapshot = lab.ask(source.id(), "imagenet-v1").id();
        var _ = lab.ask(source.id(), "imagenet-v1");
        order = lab.cluster.orders.values().iterator().next();
        reading = lab.holder(
                lab.store.find((VolumeId.Provisioned) order.source().id()).orElseThrow());
        writing = lab.holder(order.key());
        assertTrue(
                writing.in(directory(), root -> Files.writeString(root.resolve("image"), "an image")),
                "its directory is the packer's");
        image = lab.objects(directory(), "image");
    }

    @AfterAll
    void end() throws IOException {
        lab.removeDirectoryOf("/datasets/another/image");
        lab.cluster.packers.clear();
        deleteAsASidecarDoes();
        lab.close();
    }

    /// Retries the deletion like a sidecar: the MDS waits up to 60 s for a client that died, perhaps in an earlier
    /// test class.
    private void deleteAsASidecarDoes() {
        try {
            lab.sealed.delete(snapshot);
        } catch (DriverException.DeadlinePassed | DriverException.OperationPending _) {
            lab.sealed.delete(snapshot);
        }
    }

    /// Returns the path of the snapshot's data directory below what the key mounts; a volume has only one.
    private String dataInSnapshot() {
        String subvolume = order.source().context().dataPath().orElseThrow();
        return subvolume + source.folder().substring(source.folder().indexOf('/'));
    }

    private String directory() {
        return lab.place(snapshot).path();
    }

    /// Checks that the permitted holder succeeds and the attacker fails.
    private static void assertRefused(String what, KeyHolder may, KeyHolder attacker, Attempt attempt) {
        assertTrue(attempt.by(may), what + ", by who may");
        assertFalse(attempt.by(attacker), what);
    }

    private interface Attempt {
        boolean by(KeyHolder who);
    }

    private static Attempt get(SealLab.Objects objects) {
        return who -> who.rados(objects.with("get", objects.one(), "/dev/null"));
    }

    private static Attempt put(SealLab.Objects objects) {
        return who ->
                who.rados(objects.with("put", "attack", "/proc/version")) && who.rados(objects.with("rm", "attack"));
    }

    private static Attempt read(String mounted, String file) {
        return who -> who.in(mounted, root -> Files.readString(root.resolve(file)));
    }

    private static Attempt write(String mounted, String folder) {
        return who -> who.in(mounted, root -> {
            Files.writeString(root.resolve(folder).resolve("new"), "x");
            Files.delete(root.resolve(folder).resolve("new"));
        });
    }

    @Test
    void theKeyForTheSnapshotReadsItAndWritesNothing() {
        String mounted = order.source().context().mountPath();
        String inSnapshot = dataInSnapshot();
        assertTrue(read(mounted, inSnapshot + "/file").by(reading), "the snapshot is the packer's to read");

        assertRefused("writing to the source", source.key(), reading, write(mounted, source.folder()));
        assertFalse(write(mounted, inSnapshot).by(reading), "writing to the snapshot");
        assertTrue(get(source.objects()).by(reading), "its objects are read");
        assertRefused("writing objects of the source", source.key(), reading, put(source.objects()));
        assertRefused(
                "another snapshot",
                KeyHolder.admin(),
                reading,
                who -> who.in(mounted, root -> Files.delete(Files.createDirectory(root.resolve(".snap/attack")))));
    }

    @Test
    void theKeyForTheSnapshotOpensNoOtherVolume() {
        for (SealLab.Held held : new SealLab.Held[] {beside, others}) {
            assertRefused(
                    "a file of " + held.name(), held.key(), reading, read(held.mountPath(), held.folder() + "/file"));
            assertRefused("an object of " + held.name(), held.key(), reading, get(held.objects()));
        }
        assertRefused("the image", writing, reading, read(directory(), "image"));
        assertRefused("an object of the image", writing, reading, get(image));
    }

    @Test
    void theKeyForTheImageOpensItsDirectoryAlone() throws IOException {
        SealLab.Objects another = lab.objects("/datasets/another", "image");
        assertTrue(get(image).by(writing), "its objects are the packer's");
        for (SealLab.Held held : new SealLab.Held[] {source, beside, others}) {
            assertRefused(
                    "a file of " + held.name(), held.key(), writing, read(held.mountPath(), held.folder() + "/file"));
            assertRefused("an object of " + held.name(), held.key(), writing, get(held.objects()));
        }
        assertRefused("another image", KeyHolder.admin(), writing, read("/datasets/another", "image"));
        assertRefused("an object of another image", KeyHolder.admin(), writing, get(another));
        assertRefused("all datasets", KeyHolder.admin(), writing, read("/datasets", "another/image"));
        assertRefused("everything", KeyHolder.admin(), writing, read("/", "datasets/another/image"));
        assertRefused(
                "names of the whole pool",
                KeyHolder.admin(),
                writing,
                who -> who.rados("--pool", image.pool(), "ls", "--all"));
    }

    /// An attacker keeps the packer's mount and key.
    @Test
    void whatWasMountedAndTheKeyWriteNothingOnceItIsSealed() throws IOException {
        SealLab.Held kept = lab.volume("kept", "u1");
        SnapshotId sealed = lab.ask(kept.id(), "kept").id();
        var _ = lab.ask(kept.id(), "kept");
        PackOrder packing = Optional.ofNullable(
                        lab.cluster.orders.get(lab.place(sealed).packer()))
                .orElseThrow();
        KeyHolder thief = lab.holder(packing.key());
        String place = lab.place(sealed).path();
        try (FuseMount there = FuseMount.mountAs(
                "thief", "--id", thief.userId(), "--keyring", thief.keyring().toString(), "-r", place)) {
            Files.write(there.at("/image"), new byte[5000]);
            Files.writeString(there.at("/image.manifest"), SealWorld.MANIFEST.text());
            lab.cluster.stopsAfter = 2;
            assertFalse(lab.ask(kept.id(), "kept").ready(), "its packer is stopped first");
            assertTrue(lab.ask(kept.id(), "kept").ready());
            assertThrows(IOException.class, () -> Files.writeString(there.at("/image"), "x"), "in the open session");
            assertThrows(IOException.class, () -> Files.writeString(there.at("/another"), "x"));
        }
        assertFalse(thief.in(place, root -> Files.writeString(root.resolve("image"), "x")), "by a new mount");
        lab.sealed.delete(sealed);
    }

    /// Notes are attributes of the directory that the packer may write.
    @Test
    void whatIsNotedWithThePackersKeyCountsForNothing() throws IOException {
        lab.cluster.readBack = new PackerOutcome.Ended();
        SealLab.Held forged = lab.volume("forged", "u1");
        SnapshotId id = lab.ask(forged.id(), "forged").id();
        var _ = lab.ask(forged.id(), "forged");
        DatasetPlace place = lab.place(id);
        KeyHolder packer = lab.holder(Optional.ofNullable(lab.cluster.orders.get(place.packer()))
                .orElseThrow()
                .key());
        Map<String, String> notes = Map.of(
                DatasetPlace.NAME, "u2.forged",
                DatasetPlace.ASKED, "u2/forged",
                DatasetPlace.SEALED, SealWorld.MANIFEST.root() + " 1");
        assertTrue(
                packer.in(place.path(), root -> {
                    for (Map.Entry<String, String> note : notes.entrySet()) {
                        Files.setAttribute(
                                root,
                                "user:siphon." + note.getKey(),
                                ByteBuffer.wrap(note.getValue().getBytes(UTF_8)));
                    }
                }),
                "its key writes notes");
        assertFalse(lab.domain.snapshots().find(id).orElseThrow().ready(), "sealed is what the controller says");
        assertRefused(
                "taking away the note that it is not",
                KeyHolder.admin(),
                forged.key(),
                who -> who.in(
                        forged.mountPath(),
                        root -> Files.setAttribute(
                                root.resolve(forged.id().subvolume()),
                                "user:siphon.unsealed.another",
                                ByteBuffer.wrap("true".getBytes(UTF_8)))));
        lab.file(place.path() + "/image", new byte[5000]);
        lab.file(place.path() + "/image.manifest", SealWorld.MANIFEST.text().getBytes(UTF_8));
        while (!lab.ask(forged.id(), "forged").ready()) {
            assertFalse(lab.cluster.declared.containsKey("u2.forged"));
        }
        assertEquals(
                Optional.of(5000L),
                Optional.ofNullable(lab.cluster.declared.get("u1.forged")).map(Dataset::bytes));
        assertFalse(lab.cluster.declared.containsKey("u2.forged"), "no other account's name");
        lab.sealed.delete(id);
        assertFalse(lab.cluster.declared.containsKey("u1.forged"));
    }

    @Test
    void theKeyThatReadsAnImageBackWritesNothingAndOpensNothingElse() throws IOException {
        lab.cluster.readBack = new PackerOutcome.Running("reads");
        SealLab.Held checked = lab.volume("checked", "u1");
        SnapshotId id = lab.ask(checked.id(), "checked").id();
        var _ = lab.ask(checked.id(), "checked");
        String place = lab.place(id).path();
        String checker = lab.place(id).checker();
        lab.file(place + "/image", new byte[5000]);
        lab.file(place + "/image.manifest", SealWorld.MANIFEST.text().getBytes(UTF_8));
        while (!lab.cluster.packers.containsKey(checker)) {
            assertFalse(lab.ask(checked.id(), "checked").ready());
        }
        KeyHolder reader = lab.holder(Optional.ofNullable(lab.cluster.checks.get(checker))
                .orElseThrow()
                .key());
        SealLab.Objects objects = lab.objects(place, "image");
        assertTrue(read(place, "image").by(reader), "the image is its to read");
        assertTrue(get(objects).by(reader), "and its objects");
        assertRefused("writing to the image's directory", KeyHolder.admin(), reader, write(place, "."));
        assertRefused("writing objects of the image", KeyHolder.admin(), reader, put(objects));
        assertRefused("another image", KeyHolder.admin(), reader, read("/datasets/another", "image"));
        assertRefused("the volume", checked.key(), reader, read(checked.mountPath(), checked.folder() + "/file"));
        lab.cluster.packers.put(checker, new PackerOutcome.Ended());
        assertTrue(lab.ask(checked.id(), "checked").ready());
        assertFalse(read(place, "image").by(reader), "it ends with the check");
        lab.sealed.delete(id);
    }

    /// The mons' part: the content of the caps.
    @Test
    void whatIsRefusedIsNowhereInTheCaps() {
        for (KeyHolder each : new KeyHolder[] {reading, writing}) {
            Map<String, String> caps = lab.caps(each.userId());
            assertEquals("allow r fsname=" + order.target().id().fileSystem(), caps.get("mon"));
            assertFalse(caps.containsKey("mgr"), caps::toString);
        }
    }

    /// The allowance is 64 MiB: the volume uses 32, the snapshot 8, the image 8.
    @Test
    void anImageCountsAgainstTheAllowanceOfItsAccount() throws IOException {
        SealLab.Held limited = lab.volume("limited", "limited");
        SnapshotId sealed = lab.ask(limited.id(), "counted").id();
        VolumeId.Provisioned fits = lab.empty("beside-a-snapshot", "limited", 20);
        lab.remove(fits);
        var _ = lab.ask(limited.id(), "counted");
        assertTrue(lab.hasPacker(sealed));
        assertThrows(DriverException.QuotaExhausted.class, () -> lab.empty("beside-an-image", "limited", 20));

        lab.cluster.packers.remove(lab.place(sealed).packer());
        lab.sealed.delete(sealed);
        VolumeId.Provisioned more = lab.empty("beside-neither", "limited", 20);
        SnapshotId refused = lab.ask(limited.id(), "refused").id();
        assertThrows(DriverException.QuotaExhausted.class, () -> lab.ask(limited.id(), "refused"));
        assertFalse(lab.hasPacker(refused), "nothing is packed that does not fit");
        lab.remove(more);
        var _ = lab.ask(limited.id(), "refused");
        assertTrue(lab.hasPacker(refused), "it fits where there is room");
        lab.cluster.packers.remove(lab.place(refused).packer());
        lab.sealed.delete(refused);
    }
}
