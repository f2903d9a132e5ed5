package dev.siphon.controller.admin;

import dev.siphon.controller.Backend;
import dev.siphon.controller.key.KeyStore;
import dev.siphon.controller.key.VolumeCaps;
import dev.siphon.controller.key.VolumeKeys;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/// Parses the arguments of the key commands, and looks up their volumes in the cluster.
final class VolumeArguments {
    private VolumeArguments() {}

    /// Parses volume ids.
    static List<VolumeId.Provisioned> parse(CommandSpec command, List<String> ids) {
        List<VolumeId.Provisioned> volumes = new ArrayList<>();
        for (String id : ids) {
            try {
                switch (VolumeId.parse(id)) {
                    case VolumeId.Provisioned volume -> volumes.add(volume);
                    case VolumeId.Static _ ->
                        throw new ParameterException(
                                command.commandLine(), "static volume " + id + " has a key that somebody else minted");
                    case VolumeId.DatasetVolume _ ->
                        throw new ParameterException(
                                command.commandLine(), id + " shows a dataset, which has no key of this kind");
                }
            } catch (DriverException.InvalidRequest wrong) {
                throw new ParameterException(command.commandLine(), wrong.getMessage(), wrong);
            }
        }
        return volumes;
    }

    /// Returns the caps for a volume's key, for when the cluster has no identity of it any more.
    static Optional<VolumeCaps> grant(CommandSpec command, Backend backend, VolumeId.Provisioned volume) {
        try (VolumeKeys keys = new VolumeKeys(
                backend.ceph().ports(),
                backend.ceph().identities(),
                store(command, backend),
                () -> Duration.ofMinutes(1))) {
            return keys.grantOf(volume);
        }
    }

    /// Returns the store of keys.
    static KeyStore store(CommandSpec command, Backend backend) {
        return backend.keys()
                .orElseThrow(() -> new ParameterException(
                        command.commandLine(),
                        "--key-dir or --kubernetes-namespace is needed: it says where the keys of volumes are"));
    }

    /// Whether the volume exists. Asks the MDS: the mgr may be blocked by a client whose key is being revoked.
    static boolean exists(Backend backend, VolumeId.Provisioned volume) {
        try {
            var _ = backend.ceph()
                    .ports()
                    .files()
                    .quotaBytes(volume.cluster(), volume.fileSystem(), SubvolumeGroup.pathOf(volume));
            return true;
        } catch (DriverException.NotFound _) {
            return false;
        }
    }
}
