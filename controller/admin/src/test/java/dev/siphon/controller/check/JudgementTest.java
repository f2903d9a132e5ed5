package dev.siphon.controller.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.check.ControllerCaps.Feature;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.key.CephCiphers;
import dev.siphon.controller.key.KeyTypeChoice;
import dev.siphon.controller.volume.InMemoryDirectory;
import dev.siphon.csi.check.CheckOutcome;
import dev.siphon.csi.check.Checklist;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

/// Tests the verdicts on replies of a cluster and a directory.
final class JudgementTest {
    private static CheckOutcome release(String... osds) {
        return Releases.judge(new TreeMap<>(Map.of("mon", Set.of("20.2.4"), "osd", Set.of(osds))));
    }

    @Test
    void releasesThatAreTriedAreOk() {
        assertEquals(new CheckOutcome.Ok("20.2.4"), release("20.2.4"));
        assertEquals(new CheckOutcome.Ok("18.2.7, 19.2.6, 20.2.4"), release("18.2.7", "19.2.6"));
    }

    @Test
    void whoeverRunsAnotherReleaseIsNamed() {
        assertTrue(release("20.2.4", "17.2.6") instanceof CheckOutcome.Failed failed
                && failed.found().equals("osd 17.2.6")
                && failed.remedy().contains("Ceph 18 to 20"));
        assertTrue(release("21.0.0") instanceof CheckOutcome.Failed failed
                && failed.found().equals("osd 21.0.0")
                && failed.remedy().contains("a later Siphon"));
        assertTrue(release("unknown") instanceof CheckOutcome.Failed);
    }

    private static CheckOutcome keys(String asked, String preferred, String... allowed) {
        return keys(new KeyTypeChoice(Optional.of(asked).filter(type -> !type.isEmpty()), ""), preferred, allowed);
    }

    private static CheckOutcome keys(KeyTypeChoice choice, String preferred, String... allowed) {
        return ClusterChecks.judge(choice, new CephCiphers(preferred, Set.of(allowed), true));
    }

    @Test
    void whatAutoChoseHasAReason() {
        KeyTypeChoice aes = new KeyTypeChoice(Optional.of("aes"), "the kernel of node n1 is old");
        assertTrue(keys(aes, "aes256k", "aes", "aes256k") instanceof CheckOutcome.Warned warned
                && warned.found().endsWith("; auto chose aes: the kernel of node n1 is old"));
        KeyTypeChoice preferred = new KeyTypeChoice(Optional.empty(), "every node can use it");
        assertTrue(keys(preferred, "aes256k", "aes256k") instanceof CheckOutcome.Ok ok
                && ok.found().startsWith("aes256k: ")
                && ok.found().endsWith("; auto chose aes256k: every node can use it"));
    }

    @Test
    void keysAreOfATypeThatTheClusterAllows() {
        assertTrue(keys("", "aes256k", "aes256k") instanceof CheckOutcome.Ok ok
                && ok.found().contains("--key-type=aes256k`")
                && ok.found().contains("ceph-fuse")
                && !ok.found().contains("CVE"));
        assertTrue(keys("aes", "aes256k", "aes256k") instanceof CheckOutcome.Failed failed
                && failed.remedy().contains("auth_allowed_ciphers"));
    }

    @Test
    void whatCanBeForgedIsWarnedOf() {
        assertTrue(keys("aes", "aes256k", "aes", "aes256k") instanceof CheckOutcome.Warned warned
                && warned.found().contains("CVE-2025-30156")
                && warned.remedy().contains("--key-type=aes256k"));
        assertTrue(keys("", "aes", "aes") instanceof CheckOutcome.Warned warned
                && warned.remedy().contains("20.2.4"));
        assertTrue(keys("", "aes256k", "aes", "aes256k") instanceof CheckOutcome.Ok ok
                && ok.found().contains("allows aes too")
                && ok.found().contains("CVE-2025-30156"));
    }

    @Test
    void itIsSaidWhetherSessionsCanBeEnded() {
        List<String> fileSystems = List.of("cephfs");
        assertTrue(ClusterChecks.sessions(
                        fileSystems, new ControllerCaps(fileSystems, List.of(Feature.KEYS)).byService())
                .contains("see --key-commands"));
        assertTrue(ClusterChecks.sessions(
                        fileSystems, new ControllerCaps(fileSystems, List.of(Feature.KEY_COMMANDS)).byService())
                .contains("ends sessions of packers"));
    }

    @Test
    void whoGivesNoCapabilityBackHasToBeEvictedSomeTime() {
        assertTrue(ClusterChecks.judgeEviction(300) instanceof CheckOutcome.Ok ok
                && ok.found().contains("300 s"));
        assertTrue(ClusterChecks.judgeEviction(0) instanceof CheckOutcome.Failed failed
                && failed.remedy().contains("mds_cap_revoke_eviction_timeout"));
    }

    @Test
    void aSampleIsShownAsTheDirectoryHasIt() {
        ConcurrentHashMap<String, Account> accounts = new ConcurrentHashMap<>();
        accounts.put("u1", new Account("u1", "1", 10001, 10002, Set.of("lab", "all"), OptionalLong.of(5L << 30)));
        assertEquals(
                "account    ok      u1: uid 10001, gid 10002, groups [all, lab], allowance 5 GiB",
                sample(accounts, Optional.of("u1")));
        String missing = sample(accounts, Optional.of("U1"));
        assertTrue(missing.contains("failed") && missing.contains("letter for letter"), missing);
        String none = sample(accounts, Optional.empty());
        assertTrue(none.contains("skipped  because --account names none"), none);
    }

    private static String sample(ConcurrentHashMap<String, Account> accounts, Optional<String> name) {
        Checklist list = new Checklist(Duration.ofSeconds(5));
        new DirectoryChecks(InMemoryDirectory.over(accounts), "a test", name).run(list);
        List<String> lines = list.table().text();
        assertTrue(lines.get(1).startsWith("directory  ok"), lines.get(1));
        return lines.get(2);
    }
}
