package dev.siphon.controller.volume;

import dev.siphon.controller.volume.CephNames.Kind;
import dev.siphon.controller.volume.SubvolumeInventory.KnownSubvolume;
import dev.siphon.controller.volume.Subvolumes.Subvolume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.KeyedOperations;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/// Executes CreateVolume. The subvolume's name is derived from the volume's, so that an earlier try is found by
/// name alone. A volume with contents has a name of another kind, and is complete once its metadata says so.
///
/// A complete volume is never changed. It fits the request as it is, or the reply is ALREADY_EXISTS, even if a
/// later ControllerModifyVolume made it differ (CSI v1.13, CreateVolume).
final class CreateVolumeOperation {
    /// The mode of an empty volume whose file limit is not set yet: the sticky bit without any permission, which no
    /// class can request ([ClassParameters]). It denies all access, and costs no round trip to a mon or mgr. An
    /// owner can set it on a complete volume too. Completing that volume again changes no file, so never remove a
    /// volume for its mode.
    private static final int UNFINISHED = 01000;

    private final Subvolumes subvolumes;
    private final FileTree files;
    private final SubvolumeInventory inventory;
    private final VolumePopulator populator;
    private final VolumeContextWriter contextWriter;
    private final ExistingVolumeCheck existingCheck;
    private final AllowanceLedger ledger;
    private final SubvolumeProvisioner provisioner;
    private final PartialVolumeCleanup cleanup;
    private final KeyedOperations operations;
    private final KeyMinting keys;

    CreateVolumeOperation(
            CephPorts ports,
            SubvolumeInventory inventory,
            AllowanceLedger ledger,
            VolumePopulator populator,
            VolumeContextWriter contextWriter,
            KeyedOperations operations,
            Callers callers) {
        this.ledger = ledger;
        this.keys = callers.keys();
        this.provisioner = new SubvolumeProvisioner(ports, inventory, ledger, callers.access());
        this.cleanup = new PartialVolumeCleanup(ports, populator);
        this.subvolumes = ports.subvolumes();
        this.files = ports.files();
        this.inventory = inventory;
        this.populator = populator;
        this.contextWriter = contextWriter;
        this.existingCheck = new ExistingVolumeCheck(files);
        this.operations = operations;
    }

    /// Creates or finds the volume; the caller holds the lock of its name.
    Volume create(VolumePlacement.OwnedGroup place, VolumeRequest request) {
        Kind kind = kind(place, request);
        VolumeId.Provisioned id = place.group().volume(subvolume(kind, place.group(), request));
        for (VolumeId.Provisioned other : sameName(place.group(), request.name())) {
            if (!other.equals(id)
                    && inventory.mayExist(other)
                    && cleanup.of(other).isPresent()) {
                throw new DriverException.IncompatibleExisting(
                        "volume " + request.name() + " exists as " + other + " with other contents");
            }
        }
        ResolvedVolumeSpec requested = ResolvedVolumeSpec.of(id, place.owner(), request);
        Optional<Subvolume> existing = inventory.mayExist(id) ? cleanup.of(id) : Optional.empty();
        try {
            if (existing.isPresent()) {
                provisioner.allowNamespace(requested);
            }
            Volume made = switch (kind) {
                case PLAIN -> plain(requested, existing);
                case FILLED -> filled(requested, request.source().orElseThrow(), existing);
                case SHALLOW -> shallow(requested, request.source().orElseThrow(), existing);
                case ALIAS, HOME -> alias(requested, existing);
            };
            keys.made(id, made.context().orElseThrow(), request.name());
            return made;
        } catch (RuntimeException refused) {
            throw Refusal.isFinal(refused) ? settled(requested, kind, existing, refused) : refused;
        }
    }

