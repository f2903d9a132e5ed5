package dev.siphon.controller.audit;

import dev.siphon.controller.key.ClientSession;
import dev.siphon.controller.key.ClientSessions;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.List;
import java.util.function.Consumer;

/// Deletes volumes that were never finished. It never deletes files or a volume in use, because owners too can
/// make a volume look unfinished.
///
/// @param kept the traces outside Ceph that show a volume is in use
/// @param deleteVolume calls the controller's DeleteVolume
public record LeftoverDeletion(
        VolumesDirectory survey,
        ClientSessions sessions,
        Auditor.Kept kept,
        Consumer<VolumeId.Provisioned> deleteVolume) {
    /// Deletes a volume if nothing is lost; a missing one is no error.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) as [#check]
    void delete(VolumeId.Provisioned volume) {
        check(volume);
        deleteVolume.accept(volume);
    }

    /// Checks the volume's current state. It checks files last, just before the deletion.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if it holds files, may be mounted, or has a
    ///     PersistentVolume or a key
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if the driver may not list sessions
    void check(VolumeId.Provisioned volume) {
        kept.owned(volume).ifPresent(how -> {
            throw kept(volume, how);
        });
        List<ClientSession> open = sessions.mounting(volume);
        if (!open.isEmpty()) {
            throw kept(
                    volume,
                    "may be mounted at "
                            + String.join(
                                    ", ",
                                    open.stream()
                                            .map(each -> each.host() + " (" + each.address() + ")")
                                            .distinct()
                                            .toList()));
        }
        if (survey.entry(SubvolumeGroup.of(volume), volume.subvolume())
                .filter(entry -> !VolumeChecks.hasNoFiles(entry))
                .isPresent()) {
            throw kept(volume, "holds files");
        }
    }

    private static DriverException.InUse kept(VolumeId.Provisioned volume, String why) {
        return new DriverException.InUse("volume " + volume + " " + why + " and is not deleted; " + ADVICE);
    }

    /// What a person may do instead.
    static final String ADVICE = "check it; if nobody needs it, `siphon csi DeleteVolume`";

    /// Checks that no client uses an identity.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if a client has a session with it
    void checkUnused(String cluster, String fileSystem, String userId) {
        sessions.of(cluster, fileSystem, userId).stream().findFirst().ifPresent(session -> {
            throw new DriverException.InUse(
                    "client." + userId + " is in use by " + session.host() + " at " + session.address()
                            + ": nothing was removed; its Kubernetes still exists, or its node was not stopped");
        });
    }
}
