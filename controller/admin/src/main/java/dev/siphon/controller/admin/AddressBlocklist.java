package dev.siphon.controller.admin;

import dev.siphon.controller.key.ClientSessions;
import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// The result of blocking an address in every cluster. A cluster that refuses does not keep the others from being
/// asked.
final class AddressBlocklist {
    private final List<String> clusters = new ArrayList<>();
    private final List<String> refusals = new ArrayList<>();

    /// Blocks an address in every cluster. Adds a cluster that does not answer to `failures`.
    static AddressBlocklist in(
            List<String> clusters, ClientSessions sessions, String address, Duration time, PartialFailures failures) {
        AddressBlocklist block = new AddressBlocklist();
        for (String cluster : clusters) {
            try {
                sessions.block(cluster, address, time);
                block.clusters.add(cluster);
            } catch (DriverException.InUse served) {
                block.refusals.add("cluster " + cluster + ": " + served.getMessage());
            } catch (DriverException notNow) {
                failures.add("cluster " + cluster, "the address is not blocked: " + notNow.getMessage());
            }
        }
        return block;
    }

    /// Returns the clusters that block the address now.
    List<String> clusters() {
        return List.copyOf(clusters);
    }

    /// @throws DriverException.InUse (FAILED_PRECONDITION) if a daemon of a cluster, or a controller, has the
    ///     address
    void requireUnserved() {
        if (!refusals.isEmpty()) {
            throw new DriverException.InUse(String.join("; ", refusals)
                    + (clusters.isEmpty() ? "" : "; it is blocked in " + String.join(", ", clusters))
                    + "; no key was revoked");
        }
    }
}
