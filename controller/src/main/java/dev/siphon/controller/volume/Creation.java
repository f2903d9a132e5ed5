package dev.siphon.controller.volume;

import dev.siphon.controller.identity.Account;
import dev.siphon.controller.volume.Inventory.Known;
import dev.siphon.controller.volume.Names.Kind;
import dev.siphon.controller.volume.Subvolumes.Subvolume;
import dev.siphon.controller.volume.Subvolumes.SubvolumeSpec;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.KeyedOperations;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/// CreateVolume. The subvolume's name is a function of the volume's, so an earlier try is found by name alone; a
/// volume
/// with contents has a name of another kind, and counts as made once its note says that they are whole.
final class Creation {
    private static final int DEFAULT_MODE = 0700;

    private final Subvolumes subvolumes;
    private final FileTree files;
    private final Inventory inventory;
    private final Filling filling;
    private final Contexts contexts;
    private final KeyedOperations operations;

    Creation(CephPorts ports, Inventory inventory, Filling filling, KeyedOperations operations) {
        this.subvolumes = ports.subvolumes();
        this.files = ports.files();
        this.inventory = inventory;
        this.filling = filling;
        this.contexts = new Contexts(ports.clusters());
        this.operations = operations;
    }

    /// Makes the volume or finds it; the caller holds the key of its name.
    Volume create(Placement.Place place, VolumeRequest request) {
        Kind kind = kind(request);
        VolumeId.Provisioned id = place.group().volume(subvolume(kind, place.group(), request));
        for (VolumeId.Provisioned other : sameName(place.group(), request.name())) {
            if (!other.equals(id)
                    && inventory.mayExist(other)
                    && existing(other).isPresent()) {
                throw new DriverException.IncompatibleExisting(
                        "volume " + request.name() + " exists as " + other + " with other contents");
            }
        }
        return operations.run(id.toString(), () -> {
            Optional<Subvolume> existing = inventory.mayExist(id) ? existing(id) : Optional.empty();
            return switch (kind) {
                case PLAIN -> plain(id, place.owner(), request, existing);
                case FILLED -> filled(id, place, request, existing);
                // the snapshot must not go between the look at it and the name that says it is needed
                case SHALLOW ->
                    operations.run(Snapshots.key(backing(request)), () -> shallow(id, place, request, existing));
            };
        });
    }

    /// Every id under which a volume of that name may be.
    private List<VolumeId.Provisioned> sameName(Group group, String name) {
        List<VolumeId.Provisioned> ids =
                new ArrayList<>(inventory.matching(group, Names.shallowPrefix(group, name), ""));
        ids.add(group.volume(Names.subvolume(Kind.PLAIN, group, name)));
        ids.add(group.volume(Names.subvolume(Kind.FILLED, group, name)));
        return ids;
    }

    private static String subvolume(Kind kind, Group group, VolumeRequest request) {
        return switch (kind) {
            case PLAIN, FILLED -> Names.subvolume(kind, group, request.name());
            case SHALLOW -> Names.shallowPrefix(group, request.name()) + Names.shallowSuffix(backing(request));
        };
    }

    /// The snapshot that a SHALLOW volume stands for.
    private static SnapshotId backing(VolumeRequest request) {
        return switch (request.source().orElseThrow()) {
            case ContentSource.FromSnapshot from -> from.snapshot();
            case ContentSource.FromVolume from ->
                throw new DriverException.InvalidRequest(
                        "parameter snapshotBacked: the source is " + from + ", not a snapshot");
        };
    }

    private static Kind kind(VolumeRequest request) {
        boolean wanted = request.parameters().snapshotBacked().orElse(request.readOnly());
        if (request.parameters().snapshotBacked().orElse(false) && !request.readOnly()) {
            throw new DriverException.InvalidRequest(
                    "parameter snapshotBacked: a volume backed by a snapshot is read-only; ask for an access mode that"
                            + " only reads");
        }
        return request.source()
                .map(source -> source instanceof ContentSource.FromSnapshot && wanted ? Kind.SHALLOW : Kind.FILLED)
                .orElse(Kind.PLAIN);
    }

