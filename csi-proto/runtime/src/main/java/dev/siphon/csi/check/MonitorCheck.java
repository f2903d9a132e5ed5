package dev.siphon.csi.check;

import dev.siphon.csi.MonitorReachability;
import dev.siphon.csi.Monitors;
import java.util.List;
import java.util.stream.Collectors;

/// Checks whether a TCP connection from here reaches each monitor of a cluster.
public final class MonitorCheck {
    private MonitorCheck() {}

    /// Tries all monitors concurrently.
    public static void run(Checklist list, String what, Monitors monitors) {
        List<MonitorReachability.UnreachableCluster> silent =
                MonitorReachability.findUnreachable(List.of(monitors), list.limit());
        list.note(what, silent.isEmpty() ? new CheckOutcome.Ok(monitors + " answer") : failed(silent.getFirst()));
    }

    private static CheckOutcome failed(MonitorReachability.UnreachableCluster silent) {
        String endpoints =
                silent.unreachable().stream().map(Monitors.Endpoint::toString).collect(Collectors.joining(", "));
        return new CheckOutcome.Failed(
                "no connection to " + endpoints,
                "compare with `ceph mon dump`; then check routes and firewalls to it, TCP ports 3300 and 6789");
    }
}
