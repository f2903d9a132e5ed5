package dev.siphon.node.mount;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/// Remembers why the last attempt to stage or publish a volume failed. NodeGetVolumeHealth may ask about a volume
/// that never reached the mount table. Keeps the [#MAX_VOLUMES] most recent volumes, in memory only.
final class RecentFailures {
    private static final int MAX_VOLUMES = 256;

    private final Map<VolumeId, String> failures = new LinkedHashMap<>();

    /// Runs `attempt`. Records its failure if the volume or the cluster caused it, not the request.
    <T> T noting(VolumeId volume, Supplier<T> attempt) {
        try {
            T result = attempt.get();
            forget(volume);
            return result;
        } catch (DriverException e) {
            if (isOfVolume(e)) {
                record(volume, String.valueOf(e.getMessage()));
            }
            throw e;
        }
    }

    synchronized Optional<String> of(VolumeId volume) {
        return Optional.ofNullable(failures.get(volume));
    }

    synchronized void forget(VolumeId volume) {
        failures.remove(volume);
    }

    private synchronized void record(VolumeId volume, String why) {
        failures.remove(volume);
        failures.put(volume, why);
        if (failures.size() > MAX_VOLUMES) {
            failures.remove(failures.keySet().iterator().next());
        }
    }

    private static boolean isOfVolume(DriverException e) {
        return switch (e) {
            case DriverException.BackendUnavailable _,
                    DriverException.BackendFault _,
                    DriverException.DeadlinePassed _,
                    DriverException.AccessDenied _,
                    DriverException.QuotaExhausted _,
                    DriverException.NotFound _ -> true;
            case DriverException.InvalidRequest _,
                    DriverException.IncompatibleExisting _,
                    DriverException.OperationPending _,
                    DriverException.InUse _,
                    DriverException.CapacityOutOfRange _,
                    DriverException.Unsupported _ -> false;
        };
    }
}
