package dev.siphon.e2e.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.e2e.driver.DriverFolder;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Daemon;
import dev.siphon.e2e.lab.Lab;
import dev.siphon.e2e.lab.LabLdap;
import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/// Runs `siphon check controller` on a real Ceph and a real OpenLDAP, as an administrator does before installing.
@Timeout(180)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class CheckControllerIT {
    private static final String USER = "siphon-check";
    private static final String FS = Lab.here().fileSystem();

    /// A few seconds of timeouts, plus a start on a busy machine.
    private static final Duration WITHIN = Duration.ofSeconds(40);

    private final DriverFolder folder = DriverFolder.create();
    private final Path keyring = folder.file("check.keyring");
    private Path directory = Path.of("");

    @BeforeAll
    void makeIdentity() throws IOException {
        Files.createDirectory(
                folder.file("keys"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        directory = LabLdap.config(folder.file("directory.json"), "");
        Command.run("bash", "-euc", caps());
    }

    @AfterAll
    void end() {
        for (Daemon each : List.of(Daemon.MON, Daemon.MGR, Daemon.LDAP)) {
            each.restore();
        }
        Command.run("ceph", "auth", "rm", "client." + USER);
        folder.close();
    }

    /// Returns what `siphon ceph-caps` prints.
    private String caps(String... more) {
        List<String> words = new ArrayList<>(List.of(
                Project.launcher().toString(), "ceph-caps", "--fs=" + FS, "--user=" + USER, "--keyring=" + keyring));
        words.addAll(List.of(more));
        return Command.run(words.toArray(String[]::new));
    }

    private Checked check(String monitors, Path keyringFile, Path config, String... more) throws IOException {
        Path clusters = folder.file("clusters-" + System.nanoTime() + ".json");
        Files.writeString(clusters, """
                {"clusters": [{"id": "lab", "monitors": ["%s"], "user": "%s", "keyringFile": "%s"}]}
                """.formatted(monitors, USER, keyringFile));
        List<String> words = new ArrayList<>(List.of(
                Project.launcher().toString(),
                "check",
                "controller",
                "--clusters=" + clusters,
                "--key-dir=" + folder.file("keys"),
                "--directory-config=" + config,
                "--timeout=3"));
        words.addAll(List.of(more));
        Checked checked = Checked.run(words);
        assertTrue(checked.took().compareTo(WITHIN) < 0, checked.took().toString());
        assertFalse(checked.output().contains(key()), "a key is printed");
        return checked;
    }

    private Checked check(String... more) throws IOException {
        return check(Lab.here().monitors(), keyring, directory, more);
    }

    private String key() throws IOException {
        return Files.readAllLines(keyring).stream()
                .filter(line -> line.strip().startsWith("key = "))
                .map(line -> line.strip().substring("key = ".length()))
                .findFirst()
                .orElseThrow();
    }

    private static Map<String, String> allOk() {
        Map<String, String> all = new LinkedHashMap<>();
        for (String what : List.of(
                "lab: monitors",
                "lab: login",
                "lab: release",
                "lab: file systems",
                "lab: MDS of " + FS,
                "lab: volumes of " + FS,
                "lab: caps",
                "lab: key type",
                "lab: held capabilities",
                "directory",
                "account")) {
            // Ceph 18 has only keys that can be forged
            all.put(what, what.equals("lab: key type") && Lab.here().release() == 18 ? "warning" : "ok");
            if (what.equals("lab: held capabilities")) {
                all.put("lab: rook", "skipped");
            }
        }
        all.put("kubernetes", "skipped");
        return all;
    }

    @Test
    void whereAllIsWellAllIsOk() throws IOException {
        Checked checked = check("--account=u1", "--fs=" + FS);
        assertEquals(allOk(), checked.results(), checked.output());
        assertEquals(0, checked.exit());
        assertTrue(checked.found("lab: release").contains(Lab.here().release() + "."), checked.output());
        assertTrue(checked.found("account").startsWith("u1: uid 10001, gid "), checked.output());
        String type = Lab.here().release() > 18 ? "aes256k" : "aes";
        assertTrue(checked.found("lab: key type").startsWith(type + ":"), checked.output());
        assertTrue(checked.found("lab: caps").contains("ends no sessions"), checked.output());
    }

    @Test
    void aMonitorThatIsNotThere() throws IOException {
        Checked checked = check(Lab.here().address() + ":1", keyring, directory, "--account=u1");
        checked.failed("lab: monitors", "no connection to " + Lab.here().address() + ":1", "ceph mon dump");
        checked.failed("lab: login", "not started", "fix `monitors` first");
        assertEquals("skipped", checked.results().get("lab: everything else"));
        assertEquals("ok", checked.results().get("account"), checked.output());
    }

    @Test
    void anotherIdentitysKey() throws IOException {
        Path wrong = folder.file("wrong.keyring");
        String node = Files.readString(Lab.here().run().resolve("ceph/node.keyring"));
        Files.writeString(wrong, node.replace("client.siphon-node", "client." + USER));
        // Ceph's client sometimes gets the refusal too late and reports a timeout
        Await.until("the refusal", Duration.ofSeconds(60), () -> isRefused(wrong));
        check(Lab.here().monitors(), folder.file("nowhere.keyring"), directory)
                .failed("lab: login", "cannot be read", "nowhere.keyring has to hold the key");
    }

    private boolean isRefused(Path wrong) {
        try {
            Checked checked = check(Lab.here().monitors(), wrong, directory);
            checked.failed("lab: login", "", wrong + " has to hold the key that `ceph auth get client." + USER);
            return checked.found("lab: login").contains("EACCES");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void capsThatAreMissing() throws IOException {
        String remedy = "`siphon ceph-caps --change --user " + USER + " --fs " + FS + "` prints";
        Command.run(
                "bash",
                "-euc",
                "ceph auth caps client." + USER + " mon 'allow r, allow command \"auth get\"' mds 'allow rw fsname="
                        + FS + " path=/volumes' osd 'allow rw tag cephfs data=" + FS + "' >/dev/null");
        try {
            Checked checked = check("--fs=" + FS);
            checked.failed("lab: volumes of " + FS, "EACCES", remedy);
            checked.failed("lab: caps", "missing: mds 'allow rwp fsname=" + FS + " path=/volumes'", remedy);
            assertTrue(checked.found("lab: caps").contains("mgr 'allow module volumes rw'"), checked.output());
            assertTrue(checked.found("lab: caps").contains("mon 'allow command \"auth ls\"'"), checked.output());
        } finally {
            Command.run("bash", "-euc", caps("--change"));
        }
    }

    @Test
    void anAccountThatIsNotThereAndAPasswordThatIsNot() throws IOException {
        check("--account=U1").failed("account", "there is no", "letter for letter");
        Path password = folder.file("wrong.password");
        Files.writeString(password, "open sesame");
        Files.setPosixFilePermissions(password, PosixFilePermissions.fromString("rw-------"));
        Path wrong = folder.file("wrong.json");
        Files.writeString(
                wrong,
                Files.readString(directory)
                        .replaceAll("\"passwordFile\": \"[^\"]*\"", "\"passwordFile\": \"" + password + "\""));
        Checked checked = check(Lab.here().monitors(), keyring, wrong, "--account=u1");
        checked.failed("directory", "invalid credentials", "`passwordFile`");
        assertEquals("skipped", checked.results().get("account"), checked.output());
        assertFalse(checked.output().contains("sesame"), checked.output());
    }

    /// Creates an identity as Rook's operator does, and its driver's group; RookIT tests Rook itself.
    @Test
    void aCephOfRooksIsRecognizedAndAnAddressThatIsNoMonitorsIsNamed() throws IOException {
        Command.run("ceph", "auth", "get-or-create", "client.csi-cephfs-node.2", "mon", "allow r");
        Command.run("ceph", "fs", "subvolumegroup", "create", FS, "csi");
        try {
            Checked checked = check("--fs=" + FS);
            assertEquals("ok", checked.results().get("lab: rook"), checked.output());
            assertTrue(checked.found("lab: rook").contains("client.csi-cephfs-node.2"), checked.output());
            assertTrue(checked.found("lab: rook").contains("subvolumegroup csi in " + FS), checked.output());
            assertEquals("warning", checked.results().get("lab: rook monitors"), checked.output());
            check(Lab.here().monitors() + "\", \"127.0.0.1:6789", keyring, directory)
                    .failed("lab: rook monitors", "127.0.0.1, where no monitor is", "`ceph.rook.namespace`");
        } finally {
            Command.run("ceph", "auth", "rm", "client.csi-cephfs-node.2");
            Command.run("ceph", "fs", "subvolumegroup", "rm", FS, "csi");
        }
    }

    @Test
    void aFileSystemThatIsNotThere() throws IOException {
        check("--fs=" + FS + ",other").failed("lab: file systems", "no other among " + FS, "ceph fs ls");
    }

    @Test
    void whateverHangsHasFailedWithinSeconds() throws IOException {
        hang(Daemon.LDAP).failed("directory", "LDAP", "`servers` must be reachable");
        hang(Daemon.MGR).failed("lab: volumes of " + FS, "gave no answer within", "ceph mgr fail");
        hang(Daemon.MON).failed("lab: login", "not started", "`ceph -s`");
    }

    private Checked hang(Daemon daemon) throws IOException {
        daemon.pause();
        try {
            return check();
        } finally {
            daemon.resume();
        }
    }
}
