package dev.siphon.controller.warm;

import dev.siphon.csi.BackgroundTasks;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Port: the Workloads and AdmissionChecks of Kueue.
///
/// All methods throw [dev.siphon.csi.DriverException.BackendUnavailable] (UNAVAILABLE) if there is no reply, and
/// [dev.siphon.csi.DriverException.AccessDenied] (PERMISSION_DENIED) if the driver lacks the permission.
public interface AdmissionQueue {
    /// A cluster without Kueue.
    AdmissionQueue NONE = new AdmissionQueue() {
        @Override
        public List<BackgroundTasks.Task> follow(BackgroundTasks tasks, Runnable changed) {
            return List.of();
        }

        @Override
        public boolean isThere() {
            return false;
        }

        @Override
        public Queued queued() {
            return new Queued(List.of(), List.of(), Map.of());
        }

        @Override
        public void activate(DataCheck check, DataCheck.Active active) {}

        @Override
        public void answer(QueuedWorkload workload, String check, CheckAnswer.Given answer) {}

        @Override
        public void release(QueuedWorkload workload, Instant since, Set<String> checks) {}

        @Override
        public void resume(QueuedWorkload workload, boolean isLate) {}
    };

    /// @param workloads all that wait for data, or could
    /// @param checks those of this driver
    /// @param flavors all, by name
    record Queued(List<QueuedWorkload> workloads, List<DataCheck> checks, Map<String, DataCheck.Flavor> flavors) {
        public Queued {
            workloads = List.copyOf(workloads);
            checks = List.copyOf(checks);
            flavors = Map.copyOf(flavors);
        }
    }

    /// Starts watches that keep the data of this port current, as [WarmupCluster#follow].
    List<BackgroundTasks.Task> follow(BackgroundTasks tasks, Runnable changed);

    /// Whether the driver is to look for Workloads.
    boolean isThere();

    /// Returns what waits; nothing if the cluster has no Kueue.
    Queued queued();

    /// Writes the condition `Active` of a check. A missing one is ignored.
    void activate(DataCheck check, DataCheck.Active active);

    /// Writes the state of a Workload's check. If the Workload is gone or was changed meanwhile, nothing happens.
    ///
    /// @param check the name of the check
    void answer(QueuedWorkload workload, String check, CheckAnswer.Given answer);

    /// Deactivates a Workload, so that Kueue takes its quota, and notes in the object that this driver did it. If the
    /// Workload is gone or was changed meanwhile, nothing happens.
    ///
    /// @param since when its data began to load
    /// @param checks the names of this driver's checks of the Workload
    void release(QueuedWorkload workload, Instant since, Set<String> checks);

    /// Activates a Workload that [#release] deactivated, so that Kueue queues it by its age, and removes the note. If
    /// the Workload is gone or was changed meanwhile, nothing happens.
    ///
    /// @param isLate as in [CheckAnswer.Resumed]
    void resume(QueuedWorkload workload, boolean isLate);
}
