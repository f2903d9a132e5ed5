package dev.siphon.node.fetch;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import java.net.InetAddress;

/// A range of IP addresses, as CIDR (RFC 4632).
///
/// @param bits how many leading bits are fixed
public record AddressRange(InetAddress first, int bits) {
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) for anything but ADDRESS/BITS
    public static AddressRange parse(String text) {
        int slash = text.indexOf('/');
        try {
            InetAddress first = InetAddress.ofLiteral(slash < 0 ? text : text.substring(0, slash));
            int all = first.getAddress().length * Byte.SIZE;
            int bits = slash < 0 ? all : Integer.parseInt(text.substring(slash + 1));
            if (bits >= 0 && bits <= all) {
                return new AddressRange(first, bits);
            }
        } catch (IllegalArgumentException _) {
            // reported below
        }
        throw new DriverException.InvalidRequest(
                QuotedText.of(text) + " is no range of addresses: write it as 10.0.0.0/8 or fd00::/8");
    }

    boolean contains(InetAddress address) {
        byte[] mine = first.getAddress();
        byte[] other = address.getAddress();
        if (mine.length != other.length) {
            return false;
        }
        for (int bit = 0; bit < bits; bit++) {
            int mask = 0x80 >> bit % Byte.SIZE;
            if (((mine[bit / Byte.SIZE] ^ other[bit / Byte.SIZE]) & mask) != 0) {
                return false;
            }
        }
        return true;
    }
}
