package dev.siphon.csi;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A node as the `node_id` of CSI: `NAME`, or `NAME@ADDRESS` if the controller fences nodes (attach mode). Fencing
/// finds a node's Ceph sessions by host name and address.
///
/// @param name the host name that the node's Ceph clients report
/// @param address the IP address from which they reach Ceph
public record NodeId(String name, Optional<String> address) {
    /// The longest id in bytes (CSI v1.13, "Size Limits").
    public static final int MAX_BYTES = 256;

    private static final Pattern FORM =
            Pattern.compile("([A-Za-z0-9]([A-Za-z0-9._-]{0,190}[A-Za-z0-9])?)(@([0-9.]{7,15}|[0-9A-Fa-f:]{2,39}))?");

    /// Parses an id.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `text` has another format
    public static NodeId parse(String text) {
        return tryParse(text)
                .orElseThrow(() -> new DriverException.InvalidRequest(
                        "node_id " + QuotedText.of(text) + " is not of the form NAME or NAME@ADDRESS"));
    }

    /// As [#parse], but returns empty for an id that no node of this driver reports.
    public static Optional<NodeId> tryParse(String text) {
        Matcher matcher = FORM.matcher(text);
        return matcher.matches()
                ? Optional.of(new NodeId(matcher.group(1), Optional.ofNullable(matcher.group(4))))
                : Optional.empty();
    }

    @Override
    public String toString() {
        return address.map(ip -> name + "@" + ip).orElse(name);
    }
}
