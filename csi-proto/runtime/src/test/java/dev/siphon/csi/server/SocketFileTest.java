package dev.siphon.csi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SocketFileTest {
    @TempDir
    private Path dir;

    private Path path = Path.of("/");
    private final List<ServerSocketChannel> listeners = new ArrayList<>();

    @BeforeEach
    void nameTheSocket() {
        path = dir.resolve("csi.sock");
    }

    @AfterEach
    void stopListening() throws IOException {
        for (ServerSocketChannel listener : listeners) {
            listener.close();
        }
    }

    @Test
    void nobodyElseCanReachTheSocketBeforeItHasItsMode() {
        SocketFile.bind(path, bound -> {
            Path room = Objects.requireNonNull(bound.getParent());
            assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(room)));
            assertFalse(Files.exists(path));
            listen(bound);
        });
        assertEquals("rw-------", mode());
        assertEquals(List.of(path), contents());
        assertTrue(answers());
    }

    @Test
    void aStaleSocketIsReplaced() throws IOException {
        listen(path);
        stopListening();
        assertTrue(Files.exists(path));
        SocketFile.bind(path, this::listen);
        assertTrue(answers());
        assertEquals("rw-------", mode());
    }

    @Test
    void aSocketOnWhichSomebodyAnswersIsLeftAlone() throws IOException {
        listen(path);
        StartFailure failure = assertThrows(StartFailure.class, () -> SocketFile.bind(path, this::listen));
        assertEquals(
                "another process answers on " + path + "; stop it, or choose another endpoint", failure.getMessage());
        assertTrue(answers());
    }

    @Test
    void aSocketWithAFullBacklogIsLeftAlone() throws IOException {
        ServerSocketChannel busy = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        listeners.add(busy.bind(UnixDomainSocketAddress.of(path), 1));
        List<SocketChannel> waiting = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
            channel.configureBlocking(false);
            waiting.add(channel);
            try {
                channel.connect(UnixDomainSocketAddress.of(path));
            } catch (IOException _) {
                break; // full
            }
        }
        assertThrows(StartFailure.class, () -> SocketFile.bind(path, this::listen));
        for (SocketChannel channel : waiting) {
            channel.close();
        }
        assertTrue(Files.exists(path));
    }

    @Test
    void whatIsNoSocketIsLeftAlone() throws IOException {
        Files.writeString(path, "precious");
        assertThrows(StartFailure.class, () -> SocketFile.bind(path, this::listen));
        assertEquals("precious", Files.readString(path));
    }

    @Test
    void aLinkIsNotFollowed() throws IOException {
        Path other = dir.resolve("other");
        listen(other);
        stopListening();
        Files.createSymbolicLink(path, other);
        assertThrows(StartFailure.class, () -> SocketFile.bind(path, this::listen));
        assertTrue(Files.isSymbolicLink(path));
        assertTrue(Files.exists(other));
    }

    @Test
    void aFolderThatDoesNotExistIsNamed() {
        StartFailure failure =
                assertThrows(StartFailure.class, () -> SocketFile.bind(dir.resolve("no/csi.sock"), this::listen));
        assertTrue(
                String.valueOf(failure.getMessage()).contains(dir.resolve("no").toString()), failure::getMessage);
    }

    @Test
    void nothingIsLeftWhereBindingFails() {
        assertThrows(
                StartFailure.class,
                () -> SocketFile.bind(path, bound -> {
                    throw new IOException("no");
                }));
        assertEquals(List.of(), contents());
    }

    @Test
    void onlyItsOwnSocketIsRemoved() throws IOException {
        SocketFile file = SocketFile.bind(path, this::listen);
        assertTrue(file.isInPlace());
        Files.delete(path);
        assertFalse(file.isInPlace());
        listen(path);
        assertFalse(file.isInPlace());
        file.unlink();
        assertTrue(answers());
    }

    @Test
    void removingTwiceIsFine() throws IOException {
        SocketFile file = SocketFile.bind(path, this::listen);
        file.unlink();
        file.unlink();
        assertEquals(List.of(), contents());
    }

    private void listen(Path where) throws IOException {
        listeners.add(ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(where)));
    }

    private boolean answers() {
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
            return channel.isConnected();
        } catch (IOException _) {
            return false;
        }
    }

    private String mode() {
        try {
            return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private List<Path> contents() {
        try (Stream<Path> entries = Files.list(dir)) {
            return entries.toList();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