    /// Removes what a request created before it was refused for good. A volume that existed before stays, since
    /// somebody may use it. Its caller is told to retry, unless the request does not fit the volume.
    ///
    /// @return the exception to throw
    private RuntimeException settled(
            ResolvedVolumeSpec requested, Kind kind, Optional<Subvolume> existing, RuntimeException refused) {
        VolumeId.Provisioned id = requested.id();
        try {
            if (!inventory.mayExist(id)) {
                return refused;
            }
            if (existing.isPresent()
                    && (kind != Kind.FILLED || sourceOf(id, existing.get()).isPresent())) {
                return refused instanceof DriverException known && !Refusal.isMisfit(known)
                        ? Refusal.again("volume " + id + " exists", refused)
                        : refused;
            }
            populator.remove(id);
            requested.request().source().ifPresent(source -> populator.release(source, id));
            return refused;
        } catch (DriverException left) {
            left.addSuppressed(refused);
            return Refusal.again("the incomplete volume " + id + " is not removed yet", left);
        }
    }

    /// Returns every id that a volume of that name may have.
    private List<VolumeId.Provisioned> sameName(SubvolumeGroup group, String name) {
        List<VolumeId.Provisioned> ids =
                new ArrayList<>(inventory.matching(group, CephNames.shallowPrefix(group, name), ""));
        ids.add(group.volume(CephNames.plain(group, name)));
        ids.addAll(inventory.matching(group, CephNames.filledPrefix(group, name), ""));
        ids.add(group.volume(CephNames.alias(group, name)));
        return ids;
    }

    private static String subvolume(Kind kind, SubvolumeGroup group, VolumeRequest request) {
        return switch (kind) {
            case PLAIN -> CephNames.plain(group, request.name());
            case FILLED ->
                CephNames.filled(group, request.name(), request.source().orElseThrow());
            case SHALLOW ->
                CephNames.shallow(
                        group, request.name(), backing(request.source().orElseThrow()));
            case ALIAS, HOME -> CephNames.alias(group, request.name());
        };
    }

    /// Returns the snapshot that backs a SHALLOW volume.
    private static SnapshotId backing(ContentSource source) {
        return ((ContentSource.FromSnapshot) source).snapshot();
    }

    private static Kind kind(VolumePlacement.OwnedGroup place, VolumeRequest request) {
        if (request.parameters().home()) {
            if (request.source().isPresent()) {
                throw new DriverException.InvalidRequest("volume_content_source: a volume of kind home is the account's"
                        + " home, which already has contents; leave the source out");
            }
            return Kind.ALIAS;
        }
        if (request.source().isEmpty()) {
            return Kind.PLAIN;
        }
        ContentSource source = request.source().get();
        VolumeId.Provisioned from = Snapshots.snapshottable("volume_content_source", source.volume());
        if (!from.cluster().equals(place.group().cluster())
                || !from.fileSystem().equals(place.group().fileSystem())) {
            throw new DriverException.InvalidRequest(
                    "volume_content_source " + from + " is in another file system than the volumes of this class");
        }
        boolean shallow = request.parameters().snapshotBacked().orElse(false);
        if (shallow && !request.readOnly()) {
            throw new DriverException.InvalidRequest(
                    "parameter snapshotBacked: a volume backed by a snapshot is read-only; ask for an access mode that"
                            + " only reads");
        }
        boolean sameAccount = SubvolumeGroup.of(from).equals(place.group());
        if (shallow && !sameAccount) {
            throw new DriverException.InvalidRequest("volume_content_source " + source
                    + " belongs to another account than " + place.owner().name()
                    + ": set parameter snapshotBacked to \"false\" for a copy");
        }
        boolean allowed = request.parameters().snapshotBacked().orElse(true);
        return source instanceof ContentSource.FromSnapshot && allowed && request.readOnly() && sameAccount
                ? Kind.SHALLOW
                : Kind.FILLED;
    }

