package dev.siphon.controller.ldap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.unboundid.ldap.listener.InMemoryDirectoryServer;
import com.unboundid.ldap.listener.InMemoryDirectoryServerConfig;
import com.unboundid.ldap.listener.InMemoryListenerConfig;
import com.unboundid.ldap.sdk.Filter;
import com.unboundid.ldap.sdk.SearchScope;
import com.unboundid.util.LDAPSDKException;
import dev.siphon.csi.DriverException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// Servers that accept a connection and never finish the TLS handshake: they are silent, or trickle bytes.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class SilentServerTest {
    private static final LdapConnections.Search SEARCH = new LdapConnections.Search(
            "dc=a", SearchScope.BASE, Filter.createPresenceFilter("objectClass"), List.of("dc"));

    /// Accepts connections and StartTLS. Then it is silent, or starts a reply that takes minutes.
    private static final class Silent implements AutoCloseable {
        private static final byte[] AGREED = {0x30, 12, 2, 1, 1, 0x78, 7, 10, 1, 0, 4, 0, 4, 0};

        /// A handshake record of 16 KiB with a ServerHello of the same length.
        private static final byte[] BEGUN = {0x16, 3, 3, 0x40, 0, 2, 0, 0x3F, (byte) 0xFC, 3, 3};

        private final CountDownLatch closed = new CountDownLatch(1);
        private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        private final Queue<Socket> accepted = new ConcurrentLinkedQueue<>();

        Silent(LdapServer.Protection protection, boolean trickles) throws IOException {
            Thread.ofVirtual().start(() -> accept(protection, trickles));
        }

        private void accept(LdapServer.Protection protection, boolean trickles) {
            try {
                while (true) {
                    Socket socket = listener.accept();
                    accepted.add(socket);
                    if (protection == LdapServer.Protection.START_TLS
                            && socket.getInputStream().read(new byte[1024]) > 0) {
                        socket.getOutputStream().write(AGREED);
                    }
                    if (trickles) {
                        Thread.ofVirtual().start(() -> trickle(socket));
                    }
                }
            } catch (IOException _) {
                // closed
            }
        }

        private void trickle(Socket to) {
            try {
                // the SDK would drop what comes before its own part of the handshake
                int _ = to.getInputStream().read(new byte[1024]);
                to.getOutputStream().write(BEGUN);
                while (!closed.await(20, TimeUnit.MILLISECONDS)) {
                    to.getOutputStream().write(1);
                }
            } catch (IOException _) {
                // the client has disconnected
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
            }
        }

        /// Returns whether a connection attempt is running. The SDK opens each connection in its own thread, named
        /// after the server.
        boolean hasThread() {
            String address = ":" + listener.getLocalPort();
            return Thread.getAllStackTraces().keySet().stream()
                    .anyMatch(thread -> thread.getName().endsWith(address));
        }

        @Override
        public void close() throws IOException {
            closed.countDown();
            listener.close();
            for (Socket each : accepted) {
                each.close();
            }
        }
    }

    private static InMemoryDirectoryServer answering() throws LDAPSDKException {
        InMemoryDirectoryServerConfig config = new InMemoryDirectoryServerConfig("dc=a");
        config.setListenerConfigs(
                InMemoryListenerConfig.createLDAPConfig("plain", InetAddress.getLoopbackAddress(), 0, null));
        InMemoryDirectoryServer server = new InMemoryDirectoryServer(config);
        server.add("dn: dc=a", "objectClass: domain", "dc: a");
        server.startListening();
        return server;
    }

    private static LdapServer at(int port, LdapServer.Protection protection) {
        return new LdapServer("127.0.0.1", port, protection);
    }

    private static LdapConnections open(LdapServer... servers) {
        return open(6, List.of(servers));
    }

    private static LdapConnections open(int timeoutSeconds, List<LdapServer> servers) {
        LdapConfig config = LdapConfigFile.parse(
                Path.of("directory.json"),
                "{\"servers\": [\"ldaps://one\"], \"base\": \"dc=a\", \"timeoutSeconds\": " + timeoutSeconds + "}");
        return LdapConnections.open(new LdapConfig(
                servers,
                config.caFile(),
                config.bind(),
                config.accounts(),
                config.groups(),
                config.limits(),
                config.cache()));
    }

    @ParameterizedTest
    @CsvSource({"TLS, false", "START_TLS, false", "TLS, true", "START_TLS, true"})
    void theNextServerIsAsked(LdapServer.Protection protection, boolean trickles) throws Exception {
        try (Silent first = new Silent(protection, trickles);
                InMemoryDirectoryServer second = answering();
                LdapConnections connections = open(
                        at(first.listener.getLocalPort(), protection),
                        at(second.getListenPort(), LdapServer.Protection.NONE));
                ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Integer>> found = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                found.add(callers.submit(() -> connections.atMostTwo(SEARCH).size()));
            }
            for (Future<Integer> each : found) {
                assertEquals(1, each.get());
            }
            assertFalse(first.accepted.isEmpty());
            await(() -> !first.hasThread());
        }
    }

    @ParameterizedTest
    @CsvSource({"TLS, false", "START_TLS, false", "TLS, true", "START_TLS, true"})
    void whereThereIsNoOtherItIsSaid(LdapServer.Protection protection, boolean trickles) throws Exception {
        try (Silent only = new Silent(protection, trickles);
                LdapConnections connections = open(at(only.listener.getLocalPort(), protection))) {
            assertThrows(DriverException.BackendUnavailable.class, () -> connections.atMostTwo(SEARCH));
            assertFalse(only.accepted.isEmpty());
            await(() -> !only.hasThread());
        }
    }

    /// Returns how long a lookup takes that nobody answers.
    private static Duration unanswered(LdapConnections connections) {
        long began = System.nanoTime();
        assertThrows(DriverException.BackendUnavailable.class, () -> connections.atMostTwo(SEARCH));
        return Duration.ofNanos(System.nanoTime() - began);
    }

    private static void assertWithinLimit(Duration took) {
        assertTrue(took.compareTo(Duration.ofSeconds(8)) < 0, "a lookup of at most 3 s took " + took);
    }

    @ParameterizedTest
    @EnumSource(names = {"TLS", "START_TLS"})
    void allServersTogetherHaveOneDeadline(LdapServer.Protection protection) throws Exception {
        List<Silent> all = new ArrayList<>();
        try {
            for (int i = 0; i < 6; i++) {
                all.add(new Silent(protection, true));
            }
            List<LdapServer> servers = all.stream()
                    .map(each -> at(each.listener.getLocalPort(), protection))
                    .toList();
            try (LdapConnections connections = open(3, servers)) {
                assertWithinLimit(unanswered(connections));
                assertFalse(all.getLast().accepted.isEmpty());
            }
        } finally {
            for (Silent each : all) {
                each.close();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"TLS", "START_TLS"})
    void noLookupWaitsForTheConnectionOfAnother(LdapServer.Protection protection) throws Exception {
        try (Silent first = new Silent(protection, true);
                Silent second = new Silent(protection, true);
                LdapConnections connections = open(
                        3,
                        List.of(
                                at(first.listener.getLocalPort(), protection),
                                at(second.listener.getLocalPort(), protection)));
                ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Duration>> took = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                took.add(callers.submit(() -> unanswered(connections)));
            }
            for (Future<Duration> each : took) {
                assertWithinLimit(each.get());
            }
        }
    }

    private static void await(BooleanSupplier condition) {
        // the class's timeout limits this wait
        while (!condition.getAsBoolean()) {
            LockSupport.parkNanos(2_000_000);
        }
    }
}
