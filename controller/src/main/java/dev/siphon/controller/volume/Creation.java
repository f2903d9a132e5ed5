package dev.siphon.controller.volume;

import dev.siphon.controller.volume.Inventory.Known;
import dev.siphon.controller.volume.Names.Kind;
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

/// CreateVolume. The subvolume's name is a function of the volume's, so an earlier try is found by name alone; a
/// volume with contents has a name of another kind, and counts as made once its note says that they are whole.
///
/// What is whole is never changed: it fits the request as it is now, or is ALREADY_EXISTS, also where a later
/// ControllerModifyVolume is what made it differ (CSI v1.13, CreateVolume: OK to what "is compatible with the
/// specified ... `parameters` and `mutable_parameters`").
final class Creation {
    /// The mode of an empty volume whose limit of files is yet to be set: the sticky bit and nobody's permission,
    /// which no class can ask for ([ClassParameters]). It lets nobody in, and costs no round trip to a mon or
    /// mgr. The owner of a whole volume can set it too: finishing that once more changes no file, and nothing may
    /// be removed for its sake.
    private static final int UNFINISHED = 01000;

    private final Subvolumes subvolumes;
    private final FileTree files;
    private final Inventory inventory;
    private final Filling filling;
    private final Contexts contexts;
    private final Fit fit;
    private final Ledger ledger;
    private final Making making;
    private final Remains remains;
    private final KeyedOperations operations;
    private final KeyMinting keys;

    Creation(
            CephPorts ports,
            Inventory inventory,
            Ledger ledger,
            Filling filling,
            Contexts contexts,
            KeyedOperations operations,
            Callers callers) {
        this.ledger = ledger;
        this.keys = callers.keys();
        this.making = new Making(ports, inventory, ledger, callers.access());
        this.remains = new Remains(ports, filling);
        this.subvolumes = ports.subvolumes();
        this.files = ports.files();
        this.inventory = inventory;
        this.filling = filling;
        this.contexts = contexts;
        this.fit = new Fit(files);
        this.operations = operations;
    }

    /// Makes the volume or finds it; the caller holds the key of its name.
    Volume create(Placement.Place place, VolumeRequest request) {
        Kind kind = kind(place, request);
        VolumeId.Provisioned id = place.group().volume(subvolume(kind, place.group(), request));
        for (VolumeId.Provisioned other : sameName(place.group(), request.name())) {
            if (!other.equals(id)
                    && inventory.mayExist(other)
                    && remains.of(other).isPresent()) {
                throw new DriverException.IncompatibleExisting(
                        "volume " + request.name() + " exists as " + other + " with other contents");
            }
        }
        Wish wish = Wish.of(id, place.owner(), request);
        Optional<Subvolume> existing = inventory.mayExist(id) ? remains.of(id) : Optional.empty();
        try {
            if (existing.isPresent()) {
                making.allowNamespace(wish);
            }
            Volume made = switch (kind) {
                case PLAIN -> plain(wish, existing);
                case FILLED -> filled(wish, request.source().orElseThrow(), existing);
                case SHALLOW -> shallow(wish, request.source().orElseThrow(), existing);
                case DOOR, HOME -> door(wish, existing);
            };
            keys.made(id, made.context().orElseThrow(), request.name());
            return made;
        } catch (RuntimeException refused) {
            throw Refusal.isFinal(refused) ? settled(wish, kind, existing, refused) : refused;
        }
    }

