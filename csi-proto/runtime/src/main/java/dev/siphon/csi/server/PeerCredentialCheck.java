package dev.siphon.csi.server;

import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelInboundHandlerAdapter;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioChannelOption;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import jdk.net.ExtendedSocketOptions;
import jdk.net.UnixDomainPrincipal;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Closes connections of other users before reading a byte from them. The kernel reports the user who connected
/// (unix(7), `SO_PEERCRED`). The modes of the socket and its directory already keep others out; this check also
/// holds if someone changes the modes.
final class PeerCredentialCheck extends ChannelInboundHandlerAdapter {
    private static final Logger LOG = LoggerFactory.getLogger(PeerCredentialCheck.class);
    private static final ChannelOption<UnixDomainPrincipal> PEER =
            NioChannelOption.of(ExtendedSocketOptions.SO_PEERCRED);

    private final Set<UserPrincipal> admitted;

    private PeerCredentialCheck(Set<UserPrincipal> admitted) {
        this.admitted = admitted;
    }

    /// Admits root and the user of this process.
    ///
    /// @throws StartFailure if the system does not report these users
    static PeerCredentialCheck forRootAndSelf() {
        try {
            UserPrincipal root = FileSystems.getDefault()
                    .getUserPrincipalLookupService()
                    .lookupPrincipalByName("0"); // the uid: no name begins with a digit
            return new PeerCredentialCheck(Set.copyOf(List.of(root, Files.getOwner(Path.of("/proc/self")))));
        } catch (IOException e) {
            throw new StartFailure("cannot determine which user runs this process", e);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof Channel connection) {
            Optional<UserPrincipal> peer =
                    Optional.ofNullable(connection.config().getOption(PEER)).map(UnixDomainPrincipal::user);
            if (peer.filter(admitted::contains).isEmpty()) {
                LOG.atWarn()
                        .addKeyValue("user", peer.map(UserPrincipal::getName).orElse("unknown"))
                        .log("refused a connection: this socket is for root only");
                connection.unsafe().closeForcibly();
                return;
            }
        }
        context.fireChannelRead(message);
    }
}
