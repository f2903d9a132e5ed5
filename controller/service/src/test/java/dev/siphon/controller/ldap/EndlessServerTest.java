package dev.siphon.controller.ldap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.unboundid.ldap.sdk.Entry;
import com.unboundid.ldap.sdk.Filter;
import com.unboundid.ldap.sdk.SearchScope;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/// Servers that keep sending, and never finish.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class EndlessServerTest {
    private static final LdapConnections.Search SEARCH = new LdapConnections.Search(
            "dc=a", SearchScope.SUB, Filter.createPresenceFilter("objectClass"), List.of("dc"));

    /// A successful reply to the bind, up to the length of its diagnostic message: 32,623 bytes.
    private static final byte[] BEGUN = {
        0x30,
        (byte) 0x82,
        0x7F,
        0x7F,
        2,
        1,
        1,
        0x61,
        (byte) 0x82,
        0x7F,
        0x78,
        10,
        1,
        0,
        4,
        0,
        4,
        (byte) 0x82,
        0x7F,
        0x6F
    };

    private final AtomicReference<HandmadeServer> server = new AtomicReference<>();

    private static LdapConfig config(LdapServer server, Duration lookup, int connections) {
        LdapConfig config = LdapConfigFile.parse(
                Path.of("directory.json"),
                "{\"servers\": [\"ldap://one\"], \"tls\": \"none\", \"base\": \"dc=a\","
                        + " \"cache\": {\"freshSeconds\": 0}}");
        return new LdapConfig(
                List.of(server),
                config.caFile(),
                config.bind(),
                config.accounts(),
                config.groups(),
                new LdapConfig.Limits(lookup, connections, 500),
                config.cache());
    }

    private static LdapConnections open(LdapServer server, Duration lookup) {
        return LdapConnections.open(config(server, lookup, 8));
    }

    private static Entry entry(String name) {
        Entry entry = new Entry("uid=" + name + ",dc=a");
        entry.addAttribute("uid", name);
        entry.addAttribute("entryUUID", "id-" + name);
        entry.addAttribute("uidNumber", "10001");
        entry.addAttribute("gidNumber", "10001");
        return entry;
    }

    private HandmadeServer trickling() throws IOException {
        HandmadeServer slow = new HandmadeServer(asked -> {
            server.get().trickle(asked, entry("u1"));
            return "";
        });
        server.set(slow);
        return slow;
    }

    /// On a machine that stalls, a read may time out instead, which is fine too.
    private static void assertGivenUp(Executable lookup) {
        assertThrows(DriverException.BackendUnavailable.class, lookup);
    }

    @Test
    void entriesThatTrickleAreGivenUp() throws Exception {
        try (HandmadeServer slow = trickling();
                LdapConnections connections = open(slow.address(), Duration.ofMillis(2100))) {
            assertGivenUp(() -> connections.all(SEARCH));
            assertGivenUp(() -> connections.atMostTwo(SEARCH));
        }
    }

    @Test
    void aListingHasAnEndToo() throws Exception {
        try (HandmadeServer slow = trickling();
                LdapConnections connections = open(slow.address(), Duration.ofSeconds(3))) {
            assertGivenUp(() -> connections.each(SEARCH, Duration.ofSeconds(1), _ -> {}));
        }
    }

    @Test
    void pagesWithoutEntriesAndWithoutEndAreAFault() throws Exception {
        try (HandmadeServer paging = new HandmadeServer(_ -> "next");
                LdapConnections connections = open(paging.address(), Duration.ofSeconds(30))) {
            DriverException.BackendFault fault =
                    assertThrows(DriverException.BackendFault.class, () -> connections.all(SEARCH));
            assertTrue(fault.getMessage().contains("endless pages"), fault.getMessage());
        }
    }

    @Test
    void anEntryThatIsTooLargeIsAFault() throws Exception {
        Entry large = entry("u1");
        large.addAttribute("description", "x".repeat(4 << 20));
        try (HandmadeServer generous = new HandmadeServer(asked -> {
                    asked.send(large);
                    return "";
                });
                LdapConnections connections = open(generous.address(), Duration.ofSeconds(30))) {
            DriverException.BackendFault fault =
                    assertThrows(DriverException.BackendFault.class, () -> connections.all(SEARCH));
            assertTrue(fault.getMessage().contains("an entry of more than"), fault.getMessage());
        }
    }

    @Test
    void entriesThatAreTooMuchToKeepAreAFault() throws Exception {
        Entry large = entry("u1");
        large.addAttribute("description", "x".repeat(1 << 20));
        try (HandmadeServer generous = new HandmadeServer(asked -> {
                    for (int i = 0; i < 16; i++) {
                        asked.send(large);
                    }
                    return "";
                });
                LdapConnections connections = open(generous.address(), Duration.ofSeconds(30))) {
            DriverException.BackendFault fault =
                    assertThrows(DriverException.BackendFault.class, () -> connections.all(SEARCH));
            assertTrue(fault.getMessage().contains("can be kept"), fault.getMessage());
        }
    }

    /// Accepts requests, and trickles bytes of an endless reply to the bind.
    private static void trickleBytes(ServerSocket listener, CountDownLatch closed) {
        try {
            while (true) {
                Socket socket = listener.accept();
                Thread.ofVirtual().start(() -> trickleBytes(socket, closed));
            }
        } catch (IOException _) {
            // closed
        }
    }

    private static void trickleBytes(Socket to, CountDownLatch closed) {
        try (to) {
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

    @Test
    void bytesThatTrickleAreGivenUp() throws Exception {
        CountDownLatch closed = new CountDownLatch(1);
        try (ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                LdapConnections connections = open(
                        new LdapServer("127.0.0.1", listener.getLocalPort(), LdapServer.Protection.NONE),
                        Duration.ofMillis(900))) {
            Thread.ofVirtual().start(() -> trickleBytes(listener, closed));
            assertThrows(DriverException.BackendUnavailable.class, () -> connections.atMostTwo(SEARCH));
        } finally {
            closed.countDown();
        }
    }

    @Test
    void toCloseEndsAllWhoWait() throws Exception {
        CountDownLatch asked = new CountDownLatch(2);
        try (HandmadeServer slow = new HandmadeServer(search -> {
                    asked.countDown();
                    server.get().trickle(search, entry("u1"));
                    return "";
                });
                ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
            server.set(slow);
            LdapConnections connections = LdapConnections.open(config(slow.address(), Duration.ofMinutes(1), 2));
            List<Future<List<?>>> waiting = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                waiting.add(callers.submit(() -> connections.all(SEARCH)));
            }
            asked.await();
            connections.close();
            for (Future<List<?>> each : waiting) {
                ExecutionException ended = assertThrows(ExecutionException.class, () -> each.get(20, TimeUnit.SECONDS));
                assertInstanceOf(DriverException.BackendUnavailable.class, ended.getCause());
            }
        }
    }

    @Test
    void itIsSaidAndOverWhenTheServerIsWell() throws Exception {
        AtomicBoolean well = new AtomicBoolean();
        try (HandmadeServer changing = new HandmadeServer(asked -> {
            if (!well.get()) {
                server.get().trickle(asked, entry("u1"));
            } else if (asked.search().getFilter().toString().contains("(uid=u1)")) {
                asked.send(entry("u1"));
            }
            return "";
        })) {
            server.set(changing);
            try (LdapAdapter directory = LdapAdapter.open(
                    config(changing.address(), Duration.ofSeconds(3), 2),
                    Duration.ofMillis(100),
                    () -> Duration.ofSeconds(30),
                    new PrometheusRegistry(),
                    new BackgroundTasks())) {
                await(() -> directory.remark().isPresent());
                assertThrows(DriverException.BackendUnavailable.class, () -> directory.account("u1"));
                well.set(true);
                await(() -> directory.remark().isEmpty());
                assertEquals(Optional.of(10_001), directory.account("u1").map(it -> it.uid()));
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
