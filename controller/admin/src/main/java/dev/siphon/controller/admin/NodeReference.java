package dev.siphon.controller.admin;

import dev.siphon.controller.key.ClientSession;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.NodeId;
import dev.siphon.csi.QuotedText;
import java.net.InetAddress;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/// A node as an administrator names it: by the host name that its clients report, by its address, or by both as
/// `NAME@ADDRESS`, its `node_id` in attach mode.
///
/// @param address in Java's notation, whatever the administrator's was
record NodeReference(Optional<String> name, Optional<String> address) implements Predicate<ClientSession> {
    /// Text that is meant as an address, valid or not.
    private static final Pattern ADDRESS = Pattern.compile("[0-9.]+|[0-9A-Fa-f.:]*:[0-9A-Fa-f.:]*");

    /// Some programs read `10.213.027.002` as 10.213.23.2, others as 10.213.27.2.
    private static final Pattern AMBIGUOUS = Pattern.compile("(?:.*\\.)?0[0-9]+(?:\\..*)?");

    private static final int PARTS_OF_IPV4 = 4;

    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `text` has none of these forms, or an invalid
    ///     address
    static NodeReference parse(String text) {
        if (ADDRESS.matcher(text).matches()) {
            return new NodeReference(Optional.empty(), Optional.of(literal(text)));
        }
        NodeId node = NodeId.parse(text);
        return new NodeReference(Optional.of(node.name()), node.address().map(NodeReference::literal));
    }

    /// Parses an address without a DNS lookup.
    private static String literal(String text) {
        boolean hasFour = text.contains(":") || text.split("\\.", -1).length == PARTS_OF_IPV4;
        if (!hasFour || AMBIGUOUS.matcher(text).matches()) {
            throw noAddress(text);
        }
        try {
            return InetAddress.ofLiteral(text).getHostAddress();
        } catch (IllegalArgumentException _) {
            throw noAddress(text);
        }
    }

    private static DriverException.InvalidRequest noAddress(String text) {
        return new DriverException.InvalidRequest(QuotedText.of(text)
                + " is no IP address; write IPv4 as four numbers of 0 to 255 without leading zeros");
    }

    /// Whether the client reports this host name, or connects from this address.
    @Override
    public boolean test(ClientSession session) {
        return name.filter(session.host()::equals).isPresent()
                || address.filter(normal(session.address())::equals).isPresent();
    }

    /// Converts an address in Ceph's notation to Java's.
    private static String normal(String address) {
        try {
            return InetAddress.ofLiteral(address).getHostAddress();
        } catch (IllegalArgumentException _) {
            return address;
        }
    }
}
