package dev.siphon.controller.ldap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

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
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Servers that accept a connection and never say anything in the TLS handshake.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class SilentServerTest {
    private static final LdapConnections.Search SEARCH = new LdapConnections.Search(
            "dc=a", SearchScope.BASE, Filter.createPresenceFilter("objectClass"), List.of("dc"));

    /// Accepts, agrees to StartTLS if asked, and is silent from then on.
    private static final class Silent implements AutoCloseable {
        private static final byte[] AGREED = {0x30, 12, 2, 1, 1, 0x78, 7, 10, 1, 0, 4, 0, 4, 0};

        private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        private final Queue<Socket> accepted = new ConcurrentLinkedQueue<>();

        Silent(LdapServer.Protection protection) throws IOException {
            Thread.ofVirtual().start(() -> accept(protection));
        }

        private void accept(LdapServer.Protection protection) {
            try {
                while (true) {
                    Socket socket = listener.accept();
                    accepted.add(socket);
                    if (protection == LdapServer.Protection.START_TLS
                            && socket.getInputStream().read(new byte[1024]) > 0) {
                        socket.getOutputStream().write(AGREED);
                    }
                }
            } catch (IOException _) {
                // closed
            }
        }

        @Override
        public void close() throws IOException {
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
        LdapConfig config = LdapConfigFile.parse(
                Path.of("directory.json"),
                "{\"servers\": [\"ldaps://one\"], \"base\": \"dc=a\", \"timeoutSeconds\": 6}");
        return LdapConnections.open(new LdapConfig(
                List.of(servers),
                config.caFile(),
                config.bind(),
                config.accounts(),
                config.groups(),
                config.limits(),
                config.cache()));
    }

    @ParameterizedTest
    @EnumSource(names = {"TLS", "START_TLS"})
    void theNextServerIsAsked(LdapServer.Protection protection) throws Exception {
        try (Silent first = new Silent(protection);
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
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"TLS", "START_TLS"})
    void whereThereIsNoOtherItIsSaid(LdapServer.Protection protection) throws Exception {
        try (Silent only = new Silent(protection);
                LdapConnections connections = open(at(only.listener.getLocalPort(), protection))) {
            assertThrows(DriverException.BackendUnavailable.class, () -> connections.atMostTwo(SEARCH));
            assertFalse(only.accepted.isEmpty());
        }
    }
}
