package dev.siphon.controller.monitor;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Monitors;
import dev.siphon.csi.QuotedText;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Parses the monitors in Rook's ConfigMap `rook-ceph-mon-endpoints` (Rook's
/// `pkg/operator/ceph/cluster/mon/mon.go`, `persistExpectedMonDaemonsInConfigMap`).
public final class RookEndpoints {
    /// The ConfigMap, in the namespace of Rook's cluster.
    public static final String NAME = "rook-ceph-mon-endpoints";

    /// `a=10.0.0.1:6789,b=[fd00::1]:3300`.
    private static final String DATA = "data";

    /// The names of monitors that Rook is about to replace.
    private static final String OUT_OF_QUORUM = "outOfQuorum";

    private static final Pattern ENDPOINT =
            Pattern.compile("([A-Za-z0-9.-]+)=(\\[[0-9A-Fa-f:.]+]|[A-Za-z0-9][A-Za-z0-9.-]*):([0-9]{1,5})");

    private static final String V2_PORT = "3300";

    private RookEndpoints() {}

    /// Returns the monitors sorted by name, as Rook writes them to `mon_host` of the Secret `rook-ceph-config`: one
    /// with the port of messenger v1 serves v2 too; one with the port of v2 serves v2 only. Skips monitors that are
    /// out of quorum, unless all are.
    ///
    /// @param data the entries of the ConfigMap
    /// @throws DriverException.BackendFault (INTERNAL) if it names no monitor, or is malformed
    public static List<String> monitors(Map<String, String> data) {
        List<Matcher> all = Arrays.stream(data.getOrDefault(DATA, "").split(",", -1))
                .filter(text -> !text.isBlank())
                .map(RookEndpoints::endpoint)
                .sorted((one, other) -> one.group(1).compareTo(other.group(1)))
                .toList();
        if (all.isEmpty()) {
            throw new DriverException.BackendFault(
                    "ConfigMap " + NAME + " names no monitor: Rook has not made any yet");
        }
        Set<String> out = Arrays.stream(data.getOrDefault(OUT_OF_QUORUM, "").split(",", -1))
                .collect(Collectors.toSet());
        List<Matcher> voting =
                all.stream().filter(each -> !out.contains(each.group(1))).toList();
        List<String> monitors = new ArrayList<>();
        (voting.isEmpty() ? all : voting).forEach(each -> monitors.add(address(each.group(2), each.group(3))));
        var _ = Monitors.parse(String.join(",", monitors));
        return List.copyOf(monitors);
    }

    private static Matcher endpoint(String text) {
        Matcher matcher = ENDPOINT.matcher(text.strip());
        if (!matcher.matches()) {
            throw new DriverException.BackendFault("ConfigMap " + NAME + " has " + QuotedText.of(text)
                    + " among its monitors, which is not NAME=ADDRESS:PORT");
        }
        return matcher;
    }

    private static String address(String host, String port) {
        return port.equals(V2_PORT)
                ? "[v2:" + host + ":" + V2_PORT + "]"
                : "[v2:" + host + ":" + V2_PORT + ",v1:" + host + ":" + port + "]";
    }
}
