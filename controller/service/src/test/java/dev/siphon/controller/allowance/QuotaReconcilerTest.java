package dev.siphon.controller.allowance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.allowance.QuotaReconciler.ReconcileResult;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.identity.AccountDirectory;
import dev.siphon.controller.volume.AccountNote;
import dev.siphon.controller.volume.Callers;
import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.ClassParameters;
import dev.siphon.controller.volume.ControllerDomain;
import dev.siphon.controller.volume.GroupUsage.GroupStanding;
import dev.siphon.controller.volume.InMemoryCeph;
import dev.siphon.controller.volume.InMemoryDirectory;
import dev.siphon.controller.volume.Owners;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.controller.volume.VolumeRequest;
import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

final class QuotaReconcilerTest {
    private static final long GIB = 1L << 30;

    private final InMemoryCeph ceph = new InMemoryCeph();
    private final CephPorts ports = ceph.ports();
    private final InMemoryDirectory directory =
            new InMemoryDirectory(Map.of("u1", account("u1", OptionalLong.of(4 * GIB))));
    private final ControllerDomain domain = ControllerDomain.over(
            ports,
            new Owners(directory, Optional.empty(), Optional.of("u1")),
            Callers.NONE,
            () -> Duration.ofSeconds(30));
    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final QuotaReconciler quotaReconciler =
            new QuotaReconciler(ports, directory, domain.volumes().ledger(), registry);

    private static Account account(String name, OptionalLong allowance) {
        return new Account(name, "id-1", 10_001, 10_001, Set.of(), allowance);
    }

    private VolumeId.Provisioned create(String name, long bytes) {
        return (VolumeId.Provisioned) domain.volumes()
                .create(new VolumeRequest(
                        name, new CapacityRange(bytes, 0), ClassParameters.parse(Map.of()), false, Optional.empty()))
                .id();
    }

    private GroupStanding standing(VolumeId.Provisioned volume) {
        return ports.files().holdings(SubvolumeGroup.of(volume)).standing();
    }

    @Test
    void raisedAndLoweredReachesTheGroupAndWhoDecides() {
        VolumeId.Provisioned volume = create("one", 3 * GIB);
        assertEquals(new ReconcileResult(true, 1, 0, 0), quotaReconciler.reconcile());
        directory.put(account("u1", OptionalLong.of(8 * GIB)));
        assertEquals(new ReconcileResult(true, 1, 1, 0), quotaReconciler.reconcile());
        assertEquals(OptionalLong.of(8 * GIB), standing(volume).quotaBytes());
        create("two", 5 * GIB);
        directory.put(account("u1", OptionalLong.of(2 * GIB)));
        assertEquals(new ReconcileResult(true, 1, 1, 0), quotaReconciler.reconcile());
        assertEquals(OptionalLong.of(2 * GIB), standing(volume).quotaBytes(), "below what is committed");
        assertThrows(DriverException.QuotaExhausted.class, () -> create("three", 1));
        directory.put(account("u1", OptionalLong.of(0)));
        quotaReconciler.reconcile();
        assertEquals(OptionalLong.of(1), standing(volume).quotaBytes(), "0 would be no limit");
        assertEquals(new ReconcileResult(true, 1, 0, 0), quotaReconciler.reconcile());
    }

    /// Returns a metric's only value, which is that of account u1.
    private double metric(String name) {
        GaugeSnapshot.GaugeDataPointSnapshot only = ((GaugeSnapshot)
                        registry.scrape(name::equals).stream().findFirst().orElseThrow())
                .getDataPoints()
                .getFirst();
        assertEquals("u1", only.getLabels().get("account"));
        return only.getValue();
    }

    @Test
    void theMetricsShowTheAllowanceAndWhatIsWritten() {
        VolumeId.Provisioned volume = create("one", GIB);
        ceph.write(volume, "file", "four");
        quotaReconciler.reconcile();
        assertEquals(4.0 * GIB, metric("siphon_account_allowance_bytes"));
        assertEquals(4.0, metric("siphon_account_written_bytes"));
        directory.put(account("u1", OptionalLong.of(8 * GIB)));
        quotaReconciler.reconcile();
        assertEquals(8.0 * GIB, metric("siphon_account_allowance_bytes"));
    }