    private Volume plain(VolumeId.Provisioned id, Account owner, VolumeRequest request, Optional<Subvolume> existing) {
        long size;
        if (existing.isPresent()) {
            size = checkFits(id, owner, request, existing.get());
            apply(id, existing.get(), request.parameters().changeable());
        } else {
            size = request.capacity().choose(OptionalLong.empty());
            make(id, owner, request.parameters(), OptionalLong.of(size));
            if (request.parameters().changeable().quotaFiles().isPresent()) {
                apply(id, mustFind(id), request.parameters().changeable());
            }
        }
        inventory.note(id, new Known.Live(OptionalLong.of(size)));
        return new Volume(id, size, Optional.of(contexts.of(id, request.parameters(), owner.name())), Optional.empty());
    }

    private Volume filled(
            VolumeId.Provisioned id, Placement.Place place, VolumeRequest request, Optional<Subvolume> existing) {
        ContentSource source = request.source().orElseThrow();
        VolumeContext context =
                contexts.of(id, request.parameters(), place.owner().name());
        if (existing.filter(found -> found.state() == Subvolume.State.READY).isPresent()) {
            Optional<String> whole = Optional.ofNullable(subvolumes.notes(id).get(Notes.SOURCE));
            whole.ifPresent(made -> checkSource(id, made, source));
            if (whole.isPresent()) {
                long size = checkFits(id, place.owner(), request, existing.get());
                filling.release(source, id);
                return new Volume(id, size, Optional.of(context), Optional.of(source));
            }
        }
        Filling.Origin origin = filling.origin(source, id);
        long size = request.capacity().choose(origin.sizeBytes());
        if (filling.canClone(origin, id, request.parameters().dataPool())) {
            filling.cloneInto(id, origin, existing, size);
        } else {
            if (existing.isEmpty()) {
                make(id, place.owner(), request.parameters(), OptionalLong.of(size));
            }
            filling.copyInto(id, origin, mustFind(id), owner(request, place.owner()));
        }
        apply(id, mustFind(id), request.parameters().changeable());
        subvolumes.setNote(id, Notes.SOURCE, source.id());
        filling.release(source, id);
        inventory.note(id, new Known.Live(OptionalLong.of(size)));
        return new Volume(id, size, Optional.of(context), Optional.of(source));
    }

