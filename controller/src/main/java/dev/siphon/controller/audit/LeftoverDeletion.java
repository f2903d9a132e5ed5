package dev.siphon.controller.audit;

import dev.siphon.controller.key.ClientSession;
import dev.siphon.controller.key.ClientSessions;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.List;
import java.util.function.Consumer;

/// Deletes what never became a volume; nothing that holds a file, and nothing that somebody has. What made it look
/// unfinished its owner can set too.
///
/// @param kept what there is outside Ceph of a volume that somebody has
/// @param deleteVolume DeleteVolume at the controller
public record LeftoverDeletion(
        VolumesDirectory survey,
        ClientSessions sessions,
        Auditor.Kept kept,
        Consumer<VolumeId.Provisioned> deleteVolume) {
    /// Deletes it, if nobody loses anything by that; one that is gone is no error.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) as [#check]
    void delete(VolumeId.Provisioned volume) {
        check(volume);
        deleteVolume.accept(volume);
    }

    /// Looks at it as it is now: its files last, just before they would go.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if it holds files, is mounted, or somebody has it
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if the driver may not know who has mounted it
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
    static final String ADVICE = "look at it, and if nobody misses it: `siphon csi DeleteVolume`";

    /// Looks whether an identity may go.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if a client has it
    void checkUnused(String cluster, String fileSystem, String userId) {
        sessions.of(cluster, fileSystem, userId).stream().findFirst().ifPresent(session -> {
            throw new DriverException.InUse(
                    "client." + userId + " is in use by " + session.host() + " at " + session.address()
                            + ": nothing was removed; its Kubernetes is there, or its node was not stopped");
        });
    }
}
