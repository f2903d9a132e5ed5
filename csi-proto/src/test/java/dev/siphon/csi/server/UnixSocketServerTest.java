package dev.siphon.csi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.GetPluginInfoRequest;
import csi.v1.IdentityGrpc;
import dev.siphon.csi.client.UnixSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class UnixSocketServerTest {
    @TempDir
    Path dir;

    @Test
    void servesOnASocketThatOnlyItsOwnerMayUse() throws Exception {
        Path socket = dir.resolve("csi.sock");
        Readiness readiness = Readiness.start(Optional::empty, Duration.ofSeconds(1), Duration.ofSeconds(1));
        var identity = new IdentityService(DriverName.DEFAULT, BuildInfo.read(), List.of(), readiness);
        var server = UnixSocketServer.start(
                new UnixEndpoint(socket), List.of(identity.bindService()), List.of(new RpcLog(), new ErrorMapping()));
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(socket)));
        UnixSocketChannel channel = UnixSocketChannel.open(new UnixEndpoint(socket));
        assertEquals(
                "cephfs.siphon.dev",
                IdentityGrpc.newBlockingStub(channel.channel())
                        .getPluginInfo(GetPluginInfoRequest.getDefaultInstance())
                        .getName());
        channel.close();
        assertTrue(server.drain(Duration.ofSeconds(5)));
        assertFalse(Files.exists(socket));
    }
}
