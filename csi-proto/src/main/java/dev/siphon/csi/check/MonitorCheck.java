package dev.siphon.csi.check;

import dev.siphon.csi.Monitors;
import dev.siphon.csi.StorageReach;
import java.util.List;
import java.util.stream.Collectors;

/// Whether a TCP connection reaches each monitor of a cluster from here.
public final class MonitorCheck {
    private MonitorCheck() {}

    /// Tries them all at once.
    public static void look(Checklist list, String what, Monitors monitors) {
        List<StorageReach.Finding> silent = StorageReach.look(List.of(monitors), list.limit());
        list.note(what, silent.isEmpty() ? new Outcome.Ok(monitors + " answer") : failed(silent.getFirst()));
    }

    private static Outcome failed(StorageReach.Finding silent) {
        String endpoints =
                silent.unreachable().stream().map(Monitors.Endpoint::toString).collect(Collectors.joining(", "));
        return new Outcome.Failed(
                "no connection to " + endpoints,
                "compare with `ceph mon dump`; then routes and firewalls from here to it, TCP ports 3300 and 6789");
    }
}
