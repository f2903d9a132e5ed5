package dev.siphon.e2e.isolation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.Volume;
import dev.siphon.csi.VolumeId;
import dev.siphon.e2e.driver.LeavesNothingBehind;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Lab;
import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/// Runs `siphon whois` on what is found in a real Ceph and on a node, without Kubernetes.
@Timeout(180)
@ExtendWith(LeavesNothingBehind.class)
final class WhoisIT {
    @Test
    void eachClueOfAMountedVolumeLeadsToItsAccount() throws IOException {
        try (KeyedDriver driver = KeyedDriver.start()) {
            Volume volume = driver.volume("whose", "u1");
            Path mounted = driver.mountsWith(volume, "whose-mounts").mount(volume);
            Files.writeString(mounted.resolve("file"), "x");
            String userId = driver.secrets(volume).userId();
            VolumeId.Provisioned id = provisioned(volume);
            String facts = whois(driver, 0, volume.getVolumeId());

            for (String fact : List.of(
                    "(?m)^account +u1$",
                    "(?m)^uid +10001$",
                    "(?m)^group +" + id.group() + "$",
                    "(?m)^filesystem +lab/" + Lab.here().fileSystem() + "$",
                    "(?m)^volume +" + id + "$",
                    "(?m)^path +/volumes/" + id.group() + "/" + id.subvolume() + "/[0-9a-f-]{36}$",
                    "(?m)^identity +client\\." + userId + "$",
                    "(?m)^session +client\\.[0-9]+ of host node-a at [0-9.]+$")) {
                assertTrue(facts.lines().anyMatch(line -> line.matches(fact.substring("(?m)".length()))), facts);
            }
            String path = value(facts, "path", 1);
            for (String clue : List.of(
                    id.subvolume(),
                    path,
                    path + "/file",
                    "/volumes/" + id.group() + "/" + id.subvolume(),
                    "client." + userId,
                    userId,
                    value(facts, "session", 0).split(" ", 2)[0],
                    source(driver))) {
                assertEquals(facts, whois(driver, 0, clue), clue);
            }
            Command.Result here = Command.attempt(Project.launcher().toString(), "whois", mounted.toString());
            assertEquals(0, here.exit(), here::output);
            assertEquals(id.toString(), value(here.output(), "volume", 0));
            assertTrue(here.output().contains("mounted     " + mounted), here::output);
            for (String clue : List.of("u1", "10001", id.group(), "/volumes/" + id.group())) {
                String all = whois(driver, 0, clue);
                assertTrue(all.startsWith(facts.substring(0, facts.indexOf("volume "))), all);
                assertTrue(all.endsWith(facts.substring(facts.indexOf("volume "))), all);
            }
            String json = whois(driver, 0, volume.getVolumeId(), "--json");
            assertTrue(json.contains("{\"thing\":1,\"what\":\"account\",\"value\":\"u1\"}"), json);
            assertFalse((facts + json).contains(driver.secrets(volume).key()), "a key is printed");
        }
    }

    @Test
    void anAccountThatLeftIsKnownByItsNote() throws IOException {
        try (KeyedDriver driver = KeyedDriver.start()) {
            Volume volume = driver.volume("left", "u1_b");
            Path passwd = driver.folder().file("passwd");
            Files.writeString(
                    passwd,
                    Files.readAllLines(passwd).stream()
                            .filter(line -> !line.startsWith("u1_b:"))
                            .collect(Collectors.joining("\n", "", "\n")));

            String facts = whois(driver, 0, volume.getVolumeId());

            assertTrue(facts.startsWith("account     u1_b (no longer in the directory)\nuid         10100\n"), facts);
            assertEquals(
                    provisioned(volume).group(), value(whois(driver, 0, "u1_b"), "group", 0), "by its former name");
        }
    }

    @Test
    void withoutTheCapsForSessionsTheRestIsShown() {
        try (KeyedDriver driver = KeyedDriver.start(List.of(), List.of())) {
            Volume volume = driver.volume("modest", "u1");

            String facts = whois(driver, 0, volume.getVolumeId());

            assertTrue(facts.startsWith("account     u1\n"), facts);
            assertTrue(facts.contains("siphon ceph-caps --key-commands prints what"), facts);
        }
    }

    @Test
    void whatNobodyKnowsIsAnErrorWithAdvice() {
        try (KeyedDriver driver = KeyedDriver.start()) {
            String unknown = whois(driver, 1, "a" + "0".repeat(20));
            assertTrue(unknown.contains("is not known as the group of an account"), unknown);
            String pod = whois(driver, 1, "u1/pod");
            assertTrue(pod.contains("with --kubernetes-namespace only"), pod);
        }
    }

    @Test
    void aDeviceOrPathThatIsNotSiphonsIsAnError() {
        for (String clue : List.of("/dev/loop999", "/etc/passwd")) {
            Command.Result result = Command.attempt(Project.launcher().toString(), "whois", clue);
            assertEquals(1, result.exit(), result::output);
            assertTrue(result.output().contains("is nothing of Siphon's on this machine"), result::output);
        }
    }

    private static VolumeId.Provisioned provisioned(Volume volume) {
        return (VolumeId.Provisioned) VolumeId.parse(volume.getVolumeId());
    }

    private static String whois(KeyedDriver driver, int exit, String... words) {
        String[] command = new String[words.length + 1];
        command[0] = "whois";
        System.arraycopy(words, 0, command, 1, words.length);
        Command.Result result = driver.siphon(command);
        assertEquals(exit, result.exit(), result::output);
        return result.output();
    }

    /// Returns the fact of that kind and number.
    private static String value(String facts, String what, int number) {
        return facts.lines()
                .filter(line -> line.startsWith(what + " "))
                .map(line -> line.substring(what.length()).strip())
                .skip(number)
                .findFirst()
                .orElseThrow(() -> new AssertionError(facts));
    }

    /// Returns the source of the volume's mount, as findmnt(8) shows it.
    private static String source(KeyedDriver driver) throws IOException {
        return Files.readAllLines(Path.of("/proc/self/mounts")).stream()
                .filter(line ->
                        line.contains(driver.folder().file(".").normalize().toString()))
                .map(line -> line.split(" ", 2)[0])
                .filter(source -> source.contains("!") || source.contains(":/"))
                .findFirst()
                .orElseThrow();
    }
}
