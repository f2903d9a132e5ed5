package dev.siphon.node.fetch;

import dev.siphon.csi.QuotedText;
import dev.siphon.node.fetch.FetchFailure.Reason;
import java.net.InetAddress;
import java.util.List;
import java.util.stream.Stream;

/// Which servers a download may connect to. Addresses of the cluster, the node and the site are not the internet's:
/// what answers there trusts whoever reaches it.
///
/// @param isUnlimited whether all addresses are allowed
/// @param allowed ranges that are allowed although they are private; only there is `http` allowed too
/// @param authorities whose certificates servers have
public record AddressRules(boolean isUnlimited, List<AddressRange> allowed, TrustedAuthorities authorities) {
    /// Everything is allowed.
    public static final AddressRules UNLIMITED = new AddressRules(true, List.of());

    /// Addresses that the internet does not route (IANA's registries of special-purpose addresses), and those of IPv6
    /// that hold an address of IPv4. Java turns `::ffff:a.b.c.d` into that address of IPv4.
    private static final List<AddressRange> PRIVATE = Stream.of(
                    "0.0.0.0/8",
                    "10.0.0.0/8",
                    "100.64.0.0/10",
                    "127.0.0.0/8",
                    "169.254.0.0/16",
                    "172.16.0.0/12",
                    "192.0.0.0/24",
                    "192.168.0.0/16",
                    "198.18.0.0/15",
                    "224.0.0.0/3",
                    "::/96",
                    "64:ff9b::/96",
                    "64:ff9b:1::/48",
                    "2001::/32",
                    "2002::/16",
                    "fc00::/7",
                    "fe80::/9",
                    "ff00::/8")
            .map(AddressRange::parse)
            .toList();

    public AddressRules {
        allowed = List.copyOf(allowed);
    }

    /// Servers have certificates of public authorities.
    public AddressRules(boolean isUnlimited, List<AddressRange> allowed) {
        this(isUnlimited, allowed, TrustedAuthorities.PUBLIC);
    }

    /// Returns the addresses of `host` that a connection may go to. The connection must go to one of these, without
    /// another look-up of the name.
    ///
    /// @param isEncrypted whether by https
    /// @throws FetchFailure ForbiddenAddress if there is none
    List<InetAddress> permitted(String host, boolean isEncrypted, List<InetAddress> found) {
        List<InetAddress> permitted = found.stream()
                .filter(each -> isUnlimited || isAllowed(each) || (isEncrypted && !isPrivate(each)))
                .toList();
        if (permitted.isEmpty()) {
            throw new FetchFailure(
                    Reason.FORBIDDEN_ADDRESS,
                    found.stream().anyMatch(AddressRules::isPrivate)
                            ? QuotedText.of(host) + " is at a private address, where nothing is fetched from: use a"
                                    + " public server, or ask an administrator to allow the address"
                            : QuotedText.of(host) + " is asked without encryption: use its https:// address");
        }
        return permitted;
    }

    private boolean isAllowed(InetAddress address) {
        return allowed.stream().anyMatch(range -> range.contains(address));
    }

    private static boolean isPrivate(InetAddress address) {
        return PRIVATE.stream().anyMatch(range -> range.contains(address));
    }
}
