package dev.siphon.controller.volume;

import dev.siphon.controller.volume.SubvolumeInventory.KnownSubvolume;
import dev.siphon.controller.volume.Subvolumes.Subvolume;
import dev.siphon.controller.volume.VolumeClass.MutableParameters;
import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.controller.volume.VolumeRequest.ClaimAccessMode;
import dev.siphon.controller.volume.VolumeRequest.ResolvedVolumeSpec;
import dev.siphon.controller.volume.Volumes.Volume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.KeyedOperations;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;

/// A volume with a subvolume of its own. The subvolume's name is derived from the volume's, so that an
/// earlier try is found by name alone; its first letter tells the kind ([CephNames.Kind]).
///
/// A complete volume is never changed by CreateVolume. It fits the request as it is, or the reply is
/// ALREADY_EXISTS, even if a later ControllerModifyVolume made it differ (CSI v1.13, CreateVolume).
abstract sealed class StoredKind implements VolumeKind<VolumeId.Provisioned>
        permits PlainKind, FilledKind, SnapshotBackedKind, HomeKind {
    final Parts parts;

    StoredKind(Parts parts) {
        this.parts = parts;
    }

    /// What all kinds share.
    ///
    /// @param operations lock each volume, so that two operations do not run at once
    /// @param keys gives volumes their keys
    record Parts(
            CephPorts ports,
            SubvolumeInventory inventory,
            AllowanceLedger ledger,
            VolumePopulator populator,
            SubvolumeProvisioner provisioner,
            PartialVolumeCleanup cleanup,
            ExistingVolumeCheck existingCheck,
            AccountFreeze accountFreeze,
            KeyedOperations operations,
            KeyMinting keys) {
        static Parts over(CephPorts ports, Callers callers, KeyedOperations operations, Supplier<Duration> timeLeft) {
            SubvolumeInventory inventory = new SubvolumeInventory(ports.subvolumes());
            AllowanceLedger ledger = new AllowanceLedger(ports.files(), timeLeft, System::nanoTime);
            VolumePopulator populator = new VolumePopulator(ports, inventory, ledger, callers.keys(), timeLeft);
            return new Parts(
                    ports,
                    inventory,
                    ledger,
                    populator,
                    new SubvolumeProvisioner(ports, inventory, ledger, callers.access()),
                    new PartialVolumeCleanup(ports, populator),
                    new ExistingVolumeCheck(ports.files()),
                    new AccountFreeze(ports.files()),
                    operations,
                    callers.keys());
        }
    }

    /// Returns the subvolume of a request, after checking what only this kind requires.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the request does not fit this kind
    abstract String subvolume(SubvolumeGroup group, VolumeRequest request);

    /// Creates the volume, or completes or compares what an earlier try left.
    abstract Volume make(ResolvedVolumeSpec requested, Optional<Subvolume> existing);

    /// Returns whether an existing subvolume is a complete volume, which may be in use.
    ///
    /// @param found its state
    boolean isWhole(VolumeId.Provisioned id, Subvolume found) {
        return true;
    }

    /// Creates or finds the volume; the caller holds the lock of its name.
    final Volume create(VolumePlacement.OwnedGroup place, VolumeRequest request) {
        VolumeId.Provisioned id = place.group().volume(subvolume(place.group(), request));
        for (VolumeId.Provisioned other : sameName(place.group(), request.name())) {
            if (!other.equals(id)
                    && parts.inventory().mayExist(other)
                    && parts.cleanup().of(other).isPresent()) {
                throw new DriverException.IncompatibleExisting(
                        "volume " + request.name() + " exists as " + other + " with other contents");
            }
        }
        ResolvedVolumeSpec requested = ResolvedVolumeSpec.of(id, place.owner(), request);
        Optional<Subvolume> existing =
                parts.inventory().mayExist(id) ? parts.cleanup().of(id) : Optional.empty();
        try {
            if (existing.isPresent()) {
                parts.provisioner().allowNamespace(requested);
            }
            Volume made = make(requested, existing);
            parts.keys().made(id, made.context().orElseThrow(), request.name());
            return made;
        } catch (RuntimeException refused) {
            throw Refusal.isFinal(refused) ? settled(requested, existing, refused) : refused;
        }
    }

    /// Returns every id that a volume of that name may have, of any kind.
    private List<VolumeId.Provisioned> sameName(SubvolumeGroup group, String name) {
        return Arrays.stream(CephNames.Kind.values())
                .flatMap(kind -> switch (kind) {
                    case SHALLOW ->
                        parts.inventory().matching(group, CephNames.shallowPrefix(group, name), "").stream();
                    case PLAIN -> List.of(group.volume(CephNames.plain(group, name))).stream();
                    case FILLED -> parts.inventory().matching(group, CephNames.filledPrefix(group, name), "").stream();
                    case ALIAS -> List.of(Homes.alias(group, name)).stream();
                    case HOME -> List.<VolumeId.Provisioned>of().stream(); // no claim's volume is a home itself
                })
                .toList();
    }

    /// Removes what a request created before it was refused for good. A volume that existed before
    /// stays, since somebody may use it. Its caller is told to retry, unless the request does not fit
    /// the volume.
    ///
    /// @return the exception to throw
    final RuntimeException settled(
            ResolvedVolumeSpec requested, Optional<Subvolume> existing, RuntimeException refused) {
        VolumeId.Provisioned id = requested.id();
        try {
            if (!parts.inventory().mayExist(id)) {
                return refused;
            }
            if (existing.isPresent() && isWhole(id, existing.get())) {
                return refused instanceof DriverException known && !Refusal.isMisfit(known)
                        ? Refusal.again("volume " + id + " exists", refused)
                        : refused;
            }
            parts.populator().remove(id);
            requested.request().source().ifPresent(source -> parts.populator().release(source, id));
            return refused;
        } catch (DriverException left) {
            left.addSuppressed(refused);
            return Refusal.again("the incomplete volume " + id + " is not removed yet", left);
        }
    }

    /// Returns the context of a volume with files of its own: what a node needs to know of it. The node
    /// mounts the group and bind-mounts the data directory of the subvolume. It finds that directory
    /// itself, which saves a mgr command.
    ///
    /// @param dataPath the subvolume with the files, or a snapshot of it, in the group
    final VolumeContext context(ResolvedVolumeSpec requested, String dataPath, boolean readOnly) {
        VolumeId.Provisioned id = requested.id();
        VolumeClass parameters = requested.parameters();
        return new VolumeContext(
                parts.ports().clusters().monitors(id.cluster()),
                id.fileSystem(),
                SubvolumeGroup.of(id).path(),
                Optional.of(dataPath),
                parameters.mounter(),
                parameters.mountOptions(),
                readOnly,
                Optional.of(requested.account().name()),
                parameters.containerUser());
    }

    /// Records a volume that exists now, and returns it.
    final Volume made(ResolvedVolumeSpec requested, long size, VolumeContext context) {
        VolumeId.Provisioned id = requested.id();
        parts.inventory().note(id, new KnownSubvolume.Live(OptionalLong.of(size)));
        parts.ledger().recordExisting(id, CephNames.countsNothing(id.subvolume()) ? 0 : size);
        return new Volume(id, size, Optional.of(context), requested.request().source());
    }

    @Override
    public Volume get(VolumeId.Provisioned id) {
        return new Volume(id, live(id).quotaBytes().orElse(0), Optional.empty(), Optional.empty());
    }

    @Override
    public void delete(VolumeId.Provisioned id, String home) {
        if (home.equals(id.toString())) {
            throw new DriverException.InvalidRequest(
                    "secrets: " + Homes.DELETE + " is set, but " + id + " is not a home");
        }
        parts.operations().run(Volumes.key(id), () -> {
            parts.populator().remove(id);
        });
    }

    @Override
    public long expand(VolumeId.Provisioned id, CapacityRange range) {
        OptionalLong now = live(id).quotaBytes();
        if (now.isEmpty()) {
            return range.requiredBytes();
        }
        long wanted = range.grow(id, now.getAsLong());
        if (wanted > now.getAsLong()) {
            parts.accountFreeze().check(SubvolumeGroup.of(id));
            resize(id, wanted);
        }
        return wanted;
    }

    /// Gives a volume another size, within the account's allowance.
    ///
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if it does not fit
    final void resize(VolumeId.Provisioned id, long bytes) {
        boolean _ = parts.ledger().grow(AllowanceLedger.Request.of(id, bytes, false), () -> {
            parts.ports().subvolumes().resize(id, bytes);
            return true;
        });
        parts.inventory().note(id, new KnownSubvolume.Live(OptionalLong.of(bytes)));
    }

    @Override
    public void modify(VolumeId.Provisioned id, MutableParameters changes) {
        parts.provisioner().apply(id, live(id), changes);
    }

    @Override
    public VolumeId.Provisioned snapshottable(String field, VolumeId.Provisioned id) {
        return id;
    }

    @Override
    public void checkMode(VolumeId.Provisioned id, ClaimAccessMode mode) {
        // every mode is possible
    }

    /// Returns the subvolume of a usable volume.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if there is none
    /// @throws DriverException.OperationPending (ABORTED) if a clone still fills it
    final Subvolume live(VolumeId.Provisioned volume) {
        Subvolume found = parts.ports()
                .subvolumes()
                .find(volume)
                .orElseThrow(() -> new DriverException.NotFound("volume " + volume + " does not exist"));
        return switch (found.state()) {
            case READY -> found;
            case CLONING -> throw new DriverException.OperationPending("volume " + volume + " is still being filled");
            case CLONE_ENDED_BADLY, RETAINED, BROKEN ->
                throw new DriverException.NotFound(
                        "volume " + volume + " does not exist; what is left of it is " + found.state());
        };
    }
}
