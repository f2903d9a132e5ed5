package dev.siphon.e2e.isolation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import csi.v1.Volume;
import dev.siphon.e2e.driver.LeavesNothingBehind;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.lab.CephTree;
import dev.siphon.e2e.lab.Lab;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/// Tests who refuses what to an attacker with the key of one volume of `u1`. Each attack has a control with the
/// owner's or the administrator's key, which succeeds. The test writes the table for
/// `docs/explanation/isolation.md`.
@Timeout(600)
@ExtendWith(LeavesNothingBehind.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class IsolationMatrixIT {
    private final KeyedDriver driver = KeyedDriver.start();
    private final Victims victims = Victims.of(driver);
    private final MatrixTable table = new MatrixTable();

    @AfterAll
    void end() {
        driver.close();
    }

    @TestFactory
    Stream<DynamicTest> nobodyReachesWhatIsAnothers() {
        List<Attack> attacks = new ArrayList<>(CephAttacks.all());
        attacks.addAll(new CsiAttacks(driver).all());
        return Stream.concat(
                attacks.stream().map(attack -> dynamicTest(attack.title(), () -> tryOnAll(attack))),
                Stream.of(
                        dynamicTest("nothing was changed, whatever the controller is asked then", this::callEverything),
                        dynamicTest("docs/explanation/isolation.md has this table", table::check),
                        dynamicTest("a path with `..` leads nowhere", this::tryDots)));
    }

    private void tryOnAll(Attack attack) {
        victims.attack(attack, (target, verdict) -> table.put(attack.title(), target.title(), verdict));
    }

    /// Ceph has no `..`: such a path fails even for client.admin, who may mount anything.
    private void tryDots() {
        for (KeyHolder who : List.of(victims.from().key(), KeyHolder.admin())) {
            String path = victims.from().data() + "/../../.."
                    + victims.all().getFirst().data().substring("/volumes".length());
            KeyHolder.Refused refused = assertThrows(KeyHolder.Refused.class, () -> who.mount(path));
            String said = String.valueOf(refused.getMessage());
            assertTrue(said.contains("No such file or directory"), said);
            // a client that fails like this leaves a session, whose capabilities block others
            var _ = KeyHolder.admin().tool("ceph", "tell", "mds.*", "client", "evict", "auth_name=" + who.userId());
        }
    }

    /// Makes every controller RPC on the volume whose key was used for forgeries.
    private void callEverything() {
        try (CephTree tree = CephTree.mount(Lab.here())) {
            List<List<String>> before =
                    victims.all().stream().map(target -> state(tree, target)).toList();
            new EveryControllerRpc(driver.controller()).call(victims.from().volume(), "u1");
            List<List<String>> after =
                    victims.all().stream().map(target -> state(tree, target)).toList();
            assertEquals(before, after);
        }
        for (Target target : victims.all()) {
            assertInstanceOf(
                    Verdict.Done.class,
                    FileAttempt.of(target.key(), target.data(), root -> FileAttempt.read(root.resolve("secret"))));
        }
    }

    private static List<String> state(CephTree tree, Target target) {
        return tree.state(target.group().substring("/volumes/".length())).stream()
                .filter(line -> line.contains(target.subvolume()))
                .toList();
    }

    /// Ceph cannot refuse this; `docs/explanation/isolation.md` lists it as open.
    @Test
    void aClientThatIgnoresItsQuotaWritesBeyondIt() throws IOException, KeyHolder.Refused {
        Volume small = driver.volume(Requests.volume("patched", "u1", 4 * Requests.MIB));
        KeyHolder key = driver.finderOf(small);
        byte[] much = new byte[16 << 20];
        try (KeyHolder.Mounted mounted = key.mount(victims.from().group(), "--client_quota=false")) {
            Path data = mounted.root().resolve(small.getVolumeId().split(":", -1)[4]);
            try (Stream<Path> inside = Files.list(data)) {
                Path file = inside.filter(Files::isDirectory)
                        .findFirst()
                        .orElseThrow()
                        .resolve("large");
                Files.write(file, much);
                assertEquals(much.length, Files.size(file));
            }
        }
    }
}
