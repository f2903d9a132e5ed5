package dev.siphon.controller.key;

import dev.siphon.csi.VolumeId;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/// The objects that an identity opens.
///
/// @param objects where in RADOS, as `POOL/NAMESPACE`; empty if unknown
/// @param shared the other volumes with objects there
record KeyScope(Optional<String> objects, Set<VolumeId.Provisioned> shared) {
    static final KeyScope UNKNOWN = new KeyScope(Optional.empty(), Set.of());

    static KeyScope by(VolumeIdentity identity, VolumeIdentities volumes) {
        VolumeId.Provisioned volume = identity.volume();
        List<MintedIdentity> ofGroup = volumes.startingWith(
                volume.cluster(), VolumeIdentity.PREFIX + volume.fileSystem() + "." + volume.group() + ".");
        Optional<String> objects = ofGroup.stream()
                .filter(each -> each.userId().equals(identity.userId()))
                .flatMap(each -> each.objects().stream())
                .findFirst();
        return new KeyScope(objects, sharing(ofGroup, volume, objects));
    }

    private static Set<VolumeId.Provisioned> sharing(
            List<MintedIdentity> ofGroup, VolumeId.Provisioned volume, Optional<String> objects) {
        Set<VolumeId.Provisioned> shared = new TreeSet<>(Comparator.comparing(VolumeId::toString));
        for (MintedIdentity each : ofGroup) {
            if (objects.isPresent() && each.objects().equals(objects)) {
                VolumeIdentity.parse(volume.cluster(), volume.fileSystem(), each.userId())
                        .map(VolumeIdentity::volume)
                        .filter(other -> !other.equals(volume))
                        .ifPresent(shared::add);
            }
        }
        return shared;
    }
}
