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
    /// every alias. A home that is too small for a new alias grows.
    @Override
    Volume make(ResolvedVolumeSpec requested, Optional<Subvolume> existing) {
        ResolvedVolumeSpec home = requested.behind();
        long size = parts.operations().run(Volumes.key(home.id()), () -> {
            Optional<Subvolume> found =
                    parts.inventory().mayExist(home.id()) ? parts.cleanup().of(home.id()) : Optional.empty();
            if (existing.isPresent()) {
                return plain.make(home, found).capacityBytes();
            }
            long wanted = requested.capacity().requiredBytes();
            if (found.isPresent() && found.get().quotaBytes().orElse(wanted) < wanted) {
                // the home fits but for its size
                long before = plain.make(home.ofAnySize(), found).capacityBytes();
                makeAliasOfLarger(requested, before, wanted);
                return wanted;
            }
            long bytes = plain.make(home, found).capacityBytes();
            makeAlias(requested);
            return bytes;
        });
        parts.inventory().note(requested.id(), new KnownSubvolume.Live(OptionalLong.empty()));
        VolumeContext context = context(requested, home.id().subvolume(), false);
        return new Volume(requested.id(), size, Optional.of(context), Optional.empty());
    }

    private void makeAlias(ResolvedVolumeSpec requested) {
        parts.provisioner().make(requested, OptionalLong.empty(), requested.mode());
    }

    /// Grows the home and creates the alias that needs it. If that is refused for good, the home gets its former size
    /// back, once the alias is gone: a retry that found the alias would take the home for too small.
    private void makeAliasOfLarger(ResolvedVolumeSpec requested, long before, long wanted) {
        VolumeId.Provisioned home = Homes.behind(requested.id());
        parts.provisioner().applyAllowance(requested);
        parts.provisioner().allowNamespace(requested);
        resize(home, wanted);
        try {
            makeAlias(requested);
        } catch (RuntimeException refused) {
            RuntimeException settled =
                    Refusal.isFinal(refused) ? settled(requested, Optional.empty(), refused) : refused;
            throw Refusal.isFinal(settled) ? shrunk(home, before, settled) : settled;
        }
    }

    /// @return the exception to throw
    private RuntimeException shrunk(VolumeId.Provisioned home, long before, RuntimeException refused) {
        try {
            resize(home, before);
            return refused;
        } catch (DriverException left) {
            left.addSuppressed(refused);
            return Refusal.again("home " + home + " has not got its former " + before + " bytes back", left);
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