    private Volume plain(ResolvedVolumeSpec requested, Optional<Subvolume> existing) {
        long size;
        if (existing.isPresent()) {
            size = existingCheck.size(requested, existing.get());
            if (requested.parameters().overcommit()) {
                // an earlier try may have stopped before this
                provisioner.noteOvercommit(requested.id());
            }
            if (existing.get().mode() == UNFINISHED) {
                complete(requested, existing.get());
            } else {
                existingCheck.checkChangeable(requested, existing.get());
            }
        } else {
            size = requested.capacity().resolveSize(OptionalLong.empty());
            if (requested.parameters().changeable().quotaFiles().isPresent()) {
                provisioner.make(requested, OptionalLong.of(size), UNFINISHED);
                complete(requested, cleanup.mustFind(requested.id()));
            } else {
                provisioner.make(requested, OptionalLong.of(size), requested.mode());
            }
        }
        return made(
                requested,
                size,
                contextWriter.of(
                        requested.id(),
                        requested.parameters(),
                        requested.account().name()));
    }

    /// Sets the file limit, and then the mode that marks the volume complete.
    private void complete(ResolvedVolumeSpec requested, Subvolume made) {
        OptionalLong limit = requested.parameters().changeable().quotaFiles();
        apply(requested.id(), made, new MutableParameters(limit, OptionalInt.of(requested.mode())));
    }