    /// The subvolume's name says what snapshot it stands for, so it is whole as soon as it exists.
    private Volume shallow(
            VolumeId.Provisioned id, Placement.Place place, VolumeRequest request, Optional<Subvolume> existing) {
        SnapshotId snapshot = backing(request);
        if (!Group.of(snapshot.volume()).equals(place.group())) {
            throw new DriverException.InvalidRequest("snapshot " + snapshot + " belongs to another account than "
                    + place.owner().name() + ": set parameter snapshotBacked to \"false\" for a copy");
        }
        ContentSource source = new ContentSource.FromSnapshot(snapshot);
        long size;
        if (existing.isPresent()) {
            size = checkFits(id, place.owner(), request, existing.get());
        } else {
            size = request.capacity().choose(filling.origin(source, id).sizeBytes());
            make(id, place.owner(), request.parameters(), OptionalLong.of(size));
        }
        inventory.note(id, new Known.Live(OptionalLong.of(size)));
        VolumeContext context = contexts.ofSnapshot(
                id, snapshot, request.parameters(), place.owner().name());
        return new Volume(id, size, Optional.of(context), Optional.of(source));
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

    private void make(VolumeId.Provisioned id, Account account, VolumeClass parameters, OptionalLong size) {
        Group group = Group.of(id);
        Account owner = owner(parameters, account);
        if (!inventory.exists(group)) {
            subvolumes.createGroup(group, account.allowanceBytes(), Optional.empty());
            inventory.made(group);
        }
        inventory.note(id, new Known.Unsure());
        int mode = parameters.changeable().mode().orElse(parameters.mode().orElse(DEFAULT_MODE));
        SubvolumeSpec spec = new SubvolumeSpec(size, owner.uid(), owner.gid(), mode, parameters.dataPool());
        try {
            subvolumes.create(id, spec);
        } catch (DriverException.NotFound groupRemovedByHand) {
            subvolumes.createGroup(group, account.allowanceBytes(), Optional.empty());
            subvolumes.create(id, spec);
        }
    }

    /// What an earlier try left, pieces of a broken one removed; empty if there is nothing to keep.
    private Optional<Subvolume> existing(VolumeId.Provisioned id) {
        Optional<Subvolume> found = subvolumes.find(id);
        return switch (found.map(Subvolume::state).orElse(Subvolume.State.RETAINED)) {
            case READY, CLONING -> found;
            case RETAINED -> Optional.empty();
            case BROKEN -> {
                refuseToLoseFiles(id);
                subvolumes.remove(id);
                yield Optional.empty();
            }
            case CLONE_ENDED_BADLY -> {
                subvolumes.remove(id);
                yield Optional.empty();
            }
        };
    }

    /// A subvolume that was only half made holds at most the mgr's own `.meta`; one with more was in use, and broke
    /// later.
    private void refuseToLoseFiles(VolumeId.Provisioned id) {
        String path = Group.of(id).path() + "/" + id.subvolume();
        long count = files.fileCount(id.cluster(), id.fileSystem(), path);
        if (count > 1) {
            throw new DriverException.BackendFault("the mgr's metadata of subvolume " + path + " is broken, and "
                    + count + " files are below it: nothing was changed; repair " + path + "/.meta by hand");
        }
    }

    private Subvolume mustFind(VolumeId.Provisioned id) {
        return subvolumes
                .find(id)
                .filter(found -> found.state() == Subvolume.State.READY)
                .orElseThrow(() -> new DriverException.BackendUnavailable(
                        "volume " + id + " was made and is not there now; retry"));
    }

    private static long checkFits(VolumeId.Provisioned id, Account account, VolumeRequest request, Subvolume found) {
        long size = found.quotaBytes().orElse(0);
        Account owner = owner(request, account);
        if (!request.capacity().accepts(size)) {
            throw new DriverException.IncompatibleExisting("volume " + request.name() + " exists as " + id + " with "
                    + size + " bytes, which capacity_range does not accept");
        }
        if (found.uid() != owner.uid() || found.gid() != owner.gid()) {
            throw new DriverException.IncompatibleExisting("volume " + request.name() + " exists as " + id
                    + " with owner " + found.uid() + ":" + found.gid() + ", not " + owner.uid() + ":" + owner.gid());
        }
        if (request.parameters()
                .dataPool()
                .filter(pool -> !pool.equals(found.dataPool()))
                .isPresent()) {
            throw new DriverException.IncompatibleExisting(
                    "volume " + request.name() + " exists as " + id + " in data pool " + found.dataPool());
        }
        return size;
    }

    private static void checkSource(VolumeId.Provisioned id, String made, ContentSource source) {
        if (!made.equals(source.id())) {
            throw new DriverException.IncompatibleExisting(
                    "volume " + id + " exists with the contents of " + made + ", not of " + source);
        }
    }

    private static Account owner(VolumeRequest request, Account account) {
        return owner(request.parameters(), account);
    }

    /// The account with the uid and gid that the class puts in its place.
    private static Account owner(VolumeClass parameters, Account account) {
        return new Account(
                account.name(),
                account.id(),
                parameters.uid().orElse(account.uid()),
                parameters.gid().orElse(account.gid()),
                account.groups(),
                account.allowanceBytes());
    }
}
