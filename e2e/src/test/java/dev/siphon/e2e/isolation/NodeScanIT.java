package dev.siphon.e2e.isolation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.Volume;
import dev.siphon.e2e.driver.LeavesNothingBehind;
import dev.siphon.e2e.driver.NodeMounts;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.lab.Command;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/// Searches a node for every key of the cluster: on its disk, in its log, and in the arguments, environments and
/// open memory files of its processes.
@Timeout(300)
@ExtendWith(LeavesNothingBehind.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class NodeScanIT {
    private static final Pattern KEY = Pattern.compile("key: (\\S{20,})");
    private static final long LARGEST_FILE = 16L << 20;

    private final KeyedDriver driver = KeyedDriver.start();
    private final Instant began = Instant.now().minusSeconds(1);

    @AfterAll
    void end() {
        driver.close();
    }

    @Test
    void aNodeKeepsNoKeyAnywhereButInTheMemoryOfItsClients() throws IOException {
        Volume staged = driver.volume("staged", "u1");
        Volume other = driver.volume("staged-too", "u2");
        Volume never = driver.volume("never-staged", "u2");
        Set<String> all = everyKey();
        assertTrue(all.contains(key(staged)) && all.contains(key(never)), "the scan knows the keys");
        NodeMounts mounts = driver.mountsWith(staged, "kubelet");
        NodeMounts others = driver.mountsWith(other, "kubelet");
        Files.writeString(mounts.mount(staged).resolve("file"), "x");
        Files.writeString(others.mount(other).resolve("file"), "x");
        assertEquals(Set.of(), found(all), "while two volumes are staged");
        assertTrue(clientsRemember(key(staged)), "a scan of memory finds what a client needs");
        assertFalse(clientsRemember(key(never)), "a client has its own volume's key alone");

        assertDumpsNothing();

        assertFalse(mounts.stage(never, Requests.shared()).ok(), "another volume's key");
        others.close();
        assertEquals(Set.of(), found(all), "after one was unstaged, and staging failed");
        assertFalse(clientsRemember(key(other)));
        mounts.close();
        assertEquals(Set.of(), found(all), "after all were unstaged");
        assertEquals(List.of(), clients());
    }

    /// A core dump of any of these would write the keys to the disk.
    private void assertDumpsNothing() throws IOException {
        assertFalse(clients().isEmpty());
        for (Path process : processes()) {
            String limits = Files.readString(process.resolve("limits"));
            assertTrue(
                    Pattern.compile("(?m)^Max core file size +0 +0 ")
                            .matcher(limits)
                            .find(),
                    limits);
        }
    }

    private String key(Volume volume) {
        return driver.secrets(volume).key();
    }

    private static Set<String> everyKey() {
        Set<String> keys = new TreeSet<>();
        Matcher found = KEY.matcher(KeyHolder.admin().tool("ceph", "auth", "ls").output());
        while (found.find()) {
            keys.add(found.group(1));
        }
        return keys;
    }

    /// Returns where any of these keys is, apart from the controller's and the lab's files.
    private Set<String> found(Set<String> keys) throws IOException {
        Set<String> places = new TreeSet<>();
        List<Path> files = new ArrayList<>(List.of(driver.folder().file("node-a.log")));
        for (String folder : List.of(
                driver.folder().file("node-a-state").toString(),
                driver.folder().file("kubelet").toString(),
                "/etc/ceph",
                "/etc/siphon",
                "/run",
                "/var/lib/ceph/tmp",
                "/var/tmp",
                "/dev/shm",
                "/tmp")) {
            files.addAll(filesBelow(folder));
        }
        for (Path process : processes()) {
            files.add(process.resolve("cmdline"));
            files.add(process.resolve("environ"));
            files.addAll(openFiles(process));
        }
        for (Path file : files) {
            String text = text(file);
            keys.stream().filter(text::contains).forEach(_ -> places.add(file.toString()));
        }
        places.removeIf(place -> place.startsWith(driver.keys().toString())
                || place.equals(driver.folder().file("controller.keyring").toString()));
        return places;
    }

    /// Returns the files of this file system that were written since the test began: a mounted volume is not the
    /// node's disk.
    private List<Path> filesBelow(String folder) {
        String since = "@" + began.getEpochSecond();
        return Command.attempt("find", folder, "-xdev", "-type", "f", "-newermt", since)
                .output()
                .lines()
                .filter(line -> line.startsWith("/"))
                .map(Path::of)
                .toList();
    }

    /// Returns the node and all ceph-fuse processes.
    private List<Path> processes() throws IOException {
        List<Path> all = new ArrayList<>(clients());
        all.add(Path.of("/proc", Long.toString(driver.nodeProcess().pid())));
        return all;
    }

    private static List<Path> clients() throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc"))) {
            return all.filter(each -> each.getFileName().toString().matches("[0-9]+"))
                    .filter(each -> text(each.resolve("cmdline")).startsWith("ceph-fuse"))
                    .toList();
        }
    }

    /// Returns a process's open memory files, by which the client gets the key.
    private static List<Path> openFiles(Path process) throws IOException {
        try (Stream<Path> all = Files.list(process.resolve("fd"))) {
            return all.filter(each -> linksTo(each).startsWith("/memfd:")).toList();
        } catch (FileSystemException ended) {
            return List.of();
        }
    }

    private static String linksTo(Path link) {
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (IOException closed) {
            return "";
        }
    }

    private static String text(Path file) {
        try {
            return Files.size(file) > LARGEST_FILE ? "" : Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (IOException gone) {
            return "";
        }
    }

    /// Returns whether any client has the key in its memory, as text or as decoded bytes.
    private static boolean clientsRemember(String key) throws IOException {
        byte[] secret = java.util.Base64.getDecoder().decode(key);
        String bytes = new String(secret, 12, secret.length - 12, StandardCharsets.ISO_8859_1);
        for (Path client : clients()) {
            String memory = memory(client);
            if (memory.contains(key) || memory.contains(bytes)) {
                return true;
            }
        }
        return false;
    }

    /// Returns a process's private writable memory.
    private static String memory(Path process) throws IOException {
        StringBuilder all = new StringBuilder();
        try (RandomAccessFile memory =
                new RandomAccessFile(process.resolve("mem").toFile(), "r")) {
            for (String line : Files.readAllLines(process.resolve("maps"))) {
                Matcher range =
                        Pattern.compile("([0-9a-f]+)-([0-9a-f]+) rw-p .*").matcher(line);
                if (range.matches()) {
                    long begin = Long.parseUnsignedLong(range.group(1), 16);
                    long length = Long.parseUnsignedLong(range.group(2), 16) - begin;
                    byte[] part = new byte[(int) Math.min(length, LARGEST_FILE)];
                    memory.seek(begin);
                    int read = read(memory, part);
                    all.append(new String(part, 0, Math.max(0, read), StandardCharsets.ISO_8859_1));
                }
            }
        }
        return all.toString();
    }

    private static int read(RandomAccessFile memory, byte[] part) {
        try {
            return memory.read(part);
        } catch (IOException notThere) {
            return 0;
        }
    }
}
