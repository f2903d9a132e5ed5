package dev.siphon.e2e.isolation;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import csi.v1.Snapshot;
import csi.v1.Volume;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.isolation.Attack.Control;
import dev.siphon.e2e.lab.Lab;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BiConsumer;

/// The volumes under attack.
///
/// @param from the volume whose key the attacker has
/// @param all those of other accounts, and one of the same account
record Victims(Target from, List<Target> all) {
    Victims {
        all = List.copyOf(all);
    }

    /// Creates the volumes; the driver removes them at its end.
    static Victims of(KeyedDriver driver) {
        return new Victims(
                target(driver, "the attacker's", "u1", "attacker"),
                List.of(
                        target(driver, "u2's volume", "u2", "victim"),
                        target(driver, "u1_b's volume", "u1_b", "victim-b"),
                        target(driver, CephAttacks.SAME_ACCOUNT, "u1", "victim-beside")));
    }

    private static Target target(KeyedDriver driver, String title, String owner, String name) {
        Volume volume = driver.volume(name, owner);
        KeyHolder key = driver.finderOf(volume);
        String[] id = volume.getVolumeId().split(":", -1);
        String data = KeyHolder.admin()
                .tool("ceph", "fs", "subvolume", "getpath", Lab.here().fileSystem(), id[4], "--group_name", id[3])
                .output()
                .lines()
                .filter(line -> line.startsWith("/volumes/"))
                .findFirst()
                .orElseThrow();
        String object = write(key, data);
        Snapshot snapshot = driver.controller()
                .controller()
                .createSnapshot(Requests.snapshot("of-" + name, volume.getVolumeId()))
                .getSnapshot();
        driver.atEnd(() ->
                driver.controller().controller().deleteSnapshot(Requests.deleteSnapshot(snapshot.getSnapshotId())));
        String[] place = KeyCommandsIT.objects(key);
        String snapshotId = snapshot.getSnapshotId();
        return new Target(
                title,
                owner,
                volume,
                key,
                data,
                snapshotId,
                snapshotId.substring(snapshotId.lastIndexOf('@') + 1),
                place[1],
                place[3],
                object);
    }

    /// Writes the files `secret` and `spare`.
    ///
    /// @return the object that holds the secret
    private static String write(KeyHolder key, String data) {
        try (KeyHolder.Mounted mounted = key.mount(data)) {
            Path secret = mounted.root().resolve("secret");
            Files.writeString(secret, Target.SECRET);
            Files.writeString(mounted.root().resolve("spare"), "x");
            Object inode = Files.getAttribute(secret, "unix:ino");
            return Long.toHexString((Long) inode) + ".00000000";
        } catch (IOException | KeyHolder.Refused e) {
            throw new AssertionError(e);
        }
    }

    /// Tries an attack on each volume: it is refused, or open by design, and the control succeeds.
    ///
    /// @param verdicts receives each verdict
    void attack(Attack attack, BiConsumer<Target, Verdict> verdicts) {
        for (Target target : all) {
            Verdict verdict = attack.attempt().on(target, from, from.key());
            verdicts.accept(target, verdict);
            if (attack.open().contains(target.title())) {
                assertInstanceOf(Verdict.Done.class, verdict, attack.title() + " on " + target.title());
                continue;
            }
            assertInstanceOf(Verdict.Refused.class, verdict, attack.title() + " on " + target.title());
            KeyHolder may = attack.control() == Control.ADMIN ? KeyHolder.admin() : target.key();
            Verdict control = attack.attempt().on(target, from, may);
            assertInstanceOf(Verdict.Done.class, control, "the control of " + attack.title());
        }
    }
}
