package dev.siphon.controller.check;

import dev.siphon.controller.ceph.ClusterStatus;
import dev.siphon.controller.kubernetes.KubernetesAdapter;
import dev.siphon.controller.monitor.MonitorFollower;
import dev.siphon.controller.monitor.MonitorSource;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Monitors;
import dev.siphon.csi.check.CheckOutcome;
import dev.siphon.csi.check.Checklist;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

/// Checks whether Rook manages a cluster, and whether Siphon is configured for that (docs/how-to/rook.md).
///
/// @param kubernetes empty if the controller uses none
/// @param monitors knows which clusters are Rook's by the clusters file
/// @param namespace of Rook's cluster, if the clusters file does not have it
public record RookChecks(
        ClusterStatus state, Optional<KubernetesAdapter> kubernetes, MonitorFollower monitors, String namespace) {
    /// The prefix of the identities of Rook's CSI drivers (Rook's `pkg/operator/ceph/csi/secrets.go`). Rook appends
    /// a number once it has replaced one.
    private static final String IDENTITIES = "csi-";

    /// The default subvolumegroup of ceph-csi.
    private static final String GROUP = "csi";

    /// Checks one cluster.
    ///
    /// @param fileSystems of the cluster; empty if the login failed
    public void run(Checklist list, String cluster, Optional<List<String>> fileSystems) {
        Optional<MonitorSource> followed = monitors.source(cluster);
        followed.ifPresent(source -> lookAt(list, cluster, source));
        if (fileSystems.isEmpty()) {
            return;
        }
        Optional<Signs> signs = list.check(
                cluster + ": rook",
                _ -> "`ceph auth ls` and `ceph fs subvolumegroup ls FS` as client.admin have to answer",
                () -> signs(list, cluster, fileSystems.get()),
                found -> found.judge(followed.isPresent()));
        if (followed.isPresent() || signs.filter(Signs::areRooks).isPresent()) {
            identity(state.access(cluster).user())
                    .ifPresent(outcome -> list.note(cluster + ": rook identity", outcome));
        }
        if (followed.isEmpty() && signs.filter(Signs::areRooks).isPresent()) {
            compare(list, cluster);
        }
    }

    private static void lookAt(Checklist list, String cluster, MonitorSource source) {
        var _ = list.check(
                cluster + ": rook monitors",
                _ -> "set the chart's value `ceph.rook.namespace` to the namespace of Rook's CephCluster"
                        + " (`kubectl get cephclusters -A`); it also lets Siphon read that ConfigMap",
                source::read,
                found -> new CheckOutcome.Ok("followed: " + source.where() + " has " + String.join(",", found)));
    }

    /// Signs that Rook manages a cluster.
    ///
    /// @param identities of Rook's CSI drivers
    /// @param fileSystems that have ceph-csi's group
    record Signs(SortedSet<String> identities, List<String> fileSystems) {
        /// A group `csi` alone may belong to a ceph-csi without Rook.
        boolean areRooks() {
            return !identities.isEmpty();
        }

        CheckOutcome judge(boolean isSaid) {
            String group = fileSystems.isEmpty()
                    ? ""
                    : "; ceph-csi has the subvolumegroup csi in " + String.join(", ", fileSystems)
                            + ", which Siphon does not touch";
            if (areRooks()) {
                return new CheckOutcome.Ok(
                        "this Ceph is Rook's, by client." + String.join(", client.", identities) + group);
            }
            return isSaid
                    ? new CheckOutcome.Ok("this Ceph is Rook's, by the clusters file" + group)
                    : new CheckOutcome.Skipped("there is no identity client.csi-* as Rook makes them" + group);
        }
    }

    private Signs signs(Checklist list, String cluster, List<String> fileSystems) {
        SortedSet<String> identities;
        try {
            identities = state.clients(cluster, IDENTITIES, list.limit());
        } catch (DriverException.AccessDenied _) {
            identities = new TreeSet<>(); // an identity that mints no keys need not see others
        }
        List<String> with = new ArrayList<>();
        for (String each : fileSystems) {
            if (state.hasGroup(cluster, each, GROUP, list.limit())) {
                with.add(each);
            }
        }
        return new Signs(identities, with);
    }

    /// Returns the failure for an identity that Rook manages; empty for one of Siphon's own.
    static Optional<CheckOutcome> identity(String user) {
        boolean isRooks = user.equals("admin") || user.equals("healthchecker") || user.startsWith(IDENTITIES);
        return isRooks
                ? Optional.of(new CheckOutcome.Failed(
                        "client." + user + " is Rook's: Rook replaces its key and caps as it needs them",
                        "give Siphon its own identity: run in Rook's toolbox what `siphon ceph-caps` prints"))
                : Optional.empty();
    }

    /// Compares the configured addresses with the present ones.
    private void compare(Checklist list, String cluster) {
        Optional<MonitorSource> source = kubernetes.map(adapter -> adapter.rookMonitors(namespace));
        var _ = list.check(
                cluster + ": rook monitors",
                _ -> "`ceph mon dump` has to answer",
                () -> judge(addresses(cluster), current(list, cluster, source)),
                outcome -> outcome);
    }

    /// Returns the addresses in the clusters file, with names resolved.
    private SortedSet<String> addresses(String cluster) {
        SortedSet<String> addresses = new TreeSet<>();
        for (String host : Monitors.parse(state.access(cluster).monHost()).hosts()) {
            try {
                for (InetAddress each : InetAddress.getAllByName(host)) {
                    addresses.add(each.getHostAddress());
                }
            } catch (UnknownHostException _) {
                addresses.add(host);
            }
        }
        return addresses;
    }

    /// The present addresses of the monitors.
    ///
    /// @param where their source, for people
    record Current(SortedSet<String> hosts, String where) {}

    /// Returns the present addresses. Uses `ceph mon dump` if Siphon cannot read the ConfigMap, which is no
    /// failure: nobody has granted that right.
    private Current current(Checklist list, String cluster, Optional<MonitorSource> source) {
        if (source.isPresent()) {
            try {
                String monHost = String.join(",", source.get().read());
                return new Current(Monitors.parse(monHost).hosts(), source.get().where());
            } catch (DriverException.AccessDenied | DriverException.NotFound | DriverException.BackendUnavailable _) {
                return new Current(state.monitorHosts(cluster, list.limit()), "`ceph mon dump`");
            }
        }
        return new Current(state.monitorHosts(cluster, list.limit()), "`ceph mon dump`");
    }

    static CheckOutcome judge(SortedSet<String> written, Current now) {
        String remedy = "set the chart's value `ceph.rook.namespace` instead of `ceph.monitors` (docs/how-to/rook.md):"
                + " Siphon then follows Rook's monitors when they move. Without Kubernetes: write the addresses of "
                + now.where() + " into the clusters file";
        SortedSet<String> gone = new TreeSet<>(written);
        gone.removeAll(now.hosts());
        if (!gone.isEmpty()) {
            return new CheckOutcome.Failed(
                    "the clusters file has " + String.join(", ", gone) + ", where no monitor is: " + now.where()
                            + " has " + String.join(", ", now.hosts()),
                    remedy);
        }
        SortedSet<String> fresh = new TreeSet<>(now.hosts());
        fresh.removeAll(written);
        return new CheckOutcome.Warned(
                fresh.isEmpty()
                        ? "written into the clusters file, where they stay when Rook moves them"
                        : "the clusters file lacks " + String.join(", ", fresh) + " of " + now.where(),
                remedy);
    }
}
