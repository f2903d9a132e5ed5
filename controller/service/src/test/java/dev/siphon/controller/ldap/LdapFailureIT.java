package dev.siphon.controller.ldap;

import static dev.siphon.controller.ceph.CephLab.await;
import static dev.siphon.controller.ceph.CephLab.daemon;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.identity.Account;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The directory while servers are down, hang, or have a wrong certificate, with a real OpenLDAP.
@Timeout(120)
class LdapFailureIT {
    /// The lab's own address (e2e/lab.d/holder.bash), which no certificate of the directory contains. It is not
    /// in 127.0.0.0/8, which is exempt from the check of names.
    private static final String ELSEWHERE = "198.51.100.77";

    private static final Duration OFTEN = Duration.ofMillis(200);
    private static final Duration SOON = Duration.ofSeconds(20);

    /// Cached entries expire at once, so each lookup contacts a server while one responds.
    private static final String NEVER_FRESH = ", \"timeoutSeconds\": 3, \"cache\": {\"freshSeconds\": 0}";

    private final PrometheusRegistry metrics = new PrometheusRegistry();

    private LdapAdapter open(LdapConfig config) {
        return LdapAdapter.open(config, OFTEN, () -> Duration.ofSeconds(30), metrics, new BackgroundTasks());
    }

    private double lookups(String result) {
        return metrics.scrape(name -> name.equals("siphon_directory_lookups")).stream()
                .flatMap(each -> ((CounterSnapshot) each).getDataPoints().stream())
                .filter(point -> result.equals(point.getLabels().get("result")))
                .mapToDouble(CounterSnapshot.CounterDataPointSnapshot::getValue)
                .sum();
    }

    private static LdapConfig never(String... servers) {
        return LabDirectory.config(List.of(servers), NEVER_FRESH);
    }

    private static String through(TcpProxy proxy) {
        return "ldap://127.0.0.1:" + proxy.port();
    }

    private static void assertU1(Optional<Account> found) {
        assertEquals(10_001, found.orElseThrow().uid());
    }

    private static Duration time(Runnable call) {
        long began = System.nanoTime();
        call.run();
        return Duration.ofNanos(System.nanoTime() - began);
    }

    private static void assertWithin(Duration limit, Runnable call) {
        Duration took = time(call);
        assertTrue(took.compareTo(limit) < 0, took.toString());
    }

    private String refused(LdapAdapter directory, String name) {
        return assertThrows(DriverException.BackendUnavailable.class, () -> directory.account(name))
                .getMessage();
    }

    @Test
    void serversOfBothKindsOfTlsFollowEachOther() {
        try (TcpProxy first = new TcpProxy("127.0.0.1", LabDirectory.PORT);
                LdapAdapter directory = open(never(through(first), LabDirectory.TLS))) {
            assertU1(directory.account("u1"));
            first.cut();
            assertU1(directory.account("u1"));
            assertEquals(0, lookups("stale"));
        }
    }

    @Test
    void bothKindsOfTlsReachTheServer() {
        for (String server : List.of(LabDirectory.PLAIN, LabDirectory.TLS, "ldap://localhost")) {
            try (LdapAdapter directory = LdapAdapter.open(
                    LabDirectory.config(List.of(server), ""),
                    OFTEN,
                    () -> SOON,
                    new PrometheusRegistry(),
                    new BackgroundTasks())) {
                assertU1(directory.account("u1"));
                assertEquals(Optional.empty(), directory.remark());
            }
        }
    }

    @Test
    void aServerOfAnotherAuthorityIsNotAsked() {
        for (String server : List.of(LabDirectory.PLAIN, LabDirectory.TLS)) {
            try (LdapAdapter directory = LdapAdapter.open(
                    LabDirectory.withCa(server, "other-ca.pem"),
                    OFTEN,
                    () -> SOON,
                    new PrometheusRegistry(),
                    new BackgroundTasks())) {
                String said = refused(directory, "u1");
                assertFalse(said.contains(LabDirectory.password()), said);
            }
        }
    }

    /// The certificate covers localhost, 127.0.0.1 and the lab's address.
    @Test
    void aServerOfAnotherNameIsNotAsked() {
        for (String scheme : List.of("ldap", "ldaps")) {
            int port = scheme.equals("ldap") ? LabDirectory.PORT : LabDirectory.TLS_PORT;
            try (TcpProxy elsewhere = new TcpProxy(ELSEWHERE, port);
                    LdapAdapter directory = LdapAdapter.open(
                            LabDirectory.config(List.of(scheme + "://" + ELSEWHERE + ":" + elsewhere.port()), ""),
                            Duration.ofHours(1),
                            () -> SOON,
                            new PrometheusRegistry(),
                            new BackgroundTasks())) {
                refused(directory, "u1");
                assertTrue(elsewhere.accepted() > 0);
            }
        }
    }

