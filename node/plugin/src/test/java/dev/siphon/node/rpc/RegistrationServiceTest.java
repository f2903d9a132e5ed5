package dev.siphon.node.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.client.UnixSocketChannel;
import dev.siphon.csi.server.DriverName;
import dev.siphon.csi.server.StartFailure;
import dev.siphon.node.registration.KubeletPlugin;
import dev.siphon.node.registration.Registration;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import pluginregistration.v1.InfoRequest;
import pluginregistration.v1.PluginInfo;
import pluginregistration.v1.RegistrationGrpc;
import pluginregistration.v1.RegistrationGrpc.RegistrationBlockingStub;
import pluginregistration.v1.RegistrationStatus;

/// The test acts as the kubelet: it calls the socket that it finds in its folder, and controls the clock.
final class RegistrationServiceTest {
    private static final Path ENDPOINT = Path.of("/var/lib/kubelet/plugins/cephfs.siphon.dev/csi.sock");
    private static final String WHY = "RegisterPlugin error -- plugin registration failed with err: no node id";

    @TempDir
    private Path folder;

    private final PrometheusRegistry metrics = new PrometheusRegistry();
    private KubeletPlugin plugin = KubeletPlugin.in(Path.of("/nowhere"), DriverName.DEFAULT, ENDPOINT);
    private Registration registration = new Registration(plugin, Instant::now, new PrometheusRegistry());
    private Instant now = Instant.parse("2026-11-22T02:00:00Z");
    private int opened;

    @BeforeEach
    void prepare() {
        plugin = KubeletPlugin.in(folder.resolve("plugins_registry"), DriverName.DEFAULT, ENDPOINT);
        registration = new Registration(plugin, () -> now, metrics);
    }

    @AfterEach
    void close() {
        registration.close();
    }

    @Test
    void theKubeletFindsTheDriverByItsNameAndIsToldWhereItServes() {
        open();
        PluginInfo info = kubelet(stub -> stub.getInfo(InfoRequest.getDefaultInstance()));
        assertEquals(folder.resolve("plugins_registry/cephfs.siphon.dev-reg.sock"), socket());
        assertEquals("CSIPlugin", info.getType());
        assertEquals("cephfs.siphon.dev", info.getName());
        assertEquals(ENDPOINT.toString(), info.getEndpoint());
        assertEquals("[1.0.0]", info.getSupportedVersionsList().toString());
    }

    @Test
    void notReadyUntilTheKubeletHasRegisteredIt() {
        assertTrue(problem().contains("has not registered the driver yet"), this::problem);
        open();
        assertTrue(problem().contains(socket().toString()), this::problem);
        assertEquals(0, registered());
        accept();
        assertEquals("", problem());
        assertEquals(1, registered());
        assertEquals(1, outcomes("accepted"));
        assertEquals(1, opened);
    }

    @Test
    void aRefusalIsToldInTheKubeletsWordsAndTriedAgainWithLongerAndLongerPauses() {
        open();
        int attempts = 1;
        for (long pause : new long[] {4, 8, 16, 32, 60, 60}) {
            refuse(WHY);
            now = now.plusSeconds(pause).minusMillis(1);
            assertTrue(problem().contains(WHY), this::problem);
            assertEquals(attempts, opened);
            now = now.plusMillis(1);
            assertTrue(problem().contains(WHY), this::problem);
            assertEquals(++attempts, opened, () -> "after " + pause + " s");
        }
        assertEquals(6, outcomes("refused"));
        assertEquals(0, registered());
        accept();
        assertEquals("", problem());
        refuse(WHY);
        now = now.plusSeconds(4);
        assertTrue(problem().contains(WHY), this::problem);
        assertEquals(attempts + 1, opened);
    }

    @Test
    void aKubeletThatSaysNothingAfterARefusalIsAskedAgainToo() {
        open();
        refuse(WHY);
        for (int i = 0; i < 3; i++) {
            now = now.plus(Duration.ofMinutes(2));
            assertTrue(problem().contains(WHY), this::problem);
        }
        assertEquals(4, opened);
    }

