package dev.siphon.controller.key;

import dev.siphon.csi.VolumeId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/// The state of a cluster's identities and keys at one moment.
///
/// @param minted the ids of all volume identities in the cluster
/// @param kept the identity ids of all stored keys, of all clusters
record IdentityScan(
        String cluster, List<String> fileSystems, Set<String> minted, Map<VolumeId.Provisioned, String> kept) {
    Stream<VolumeIdentity> identities() {
        return fileSystems.stream()
                .flatMap(fileSystem ->
                        minted.stream().flatMap(id -> VolumeIdentity.parse(cluster, fileSystem, id).stream()));
    }

    /// Returns the volumes of its file systems that have an identity or a key.
    Stream<VolumeId.Provisioned> claimed() {
        return Stream.concat(kept.keySet().stream(), identities().map(VolumeIdentity::volume))
                .filter(volume -> volume.cluster().equals(cluster) && fileSystems.contains(volume.fileSystem()));
    }

    boolean hasKey(VolumeId.Provisioned volume) {
        return Optional.ofNullable(kept.get(volume)).filter(minted::contains).isPresent();
    }
}