    @Test
    void aWrongPasswordIsNotSaidAndANewOneIsTakenWithoutARestart(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("password"), "not-the-password");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        LdapConfig lab = never(LabDirectory.PLAIN);
        LdapConfig config = new LdapConfig(
                lab.servers(),
                lab.caFile(),
                Optional.of(new LdapConfig.Bind(lab.bind().orElseThrow().dn(), file)),
                lab.accounts(),
                lab.groups(),
                lab.limits(),
                lab.cache());
        try (LdapAdapter directory = open(config)) {
            String said = refused(directory, "u1");
            assertTrue(said.contains("invalid credentials"), said);
            assertFalse(said.contains("not-the-password"), said);
            Files.writeString(file, LabDirectory.password());
            assertU1(directory.account("u1"));
        }
    }

    @Test
    void theNextServerIsAskedWhenOneIsGoneOrHangs() {
        try (TcpProxy first = new TcpProxy("127.0.0.1", LabDirectory.PORT);
                TcpProxy second = new TcpProxy("127.0.0.1", LabDirectory.PORT);
                LdapAdapter directory = open(never(through(first), through(second)))) {
            assertU1(directory.account("u1"));
            assertEquals(0, second.accepted());
            first.hold(true);
            assertWithin(Duration.ofSeconds(4), () -> assertU1(directory.account("u1")));
            assertEquals(0, lookups("stale"));
            assertTrue(second.accepted() > 0);
            assertWithin(Duration.ofSeconds(1), () -> assertU1(directory.account("u1")));
            first.hold(false);
            second.cut();
            assertWithin(Duration.ofSeconds(2), () -> assertU1(directory.account("u1")));
            assertEquals(0, lookups("stale"));
        }
    }

    @Test
    void aSlowServerHoldsUpNobodyWhoIsKnown() throws Exception {
        try (TcpProxy slow = new TcpProxy("127.0.0.1", LabDirectory.PORT);
                LdapAdapter directory = open(
                        LabDirectory.config(List.of(through(slow)), ", \"timeoutSeconds\": 3, \"connections\": 4"));
                ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
            assertU1(directory.account("u1"));
            slow.hold(true);
            List<Future<Duration>> waiting = IntStream.range(100, 164)
                    .mapToObj(n -> callers.submit(() -> time(() -> refused(directory, "u" + n))))
                    .toList();
            for (int i = 0; i < 50; i++) {
                assertWithin(Duration.ofMillis(500), () -> assertU1(directory.account("u1")));
            }
            for (Future<Duration> each : waiting) {
                assertTrue(
                        each.get().compareTo(Duration.ofSeconds(5)) < 0,
                        each.get().toString());
            }
            slow.hold(false);
            await(SOON, () -> directory.remark().isEmpty());
            assertEquals(10_200, directory.account("u200").orElseThrow().uid());
        }
    }

    @Test
    void aPausedServerIsUnavailableAndComesBack() {
        try (LdapAdapter directory = open(never(LabDirectory.PLAIN))) {
            assertU1(directory.account("u1"));
            daemon("sig", "STOP", "ldap");
            try {
                assertWithin(Duration.ofSeconds(5), () -> refused(directory, "u2"));
                assertWithin(Duration.ofSeconds(5), () -> assertU1(directory.account("u1")));
                assertEquals(1, lookups("stale"));
                // the server is known to hang by now, so no lookup waits
                assertWithin(Duration.ofMillis(500), () -> assertU1(directory.account("u1")));
            } finally {
                daemon("sig", "CONT", "ldap");
            }
            await(SOON, () -> directory.remark().isEmpty());
            assertEquals(10_002, directory.account("u2").orElseThrow().uid());
        }
    }

    @Test
    void whileTheServerIsDownWhatWasKnownIsServedAndSaid() {
        LdapConfig config = LabDirectory.config(
                List.of(LabDirectory.PLAIN), ", \"cache\": {\"freshSeconds\": 0, \"staleSeconds\": 8}");
        LdapConfig fresh = LabDirectory.config(List.of(LabDirectory.PLAIN), "");
        try (LdapAdapter directory = open(config);
                LdapAdapter young =
                        LdapAdapter.open(fresh, OFTEN, () -> SOON, new PrometheusRegistry(), new BackgroundTasks())) {
            assertU1(directory.account("u1"));
            assertU1(young.account("u1"));
            daemon("sig", "KILL", "ldap");
            try {
                assertU1(directory.account("u1"));
                assertU1(young.account("u1"));
                assertEquals(1, lookups("stale"));
                refused(directory, "u2");
                await(SOON, () -> directory.remark().isPresent());
                assertTrue(directory.remark().orElseThrow().contains("1 accounts are served"));
                await(SOON, () -> !isServed(directory));
                assertTrue(directory.remark().orElseThrow().contains("0 accounts are served"));
                assertU1(young.account("u1"));
            } finally {
                daemon("start", "ldap");
            }
            await(SOON, () -> directory.remark().isEmpty() && isServed(directory));
        }
    }

    private static boolean isServed(LdapAdapter directory) {
        try {
            return directory.account("u1").isPresent();
        } catch (DriverException.BackendUnavailable _) {
            return false;
        }
    }

    @Test
    void aDirectoryThatIsDownAtTheStartIsAskedWhenItIsUp() {
        try (LdapAdapter directory = startedWithoutServer()) {
            await(SOON, () -> isServed(directory));
        }
    }

    private LdapAdapter startedWithoutServer() {
        daemon("sig", "TERM", "ldap");
        try {
            LdapAdapter directory = open(never(LabDirectory.PLAIN));
            assertWithin(Duration.ofSeconds(5), () -> refused(directory, "u1"));
            await(SOON, () -> directory.remark().isPresent());
            return directory;
        } finally {
            daemon("start", "ldap");
        }
    }
}