    /// Removes what a request has made that was refused for good. What was there before it stays, since somebody may
    /// use it; its caller is told to retry, unless the request does not fit it.
    ///
    /// @return what to answer
    private RuntimeException settled(Wish wish, Kind kind, Optional<Subvolume> existing, RuntimeException refused) {
        VolumeId.Provisioned id = wish.id();
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
            filling.remove(id);
            wish.request().source().ifPresent(source -> filling.release(source, id));
            return refused;
        } catch (DriverException left) {
            left.addSuppressed(refused);
            return Refusal.again("what was made of volume " + id + " is not removed yet", left);
        }
    }

    /// Every id under which a volume of that name may be.
    private List<VolumeId.Provisioned> sameName(Group group, String name) {
        List<VolumeId.Provisioned> ids =
                new ArrayList<>(inventory.matching(group, Names.shallowPrefix(group, name), ""));
        ids.add(group.volume(Names.plain(group, name)));
        ids.addAll(inventory.matching(group, Names.filledPrefix(group, name), ""));
        ids.add(group.volume(Names.door(group, name)));
        return ids;
    }

    private static String subvolume(Kind kind, Group group, VolumeRequest request) {
        return switch (kind) {
            case PLAIN -> Names.plain(group, request.name());
            case FILLED -> Names.filled(group, request.name(), request.source().orElseThrow());
            case SHALLOW ->
                Names.shallow(group, request.name(), backing(request.source().orElseThrow()));
            case DOOR, HOME -> Names.door(group, request.name());
        };
    }

    /// The snapshot that a SHALLOW volume stands for.
    private static SnapshotId backing(ContentSource source) {
        return ((ContentSource.FromSnapshot) source).snapshot();
    }

    private static Kind kind(Placement.Place place, VolumeRequest request) {
        if (request.parameters().home()) {
            if (request.source().isPresent()) {
                throw new DriverException.InvalidRequest("volume_content_source: a volume of kind home is the account's"
                        + " home, whose contents are there already");
            }
            return Kind.DOOR;
        }
        if (request.source().isEmpty()) {
            return Kind.PLAIN;
        }
        ContentSource source = request.source().get();
        VolumeId.Provisioned from = Snapshots.snapshottable("volume_content_source", source.volume());
        if (!from.cluster().equals(place.group().cluster())
                || !from.fileSystem().equals(place.group().fileSystem())) {
            throw new DriverException.InvalidRequest(
                    "volume_content_source " + from + " is in another file system than the class puts volumes in");
        }
        boolean shallow = request.parameters().snapshotBacked().orElse(false);
        if (shallow && !request.readOnly()) {
            throw new DriverException.InvalidRequest(
                    "parameter snapshotBacked: a volume backed by a snapshot is read-only; ask for an access mode that"
                            + " only reads");
        }
        boolean sameAccount = Group.of(from).equals(place.group());
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

    private Volume plain(Wish wish, Optional<Subvolume> existing) {
        long size;
        if (existing.isPresent()) {
            size = fit.size(wish, existing.get());
            if (wish.parameters().overcommit()) {
                // an earlier try may have been cut off before
                making.noteOvercommit(wish.id());
            }
            if (existing.get().mode() == UNFINISHED) {
                complete(wish, existing.get());
            } else {
                fit.checkChangeable(wish, existing.get());
            }
        } else {
            size = wish.capacity().choose(OptionalLong.empty());
            if (wish.parameters().changeable().quotaFiles().isPresent()) {
                making.make(wish, OptionalLong.of(size), UNFINISHED);
                complete(wish, remains.mustFind(wish.id()));
            } else {
                making.make(wish, OptionalLong.of(size), wish.mode());
            }
        }
        return made(
                wish,
                size,
                contexts.of(wish.id(), wish.parameters(), wish.account().name()));
    }

    /// Sets the limit of files, and then the mode that says so.
    private void complete(Wish wish, Subvolume made) {
        OptionalLong limit = wish.parameters().changeable().quotaFiles();
        apply(wish.id(), made, new Changeable(limit, OptionalInt.of(wish.mode())));
    }

    private Volume filled(Wish wish, ContentSource source, Optional<Subvolume> existing) {
        VolumeId.Provisioned id = wish.id();
        VolumeContext context =
                contexts.of(id, wish.parameters(), wish.account().name());
        if (existing.isPresent() && isWhole(wish, source, existing.get())) {
            filling.release(source, id);
            fit.checkChangeable(wish, existing.get());
            return made(wish, fit.size(wish, existing.get()), context);
        }
        long size = operations.runShared(key(source), () -> {
            Filling.Origin origin = origin(wish, source, existing);
            long wanted = wish.capacity().choose(origin.sizeBytes());
            making.allow(wish);
            return ledger.spendInSteps(
                    Ledger.Request.of(id, wanted, wish.parameters().overcommit()), () -> {
                        fill(wish, origin, existing, wanted);
                        return wanted;
                    });
        });
        return made(wish, size, context);
    }

    private void fill(Wish wish, Filling.Origin origin, Optional<Subvolume> existing, long size) {
        ContentSource source = wish.source();
        making.prepareGroup(wish);
        inventory.note(wish.id(), new Known.Unsure());
        filling.claim(source, origin);
        if (filling.canClone(origin, wish.id(), wish.parameters(), wish.owner())) {
            filling.cloneInto(wish.id(), origin, existing, size);
        } else {
            if (existing.isEmpty()) {
                making.make(wish, OptionalLong.of(size), wish.mode());
            }
            filling.copyInto(wish.id(), origin, remains.mustFind(wish.id()), wish.owner());
        }
        finish(wish, source);
    }

    private void finish(Wish wish, ContentSource source) {
        OptionalInt mode = wish.parameters().mode();
        Changeable changes = new Changeable(OptionalLong.empty(), mode)
                .with(wish.parameters().changeable());
        if (!changes.isNothing()) {
            apply(wish.id(), remains.mustFind(wish.id()), changes);
        }
        if (wish.parameters().overcommit()) {
            making.noteOvercommit(wish.id());
        }
        subvolumes.setNote(wish.id(), Notes.SOURCE, source.id());
        filling.release(source, wish.id());
    }

    /// The subvolume's name says what snapshot it stands for, so it is whole as soon as it exists; until then the
    /// key of the snapshot keeps that from being removed.
    private Volume shallow(Wish wish, ContentSource source, Optional<Subvolume> existing) {
        VolumeContext context = contexts.ofSnapshot(
                wish.id(), backing(source), wish.parameters(), wish.account().name());
        if (existing.isPresent()) {
            return made(wish, fit.size(wish, existing.get()), context);
        }
        long size = operations.runShared(key(source), () -> {
            long wanted =
                    wish.capacity().choose(filling.origin(source, wish.id()).sizeBytes());
            making.make(wish, OptionalLong.of(wanted), wish.mode());
            return wanted;
        });
        return made(wish, size, context);
    }

    /// The home goes first, so that no door leads nowhere. Both under the home's key: who removes the home sees
    /// every door.
    private Volume door(Wish wish, Optional<Subvolume> existing) {
        Wish home = wish.behind();
        long size = operations.run(Volumes.key(home.id()), () -> {
            long bytes = plain(home, home(home, existing.isEmpty())).capacityBytes();
            if (existing.isEmpty()) {
                making.make(wish, OptionalLong.empty(), wish.mode());
            }
            return bytes;
        });
        inventory.note(wish.id(), new Known.Live(OptionalLong.empty()));
        VolumeContext context =
                contexts.of(wish.id(), wish.parameters(), wish.account().name());
        return new Volume(wish.id(), size, Optional.of(context), Optional.empty());
    }

    /// The home as it is; one that is smaller than what a new door asks for grows, as by ControllerExpandVolume.
    private Optional<Subvolume> home(Wish wish, boolean mayGrow) {
        Optional<Subvolume> found = inventory.mayExist(wish.id()) ? remains.of(wish.id()) : Optional.empty();
        long wanted = wish.capacity().requiredBytes();
        if (mayGrow
                && found.filter(home -> home.quotaBytes().orElse(wanted) < wanted)
                        .isPresent()) {
            making.allow(wish);
            boolean _ = ledger.grow(Ledger.Request.of(wish.id(), wanted, false), () -> {
                subvolumes.resize(wish.id(), wanted);
                return true;
            });
            return remains.of(wish.id());
        }
        return found;
    }

    /// Whether an earlier try came to its end.
    private boolean isWhole(Wish wish, ContentSource source, Subvolume existing) {
        Optional<String> made = sourceOf(wish.id(), existing);
        if (made.filter(id -> !id.equals(source.id())).isPresent()) {
            throw new DriverException.IncompatibleExisting(
                    "volume " + wish.request().name() + " exists as " + wish.id() + " with the contents of "
                            + made.get() + ", not of " + source);
        }
        return made.isPresent();
    }

    /// What a volume that is whole was filled from.
    private Optional<String> sourceOf(VolumeId.Provisioned id, Subvolume existing) {
        return existing.state() == Subvolume.State.READY
                ? Optional.ofNullable(subvolumes.notes(id).get(Notes.SOURCE))
                : Optional.empty();
    }

    /// Finds the source. If it is gone, so is what an earlier try began to make of it, of which no caller knows.
    private Filling.Origin origin(Wish wish, ContentSource source, Optional<Subvolume> existing) {
        try {
            Filling.Origin found = filling.origin(source, wish.id());
            checkAccount(wish, source);
            return found;
        } catch (DriverException.NotFound gone) {
            if (existing.isPresent()) {
                filling.remove(wish.id());
                filling.release(source, wish.id());
            }
            throw gone;
        }
    }

    /// Only who wrote the class can say that one account's data is for another: a request names no caller.
    private static void checkAccount(Wish wish, ContentSource source) {
        if (!Group.of(source.volume()).equals(Group.of(wish.id()))
                && !wish.parameters().copyAcrossAccounts()) {
            throw new DriverException.AccessDenied("volume_content_source " + source
                    + " belongs to another account than "
                    + wish.account().name() + ": only a class with parameter copyAcrossAccounts \"true\" copies it");
        }
    }

    private static String key(ContentSource source) {
        return switch (source) {
            case ContentSource.FromSnapshot from -> Snapshots.key(from.snapshot());
            // its transfer snapshot is nobody else's
            case ContentSource.FromVolume from -> "clones of " + from.volume();
        };
    }

    private Volume made(Wish wish, long size, VolumeContext context) {
        inventory.note(wish.id(), new Known.Live(OptionalLong.of(size)));
        ledger.found(wish.id(), Names.countsNothing(wish.id().subvolume()) ? 0 : size);
        return new Volume(wish.id(), size, Optional.of(context), wish.request().source());
    }

    /// Applies what can be changed later; nothing to change costs nothing.
    void apply(VolumeId.Provisioned id, Subvolume found, Changeable changes) {
        if (!changes.isNothing()) {
            apply(id.cluster(), id.fileSystem(), found.dataPath().orElseThrow(), changes);
        }
    }

    void apply(String cluster, String fileSystem, String path, Changeable changes) {
        changes.quotaFiles().ifPresent(limit -> files.setQuotaFiles(cluster, fileSystem, path, limit));
        changes.mode().ifPresent(mode -> files.setMode(cluster, fileSystem, path, mode));
    }
}
