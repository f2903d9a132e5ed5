package dev.siphon.node.topology;

import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The address of a PCI function in a machine.
///
/// @param domain 0 to 2^32 - 1; above 65535 behind a controller that is its own host bridge, such as Intel's VMD
public record PciAddress(long domain, int bus, int device, int function) implements Comparable<PciAddress> {
    /// A domain has 4 digits in sysfs and up to 8 in NVML.
    private static final Pattern FORM =
            Pattern.compile("([0-9a-f]{4,8}):([0-9a-f]{2}):([01][0-9a-f])\\.([0-7])", Pattern.CASE_INSENSITIVE);

    private static final int HEX = 16;

    /// Parses an address such as `0000:07:00.0`; empty for any other text.
    public static Optional<PciAddress> parse(String text) {
        Matcher parts = FORM.matcher(text);
        return parts.matches()
                ? Optional.of(new PciAddress(
                        Long.parseLong(parts.group(1), HEX),
                        Integer.parseInt(parts.group(2), HEX),
                        Integer.parseInt(parts.group(3), HEX),
                        Integer.parseInt(parts.group(4), HEX)))
                : Optional.empty();
    }

    @Override
    public int compareTo(PciAddress other) {
        int byDomain = Long.compare(domain, other.domain);
        return byDomain == 0 ? Integer.compare(within(), other.within()) : byDomain;
    }

    /// Returns the kernel's number within the domain (`PCI_DEVID`).
    private int within() {
        return bus << 8 | device << 3 | function;
    }

    /// Returns the name in sysfs.
    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%04x:%02x:%02x.%x", domain, bus, device, function);
    }
}
