package dev.siphon.controller.volume;

import dev.siphon.controller.volume.SubvolumeInventory.KnownSubvolume;
import dev.siphon.controller.volume.Subvolumes.Subvolume;
import dev.siphon.controller.volume.VolumeClass.MutableParameters;
import dev.siphon.controller.volume.VolumeRequest.ContentSource;
import dev.siphon.controller.volume.VolumeRequest.ResolvedVolumeSpec;
import dev.siphon.controller.volume.Volumes.Volume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/// A volume with the contents of a snapshot or of another volume. It is complete once its metadata names
/// the source.
final class FilledKind extends StoredKind {
    FilledKind(Parts parts) {
        super(parts);
    }

    @Override
    String subvolume(SubvolumeGroup group, VolumeRequest request) {
        return CephNames.filled(group, request.name(), request.source().orElseThrow());
    }

    @Override
    Volume make(ResolvedVolumeSpec requested, Optional<Subvolume> existing) {
        ContentSource source = requested.source();
        VolumeId.Provisioned id = requested.id();
        VolumeContext context = context(requested, id.subvolume(), false);
        if (existing.isPresent() && isComplete(requested, source, existing.get())) {
            parts.populator().release(source, id);
            parts.existingCheck().checkChangeable(requested, existing.get());
            return made(requested, parts.existingCheck().size(requested, existing.get()), context);
        }
        long size = parts.operations().runShared(source.lock(), () -> {
            VolumePopulator.Origin origin = origin(requested, source, existing);
            long wanted = requested.capacity().resolveSize(origin.sizeBytes());
            parts.provisioner().applyAllowance(requested);
            return parts.ledger()
                    .reserveInSteps(
                            AllowanceLedger.Request.of(
                                    id, wanted, requested.parameters().overcommit()),
                            () -> {
                                fill(requested, origin, existing, wanted);
                                return wanted;
                            });
        });
        return made(requested, size, context);
    }

    private void fill(
            ResolvedVolumeSpec requested, VolumePopulator.Origin origin, Optional<Subvolume> existing, long size) {
        ContentSource source = requested.source();
        VolumePopulator populator = parts.populator();
        parts.provisioner().prepareGroup(requested);
        parts.inventory().note(requested.id(), new KnownSubvolume.Unsure());
        populator.takeTransferSnapshot(source, origin);
        if (populator.canClone(origin, requested.id(), requested.parameters(), requested.owner())) {
            populator.cloneInto(requested.id(), origin, existing, size);
        } else {
            if (existing.isEmpty()) {
                parts.provisioner().make(requested, OptionalLong.of(size), requested.mode());
            } else if (!existing.get().quotaBytes().equals(OptionalLong.of(size))) {
                parts.ports().subvolumes().resize(requested.id(), size); // an earlier try asked for another size
            }
            populator.copyInto(requested.id(), origin, parts.cleanup().mustFind(requested.id()), requested.owner());
        }
        finish(requested, source);
    }

    private void finish(ResolvedVolumeSpec requested, ContentSource source) {
        OptionalInt mode = requested.parameters().mode();
        MutableParameters changes = new MutableParameters(OptionalLong.empty(), mode)
                .with(requested.parameters().changeable());
        if (!changes.isNothing()) {
            parts.provisioner().apply(requested.id(), parts.cleanup().mustFind(requested.id()), changes);
        }
        if (requested.parameters().overcommit()) {
            parts.provisioner().noteOvercommit(requested.id());
        }
        parts.ports().subvolumes().setNote(requested.id(), SubvolumeMetadata.SOURCE, source.id());
        parts.populator().release(source, requested.id());
    }

    /// Returns whether an earlier try completed the volume.
    private boolean isComplete(ResolvedVolumeSpec requested, ContentSource source, Subvolume existing) {
        Optional<String> made = sourceOf(requested.id(), existing);
        if (made.filter(id -> !id.equals(source.id())).isPresent()) {
            throw new DriverException.IncompatibleExisting(
                    "volume " + requested.request().name() + " exists as " + requested.id() + " with the contents of "
                            + made.get() + ", not of " + source);
        }
        return made.isPresent();
    }

    @Override
    boolean isWhole(VolumeId.Provisioned id, Subvolume found) {
        return sourceOf(id, found).isPresent();
    }

    /// Returns what a complete volume was filled from.
    private Optional<String> sourceOf(VolumeId.Provisioned id, Subvolume existing) {
        return existing.state() == Subvolume.State.READY
                ? Optional.ofNullable(parts.ports().subvolumes().notes(id).get(SubvolumeMetadata.SOURCE))
                : Optional.empty();
    }

    /// Finds the source. If it is gone, removes what an earlier try began to fill from it.
    private VolumePopulator.Origin origin(
            ResolvedVolumeSpec requested, ContentSource source, Optional<Subvolume> existing) {
        VolumePopulator populator = parts.populator();
        try {
            VolumePopulator.Origin found = populator.origin(source, requested.id());
            checkAccount(requested, source);
            return found;
        } catch (DriverException.NotFound gone) {
            if (existing.isPresent()) {
                populator.remove(requested.id());
                populator.release(source, requested.id());
            }
            throw gone;
        }
    }

    /// Only the author of the class may allow copies across accounts: a request names no caller.
    private static void checkAccount(ResolvedVolumeSpec requested, ContentSource source) {
        if (!SubvolumeGroup.of(source.volume()).equals(SubvolumeGroup.of(requested.id()))
                && !requested.parameters().copyAcrossAccounts()) {
            throw new DriverException.AccessDenied("volume_content_source " + source
                    + " belongs to another account than "
                    + requested.account().name()
                    + ": only a class with parameter copyAcrossAccounts \"true\" copies it");
        }
    }
}