    @Test
    void anAccountThatIsGoneKeepsWhatItHas() {
        VolumeId.Provisioned volume = create("one", GIB);
        directory.remove("u1");
        assertEquals(new ReconcileResult(true, 0, 0, 1), quotaReconciler.reconcile());
        assertEquals(OptionalLong.of(4 * GIB), standing(volume).quotaBytes());
        assertEquals(
                Optional.of(new AccountNote("10001", "u1")), standing(volume).account());
    }

    @Test
    void anAccountThatIsRenamedIsWrittenDownAnew() {
        VolumeId.Provisioned volume = create("one", GIB);
        directory.remove("u1");
        directory.put(account("née", OptionalLong.of(4 * GIB)));
        assertEquals(new ReconcileResult(true, 1, 0, 0), quotaReconciler.reconcile());
        assertEquals(
                Optional.of(new AccountNote("10001", "née")), standing(volume).account());
    }

    @Test
    void aDirectoryThatIsDownOrSaysNothingChangesNothing() {
        VolumeId.Provisioned volume = create("one", GIB);
        directory.down(true);
        assertThrows(DriverException.BackendUnavailable.class, quotaReconciler::reconcile);
        directory.down(false);
        directory.put(account("u1", OptionalLong.empty()));
        assertEquals(new ReconcileResult(true, 1, 0, 0), quotaReconciler.reconcile());
        assertEquals(OptionalLong.of(4 * GIB), standing(volume).quotaBytes());
        assertThrows(DriverException.QuotaExhausted.class, () -> create("two", 4 * GIB));
    }

    @Test
    void aDirectoryWithoutEndEndsTheRound() {
        create("one", GIB);
        AccountDirectory endless = new AccountDirectory() {
            @Override
            public Optional<Account> account(String name) {
                return directory.account(name);
            }

            @Override
            public void accounts(Consumer<Account> each) {
                while (true) {
                    each.accept(QuotaReconcilerTest.account("u2", OptionalLong.empty()));
                }
            }
        };
        QuotaReconciler patient = new QuotaReconciler(
                ports, endless, domain.volumes().ledger(), new PrometheusRegistry(), Duration.ofMillis(200));
        var late = assertTimeoutPreemptively(
                Duration.ofSeconds(20),
                () -> assertThrows(DriverException.BackendUnavailable.class, patient::reconcile));
        assertTrue(late.getMessage().contains("did not finish within"), late.getMessage());
    }

    private QuotaReconciler within(Duration limit) {
        return new QuotaReconciler(ports, directory, domain.volumes().ledger(), new PrometheusRegistry(), limit);
    }

    @Test
    void afterHalfOfItsTimeARoundReadsNoFurtherFileSystem() {
        VolumeId.Provisioned volume = create("one", GIB);
        directory.put(account("u1", OptionalLong.of(8 * GIB)));
        assertEquals(new ReconcileResult(false, 0, 0, 0), within(Duration.ZERO).reconcile());
        assertEquals(OptionalLong.of(4 * GIB), standing(volume).quotaBytes());
    }

    @Test
    void aStoppedReconcilerSaysSoAlsoBeforeItHasReadAnything() {
        QuotaReconciler stopped = within(Duration.ofMinutes(1));
        stopped.close();
        var error = assertThrows(DriverException.BackendUnavailable.class, stopped::reconcile);
        assertEquals("the driver is stopping", error.getMessage());
    }

    @Test
    void whatNobodyForesawEndsOneRoundAndNotAll() throws InterruptedException {
        VolumeId.Provisioned volume = create("one", 3 * GIB);
        directory.put(account("u1", OptionalLong.of(8 * GIB)));
        CountDownLatch third = new CountDownLatch(3);
        AccountDirectory broken = new AccountDirectory() {
            @Override
            public Optional<Account> account(String name) {
                return directory.account(name);
            }

            @Override
            public void accounts(Consumer<Account> each) {
                third.countDown();
                if (third.getCount() == 2) {
                    throw new IllegalStateException("unforeseen");
                }
                directory.accounts(each);
            }
        };
        BackgroundTasks tasks = new BackgroundTasks();
        Duration soon = Duration.ofMillis(1);
        try (QuotaReconciler _ = new QuotaReconciler(
                        ports, broken, domain.volumes().ledger(), new PrometheusRegistry())
                .start(soon, tasks)) {
            assertTrue(third.await(20, TimeUnit.SECONDS));
        }
        assertEquals(Map.of("reconcile", 1L), tasks.failures());
        assertEquals(OptionalLong.of(8 * GIB), standing(volume).quotaBytes());
    }
}