    private Volume filled(ResolvedVolumeSpec requested, ContentSource source, Optional<Subvolume> existing) {
        VolumeId.Provisioned id = requested.id();
        VolumeContext context =
                contextWriter.of(id, requested.parameters(), requested.account().name());
        if (existing.isPresent() && isWhole(requested, source, existing.get())) {
            populator.release(source, id);
            existingCheck.checkChangeable(requested, existing.get());
            return made(requested, existingCheck.size(requested, existing.get()), context);
        }
        long size = operations.runShared(key(source), () -> {
            VolumePopulator.Origin origin = origin(requested, source, existing);
            long wanted = requested.capacity().resolveSize(origin.sizeBytes());
            provisioner.applyAllowance(requested);
            return ledger.reserveInSteps(
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
        provisioner.prepareGroup(requested);
        inventory.note(requested.id(), new KnownSubvolume.Unsure());
        populator.takeTransferSnapshot(source, origin);
        if (populator.canClone(origin, requested.id(), requested.parameters(), requested.owner())) {
            populator.cloneInto(requested.id(), origin, existing, size);
        } else {
            if (existing.isEmpty()) {
                provisioner.make(requested, OptionalLong.of(size), requested.mode());
            }
            populator.copyInto(requested.id(), origin, cleanup.mustFind(requested.id()), requested.owner());
        }
        finish(requested, source);
    }

    private void finish(ResolvedVolumeSpec requested, ContentSource source) {
        OptionalInt mode = requested.parameters().mode();
        MutableParameters changes = new MutableParameters(OptionalLong.empty(), mode)
                .with(requested.parameters().changeable());
        if (!changes.isNothing()) {
            apply(requested.id(), cleanup.mustFind(requested.id()), changes);
        }
        if (requested.parameters().overcommit()) {
            provisioner.noteOvercommit(requested.id());
        }
        subvolumes.setNote(requested.id(), SubvolumeMetadata.SOURCE, source.id());
        populator.release(source, requested.id());
    }

    /// The subvolume's name identifies its snapshot, so the volume is complete as soon as it exists. Until then the
    /// snapshot's lock prevents the snapshot's removal.
    private Volume shallow(ResolvedVolumeSpec requested, ContentSource source, Optional<Subvolume> existing) {
        VolumeContext context = contextWriter.ofSnapshot(
                requested.id(),
                backing(source),
                requested.parameters(),
                requested.account().name());
        if (existing.isPresent()) {
            return made(requested, existingCheck.size(requested, existing.get()), context);
        }
        long size = operations.runShared(key(source), () -> {
            long wanted = requested
                    .capacity()
                    .resolveSize(populator.origin(source, requested.id()).sizeBytes());
            provisioner.make(requested, OptionalLong.of(wanted), requested.mode());
            return wanted;
        });
        return made(requested, size, context);
    }

    /// Creates the home before its alias, under the home's lock, so that a removal of the home sees every alias.
    private Volume alias(ResolvedVolumeSpec requested, Optional<Subvolume> existing) {
        ResolvedVolumeSpec home = requested.behind();
        long size = operations.run(Volumes.key(home.id()), () -> {
            long bytes = plain(home, homeSubvolume(home, existing.isEmpty())).capacityBytes();
            if (existing.isEmpty()) {
                provisioner.make(requested, OptionalLong.empty(), requested.mode());
            }
            return bytes;
        });
        inventory.note(requested.id(), new KnownSubvolume.Live(OptionalLong.empty()));
        VolumeContext context = contextWriter.of(
                requested.id(), requested.parameters(), requested.account().name());
        return new Volume(requested.id(), size, Optional.of(context), Optional.empty());
    }

    /// Returns the home if it exists; grows it first if a new alias requests more.
    private Optional<Subvolume> homeSubvolume(ResolvedVolumeSpec requested, boolean mayGrow) {
        Optional<Subvolume> found = inventory.mayExist(requested.id()) ? cleanup.of(requested.id()) : Optional.empty();
        long wanted = requested.capacity().requiredBytes();
        if (mayGrow
                && found.filter(home -> home.quotaBytes().orElse(wanted) < wanted)
                        .isPresent()) {
            provisioner.applyAllowance(requested);
            boolean _ = ledger.grow(AllowanceLedger.Request.of(requested.id(), wanted, false), () -> {
                subvolumes.resize(requested.id(), wanted);
                return true;
            });
            return cleanup.of(requested.id());
        }
        return found;
    }

    /// Returns whether an earlier try completed the volume.
    private boolean isWhole(ResolvedVolumeSpec requested, ContentSource source, Subvolume existing) {
        Optional<String> made = sourceOf(requested.id(), existing);
        if (made.filter(id -> !id.equals(source.id())).isPresent()) {
            throw new DriverException.IncompatibleExisting(
                    "volume " + requested.request().name() + " exists as " + requested.id() + " with the contents of "
                            + made.get() + ", not of " + source);
        }
        return made.isPresent();
    }

    /// Returns what a complete volume was filled from.
    private Optional<String> sourceOf(VolumeId.Provisioned id, Subvolume existing) {
        return existing.state() == Subvolume.State.READY
                ? Optional.ofNullable(subvolumes.notes(id).get(SubvolumeMetadata.SOURCE))
                : Optional.empty();
    }

    /// Finds the source. If it is gone, removes what an earlier try began to fill from it.
    private VolumePopulator.Origin origin(
            ResolvedVolumeSpec requested, ContentSource source, Optional<Subvolume> existing) {
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

    private static String key(ContentSource source) {
        return switch (source) {
            case ContentSource.FromSnapshot from -> Snapshots.key(from.snapshot());
            // no other volume uses its transfer snapshot
            case ContentSource.FromVolume from -> "clones of " + from.volume();
        };
    }

    private Volume made(ResolvedVolumeSpec requested, long size, VolumeContext context) {
        inventory.note(requested.id(), new KnownSubvolume.Live(OptionalLong.of(size)));
        ledger.recordExisting(
                requested.id(), CephNames.countsNothing(requested.id().subvolume()) ? 0 : size);
        return new Volume(
                requested.id(), size, Optional.of(context), requested.request().source());
    }

    /// Applies mutable parameters; makes no call if there are none.
    void apply(VolumeId.Provisioned id, Subvolume found, MutableParameters changes) {
        if (!changes.isNothing()) {
            apply(id.cluster(), id.fileSystem(), found.dataPath().orElseThrow(), changes);
        }
    }

    void apply(String cluster, String fileSystem, String path, MutableParameters changes) {
        changes.quotaFiles().ifPresent(limit -> files.setQuotaFiles(cluster, fileSystem, path, limit));
        changes.mode().ifPresent(mode -> files.setMode(cluster, fileSystem, path, mode));
    }
}