    @Test
    void aReasonOfAnyLengthCanBeShown() {
        open();
        refuse("x".repeat(100_000));
        assertTrue(problem().length() < 2_000);
        refuse("");
        assertTrue(problem().endsWith("it gave no reason"), this::problem);
    }

    @Test
    void aSocketThatSomebodyRemovedIsMadeAnew() throws IOException {
        open();
        accept();
        Files.delete(socket());
        assertTrue(problem().contains("has not registered the driver yet"), this::problem);
        assertEquals(2, opened);
        accept();
        assertEquals("", problem());
    }

    @Test
    void aFolderThatIsGoneIsNamedUntilItIsBack() throws IOException {
        open();
        accept();
        Files.delete(socket());
        Files.delete(folder.resolve("plugins_registry"));
        String gone = problem();
        assertTrue(gone.contains("plugins_registry of the socket does not exist"), gone);
        Files.createDirectory(folder.resolve("plugins_registry"));
        assertTrue(problem().contains("has not registered the driver yet"), this::problem);
        accept();
        assertEquals("", problem());
    }

    @Test
    void aSocketThatOutlivedItsProcessIsReplaced() throws IOException {
        Files.createDirectory(folder.resolve("plugins_registry"));
        ServerSocketChannel.open(StandardProtocolFamily.UNIX)
                .bind(UnixDomainSocketAddress.of(socket()))
                .close();
        assertTrue(Files.exists(socket()));
        open();
        accept();
    }

    @Test
    void itsEndTakesTheSocketAwayForGood() {
        open();
        accept();
        registration.close();
        assertFalse(Files.exists(socket()));
        assertEquals(0, registered());
        assertFalse(problem().isEmpty());
        assertFalse(Files.exists(socket()));
        assertEquals(1, opened);
    }

    @Test
    void aFolderThatIsNotThereFailsTheStart() {
        RegistrationService service = new RegistrationService(registration);
        assertThrows(StartFailure.class, () -> registration.open(service::serve));
    }

    private void open() {
        try {
            Files.createDirectories(folder.resolve("plugins_registry"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        RegistrationService service = new RegistrationService(registration);
        registration.open(() -> {
            Registration.ServedSocket socket = service.serve();
            opened++;
            return socket;
        });
    }

    private void accept() {
        var _ = kubelet(stub -> stub.notifyRegistrationStatus(
                RegistrationStatus.newBuilder().setPluginRegistered(true).build()));
    }

    private void refuse(String reason) {
        var _ = kubelet(stub -> stub.notifyRegistrationStatus(
                RegistrationStatus.newBuilder().setError(reason).build()));
    }

    private <T> T kubelet(Function<RegistrationBlockingStub, T> call) {
        try (UnixSocketChannel channel = UnixSocketChannel.open(plugin.socket())) {
            return call.apply(
                    RegistrationGrpc.newBlockingStub(channel.channel()).withDeadlineAfter(10, TimeUnit.SECONDS));
        }
    }

    private Path socket() {
        return plugin.socket().path();
    }

    private String problem() {
        return registration.check().orElse("");
    }

    private double registered() {
        return metrics.scrape().stream()
                .filter(each -> each.getMetadata().getName().equals("siphon_kubelet_registered"))
                .flatMap(each -> ((GaugeSnapshot) each).getDataPoints().stream())
                .findFirst()
                .orElseThrow()
                .getValue();
    }

    private double outcomes(String result) {
        return metrics.scrape().stream()
                .filter(each -> each.getMetadata().getName().equals("siphon_kubelet_registrations"))
                .flatMap(each -> ((CounterSnapshot) each).getDataPoints().stream())
                .filter(point -> result.equals(point.getLabels().get("result")))
                .findFirst()
                .orElseThrow()
                .getValue();
    }
}
