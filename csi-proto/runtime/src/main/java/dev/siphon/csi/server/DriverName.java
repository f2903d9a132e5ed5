package dev.siphon.csi.server;

import dev.siphon.csi.QuotedText;
import java.util.regex.Pattern;

/// The name of a CSI driver: a domain name of at most 63 characters (CSI v1.13, `GetPluginInfoResponse.name`).
public record DriverName(String value) {
    private static final int MAX_CHARS = 63;
    private static final Pattern FORM = Pattern.compile("[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?");

    /// The default name.
    public static final DriverName DEFAULT = new DriverName("cephfs.siphon.dev");

    /// @throws IllegalArgumentException if `value` is not a valid name
    public DriverName {
        if (value.length() > MAX_CHARS || !FORM.matcher(value).matches() || value.contains("..")) {
            throw new IllegalArgumentException("driver name " + QuotedText.of(value)
                    + " must be a domain name of at most " + MAX_CHARS + " letters, digits, '-' and '.'");
        }
    }

    @Override
    public String toString() {
        return value;
    }
}
