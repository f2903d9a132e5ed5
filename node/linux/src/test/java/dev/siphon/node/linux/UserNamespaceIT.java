package dev.siphon.node.linux;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import jnr.constants.platform.Errno;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Mounts a tmpfs with other owners, on this machine's kernel.
class UserNamespaceIT {
    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final FileOwner STORED = new FileOwner(10_001, 10_501);
    private static final FileOwner SHOWN = new FileOwner(0, 1000);

    private final Workplace workplace = Workplace.create();
    private final Path stored = workplace.directory("stored");
    private final Path shown = workplace.directory("shown");

    @BeforeEach
    void mount() {
        Programs.run("mount", "-t", "tmpfs", "tmpfs", stored.toString());
        Programs.run("chown", STORED.toString(), stored.toString());
    }

    @AfterEach
    void unmount() {
        workplace.close();
    }

    private void show(Path from, Path at) {
        try (DirectoryHandle source = DirectoryHandle.open(from.toString());
                DirectoryHandle target = DirectoryHandle.open(at.toString());
                DetachedMount mount = source.cloneMount();
                UserNamespace owners = UserNamespace.mapping(STORED, SHOWN, LIMIT)) {
            mount.restrict(Set.of(MountFlag.NO_DEV), owners);
            mount.attach(target);
        }
    }

    private static FileOwner owner(Path path) {
        try (DirectoryHandle directory = DirectoryHandle.open(path.toString())) {
            return directory.owner();
        }
    }

    private static MountEntry entry(Path path) {
        return MountTable.read().at(path.toString()).orElseThrow();
    }

    @Test
    void aMountShowsItsOwnersAsTheNamespaceSays() {
        show(stored, shown);
        assertEquals(STORED, owner(stored));
        assertEquals(SHOWN, owner(shown));
        assertTrue(entry(shown).isIdmapped());
        assertEquals(Set.of(MountFlag.NO_DEV), entry(shown).flags());
        assertEquals(false, entry(stored).isIdmapped());
    }

    @Test
    void aMountIsMappedOnce() {
        show(stored, shown);
        Path again = workplace.directory("again");
        ErrnoException e = assertThrows(ErrnoException.class, () -> show(shown, again));
        assertEquals(Errno.EPERM, e.errno());
    }

    @Test
    void noChildAndNoDescriptorStays() throws IOException {
        long before = descriptors();
        for (int i = 0; i < 5; i++) {
            UserNamespace.mapping(STORED, SHOWN, LIMIT).close();
        }
        assertEquals(before, descriptors());
        awaitNoChild();
    }

    /// Waits until no child is left; children exit at once, but are reaped a moment later.
    private static void awaitNoChild() {
        ProcessHandle.current()
                .children()
                .forEach(child -> child.onExit()
                        .orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS)
                        .join());
    }

    private static long descriptors() throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.filter(fd -> target(fd).startsWith("user:")).count();
        }
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException _) {
            return ""; // the descriptor of the listing itself
        }
    }

    @Test
    void aChildThatIsLateIsEnded() {
        List<String> silent = List.of("sleep", "600");
        Duration limit = Duration.ofMillis(100);
        assertThrows(UncheckedIOException.class, () -> UserNamespace.mapping(silent, STORED, SHOWN, limit));
        awaitNoChild();
    }

    /// Only in a guest, because it disables user namespaces for the whole machine.
    @Test
    @Tag("kernel")
    void whereNoneMayBeMadeTheReasonIsTold() throws IOException {
        Path limit = Path.of("/proc/sys/user/max_user_namespaces");
        String before = Files.readString(limit);
        Files.writeString(limit, "0");
        try {
            UncheckedIOException e =
                    assertThrows(UncheckedIOException.class, () -> UserNamespace.mapping(STORED, SHOWN, LIMIT));
            assertTrue(String.valueOf(e.getMessage()).contains("unshare"), e.getMessage());
        } finally {
            Files.writeString(limit, before);
        }
    }
}
