package dev.siphon.controller.volume;

import dev.siphon.controller.volume.SubvolumeInventory.KnownSubvolume;
import dev.siphon.controller.volume.Subvolumes.Subvolume;
import dev.siphon.controller.volume.VolumeClass.MutableParameters;
import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.controller.volume.VolumeRequest.ResolvedVolumeSpec;
import dev.siphon.controller.volume.Volumes.Volume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import java.util.Optional;
import java.util.OptionalLong;

/// An account's home, and its aliases: the volumes of claims that lead to it ([Homes]).
final class HomeKind extends StoredKind {
    private final PlainKind plain;

    /// @param plain the kind of the home itself
    HomeKind(Parts parts, PlainKind plain) {
        super(parts);
        this.plain = plain;
    }

    @Override
    String subvolume(SubvolumeGroup group, VolumeRequest request) {
        if (request.source().isPresent()) {
            throw new DriverException.InvalidRequest("volume_content_source: a volume of kind home is the account's"
                    + " home, which already has contents; leave the source out");
        }
        return CephNames.alias(group, request.name());
    }

    /// Creates the home before its alias, under the home's lock, so that a removal of the home sees
    /// every alias.
    @Override
    Volume make(ResolvedVolumeSpec requested, Optional<Subvolume> existing) {
        ResolvedVolumeSpec home = requested.behind();
        long size = parts.operations().run(Volumes.key(home.id()), () -> {
            long bytes =
                    plain.make(home, homeSubvolume(home, existing.isEmpty())).capacityBytes();
            if (existing.isEmpty()) {
                parts.provisioner().make(requested, OptionalLong.empty(), requested.mode());
            }
            return bytes;
        });
        parts.inventory().note(requested.id(), new KnownSubvolume.Live(OptionalLong.empty()));
        VolumeContext context = context(requested, home.id().subvolume(), false);
        return new Volume(requested.id(), size, Optional.of(context), Optional.empty());
    }

    /// Returns the home if it exists; grows it first if a new alias requests more and nothing else speaks against that.
    private Optional<Subvolume> homeSubvolume(ResolvedVolumeSpec requested, boolean mayGrow) {
        Optional<Subvolume> found =
                parts.inventory().mayExist(requested.id()) ? parts.cleanup().of(requested.id()) : Optional.empty();
        long wanted = requested.capacity().requiredBytes();
        if (mayGrow
                && found.filter(home -> home.quotaBytes().orElse(wanted) < wanted)
                        .isPresent()) {
            checkMatches(requested, found.get());
            parts.provisioner().applyAllowance(requested);
            parts.provisioner().allowNamespace(requested);
            boolean _ = parts.ledger().grow(AllowanceLedger.Request.of(requested.id(), wanted, false), () -> {
                parts.ports().subvolumes().resize(requested.id(), wanted);
                return true;
            });
            return parts.cleanup().of(requested.id());
        }
        return found;
    }

    /// Checks all but the size, as the home never shrinks again.
    ///
    /// @throws DriverException.IncompatibleExisting (ALREADY_EXISTS) if the home does not match
    private void checkMatches(ResolvedVolumeSpec requested, Subvolume home) {
        parts.existingCheck().checkPlace(requested, home);
        if (home.mode() != PlainKind.UNFINISHED) {
            parts.existingCheck().checkChangeable(requested, home);
        }
    }

    @Override
    public Volume get(VolumeId.Provisioned id) {
        Subvolume found = live(id);
        Subvolume home = Homes.isAlias(id) ? live(Homes.behind(id)) : found;
        return new Volume(id, home.quotaBytes().orElse(0), Optional.empty(), Optional.empty());
    }

    /// An alias goes alone, or with its home if `home` is that. The home alone goes only if `home` is
    /// that. A refusal changes nothing.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if that home has another alias
    @Override
    public void delete(VolumeId.Provisioned id, String home) {
        VolumeId.Provisioned behind = Homes.behind(id);
        boolean withHome = home.equals(behind.toString());
        if (Homes.isAlias(id)) {
            if (withHome) {
                parts.operations()
                        .run(
                                Volumes.key(id),
                                () -> parts.operations().run(Volumes.key(behind), () -> {
                                    checkUnused(behind, id);
                                    parts.populator().remove(id);
                                    parts.populator().remove(behind);
                                }));
            } else {
                super.delete(id, home);
            }
        } else if (withHome) {
            parts.operations().run(Volumes.key(id), () -> {
                checkUnused(id, id);
                parts.populator().remove(id);
            });
        } else {
            throw new DriverException.InUse("volume " + id + " is the home of an account and belongs to no claim:"
                    + " `siphon home ACCOUNT --delete --yes` removes it");
        }
    }

    private void checkUnused(VolumeId.Provisioned home, VolumeId.Provisioned leaving) {
        for (VolumeId.Provisioned alias :
                parts.inventory().matching(SubvolumeGroup.of(home), CephNames.aliasPrefix(), "")) {
            if (Homes.isAlias(alias)
                    && !alias.equals(leaving)
                    && parts.ports().subvolumes().find(alias).isPresent()) {
                throw new DriverException.InUse(
                        "home " + home + " is in use as volume " + alias + "; delete that volume first");
            }
        }
    }

    /// For an alias, the home grows.
    @Override
    public long expand(VolumeId.Provisioned id, CapacityRange range) {
        if (!Homes.isAlias(id)) {
            return super.expand(id, range);
        }
        Subvolume _ = live(id);
        VolumeId.Provisioned home = Homes.behind(id);
        return parts.operations().run(Volumes.key(home), () -> super.expand(home, range));
    }

    @Override
    public void modify(VolumeId.Provisioned id, MutableParameters changes) {
        if (Homes.isAlias(id)) {
            Subvolume _ = live(id);
            throw new DriverException.InvalidRequest("mutable_parameters: volume " + id + " is the home "
                    + Homes.behind(id) + ", which other claims share; an administrator may change the home");
        }
        super.modify(id, changes);
    }

    @Override
    public VolumeId.Provisioned snapshottable(String field, VolumeId.Provisioned id) {
        if (Homes.isAlias(id)) {
            throw new DriverException.InvalidRequest(field + " " + id + " is a home that other claims share; an"
                    + " administrator may take snapshots of the home itself, " + Homes.behind(id));
        }
        return id;
    }
}
