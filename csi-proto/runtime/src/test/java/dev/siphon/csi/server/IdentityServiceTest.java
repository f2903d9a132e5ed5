package dev.siphon.csi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.GetPluginCapabilitiesRequest;
import csi.v1.GetPluginInfoRequest;
import csi.v1.GetPluginInfoResponse;
import csi.v1.IdentityGrpc;
import csi.v1.PluginCapability;
import csi.v1.ProbeRequest;
import dev.siphon.csi.client.UnixSocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class IdentityServiceTest {
    private final AtomicReference<Optional<String>> problem = new AtomicReference<>(Optional.of("not yet"));
    private final Readiness readiness = Readiness.start(problem::get, Duration.ofMillis(20), Duration.ofSeconds(5));

    @TempDir
    private Path dir;

    private Optional<UnixSocketServer> server = Optional.empty();
    private Optional<UnixSocketChannel> channel = Optional.empty();

    @BeforeEach
    void serve() {
        UnixEndpoint endpoint = new UnixEndpoint(dir.resolve("s"));
        IdentityService identity = new IdentityService(
                new DriverName("x.example"),
                new BuildInfo("1.2.3", "abc"),
                List.of(IdentityService.Offer.values()),
                readiness);
        server = Optional.of(UnixSocketServer.start(endpoint, List.of(identity.bindService()), List.of()));
        channel = Optional.of(UnixSocketChannel.open(endpoint));
    }

    @AfterEach
    void stop() {
        channel.ifPresent(UnixSocketChannel::close);
        server.ifPresent(UnixSocketServer::close);
        readiness.close();
    }

    @Test
    void saysWhichDriverAndBuildItIs() {
        GetPluginInfoResponse info = stub().getPluginInfo(GetPluginInfoRequest.getDefaultInstance());
        assertEquals("x.example", info.getName());
        assertEquals("1.2.3", info.getVendorVersion());
        assertEquals("abc", info.getManifestOrThrow("revision"));
    }

    @Test
    void saysWhatItOffers() {
        List<PluginCapability> offers = stub().getPluginCapabilities(GetPluginCapabilitiesRequest.getDefaultInstance())
                .getCapabilitiesList();
        assertEquals(3, offers.size());
        assertEquals(
                PluginCapability.Service.Type.CONTROLLER_SERVICE,
                offers.get(0).getService().getType());
        assertEquals(
                PluginCapability.Service.Type.GROUP_CONTROLLER_SERVICE,
                offers.get(1).getService().getType());
        assertEquals(
                PluginCapability.VolumeExpansion.Type.ONLINE,
                offers.get(2).getVolumeExpansion().getType());
    }

    @Test
    void probeReadsTheCachedState() {
        Eventually.is(() -> readiness.state().reason().equals("not yet"));
        assertFalse(probe());
        problem.set(Optional.empty());
        Eventually.is(() -> readiness.state().ready());
        assertTrue(probe());
    }

    private boolean probe() {
        var response = stub().probe(ProbeRequest.getDefaultInstance());
        assertTrue(response.hasReady());
        return response.getReady().getValue();
    }

    private IdentityGrpc.IdentityBlockingStub stub() {
        return IdentityGrpc.newBlockingStub(channel.orElseThrow().channel());
    }
}
