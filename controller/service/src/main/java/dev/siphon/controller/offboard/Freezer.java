package dev.siphon.controller.offboard;

import dev.siphon.controller.identity.Account;
import dev.siphon.controller.key.ClientSessions;
import dev.siphon.controller.key.Identities;
import dev.siphon.controller.key.KeyStore;
import dev.siphon.controller.key.SessionEviction;
import dev.siphon.controller.key.VolumeIdentity;
import dev.siphon.controller.key.VolumeKeys;
import dev.siphon.controller.volume.AccountFreeze;
import dev.siphon.controller.volume.AccountNote;
import dev.siphon.controller.volume.CephNames;
import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.DatasetPlace;
import dev.siphon.controller.volume.FileTree;
import dev.siphon.controller.volume.GroupUsage;
import dev.siphon.controller.volume.Homes;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.controller.volume.Subvolumes;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/// Freezes and unfreezes accounts. Their volumes stay as they are.
public final class Freezer {
    private final Clusters clusters;
    private final Subvolumes subvolumes;
    private final FileTree files;
    private final Identities identities;
    private final Optional<KeyStore> keys;
    private final Optional<VolumeKeys> minting;
    private final ClientSessions sessions;

    /// The result for one group.
    ///
    /// @param volumes how many the account has; empty if the mgr did not answer
    /// @param identities how many were removed, or minted
    /// @param sessions how many were evicted
    /// @param goOn why sessions could not be evicted, so that they last until their tickets expire; empty if all
    ///     were
    /// @param left the sessions that reconnected after each eviction, for people; empty if none did
    /// @param unfinished why the account could not be marked as frozen, so that keys may be minted again; a repeat
    ///     finishes it
    public record Result(
            SubvolumeGroup group,
            OptionalInt volumes,
            int identities,
            int sessions,
            Optional<String> goOn,
            Optional<String> left,
            Optional<String> unfinished) {}

    /// @param keys where the keys of volumes are; empty if the driver mints none
    /// @param minting mints them; empty if the driver mints none
    public Freezer(
            CephPorts ceph,
            Identities identities,
            Optional<KeyStore> keys,
            Optional<VolumeKeys> minting,
            ClientSessions sessions) {
        this.clusters = ceph.clusters();
        this.subvolumes = ceph.subvolumes();
        this.files = ceph.files();
        this.identities = identities;
        this.keys = keys;
        this.minting = minting;
        this.sessions = sessions;
    }

    /// Removes the account's identities and keys, evicts its sessions, and blocks the creation of anything for it.
    /// May be repeated; an account that is frozen keeps its first time stamp.
    ///
    /// Starts with what needs only the mons and the MDS's own commands: a client that returns no capability blocks
    /// the note and the mgr until its session is evicted. After the mark no new minting begins, so a second pass
    /// removes what was minted until then. A controller that was minting at that moment takes at most 30 s more; a
    /// repeat removes that key.
    public Result freeze(SubvolumeGroup group) {
        Taken before = take(group);
        Optional<String> unfinished = mark(group);
        Taken after = take(group);
        keys.ifPresent(store -> store.volumes().stream()
                .filter(volume -> SubvolumeGroup.of(volume).equals(group))
                .forEach(store::remove));
        return new Result(
                group,
                count(group),
                before.identities() + after.identities(),
                before.sessions() + after.sessions(),
                after.goOn(),
                after.left(),
                unfinished);
    }

    /// Creates a group for an account without one, so that it can be frozen: it may read datasets. May be repeated.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if there is no file system
    public SubvolumeGroup makeGroup(Account account) {
        SubvolumeGroup group = clusters.ids().stream()
                .flatMap(cluster -> clusters.fileSystems(cluster).stream()
                        .map(fileSystem ->
                                new SubvolumeGroup(cluster, fileSystem.name(), CephNames.group(account.id()))))
                .findFirst()
                .orElseThrow(() -> new DriverException.NotFound("there is no file system to mark an account in"));
        subvolumes.createGroup(group, OptionalLong.empty(), Optional.empty());
        files.setNote(
                group.cluster(),
                group.fileSystem(),
                group.path(),
                AccountNote.NAME,
                AccountNote.of(account).text());
        return group;
    }

    /// @param goOn why sessions could not be evicted
    /// @param left the sessions that reconnected
    private record Taken(int identities, int sessions, Optional<String> goOn, Optional<String> left) {}

    private Taken take(SubvolumeGroup group) {
        List<String> minted = minted(group);
        for (String userId : minted) {
            identities.remove(group.cluster(), userId);
        }
        try {
            SessionEviction evicted = SessionEviction.of(
                    sessions,
                    group.cluster(),
                    group.fileSystem(),
                    session -> session.userId().startsWith(prefix(group)),
                    SessionEviction.PATIENCE);
            return new Taken(minted.size(), evicted.ended().size(), Optional.empty(), evicted.leftInWords());
        } catch (DriverException.AccessDenied denied) {
            return new Taken(minted.size(), 0, Optional.of(denied.getMessage()), Optional.empty());
        } catch (DriverException notAll) {
            // go on to mark the account: its keys are gone already
            return new Taken(
                    minted.size(),
                    0,
                    Optional.empty(),
                    Optional.of("sessions may remain: " + notAll.getMessage() + "; run this again"));
        }
    }

    /// @return why it failed; empty on success
    private Optional<String> mark(SubvolumeGroup group) {
        try {
            if (files.note(group.cluster(), group.fileSystem(), group.path(), AccountFreeze.NOTE)
                    .isEmpty()) {
                note(group, Instant.now().toString());
            }
            noteImages(group, Instant.now().toString());
            return Optional.empty();
        } catch (DriverException notNow) {
            return Optional.of("not marked as frozen, so keys may be minted again: " + notNow.getMessage());
        }
    }

    /// Sets or clears the mark on the images of the group's snapshots. A dataset does not name its owner, but an
    /// image's path derives from the snapshot's id.
    private void noteImages(SubvolumeGroup group, String value) {
        for (GroupUsage.Entry subvolume : files.holdings(group).subvolumes()) {
            subvolume.snapshots().stream()
                    .map(GroupUsage.Snapshot::name)
                    .filter(VolumeId.Part.SNAPSHOT::fits)
                    .map(name -> new SnapshotId(group.volume(subvolume.name()), name))
                    .flatMap(snapshot -> DatasetPlace.of(snapshot).stream())
                    .filter(place -> place.note(files, DatasetPlace.NAME).isPresent())
                    .forEach(place -> files.setNote(
                            place.cluster(), place.fileSystem(), place.path(), AccountFreeze.NOTE, value));
        }
    }

    private OptionalInt count(SubvolumeGroup group) {
        try {
            return OptionalInt.of(volumes(group).size());
        } catch (DriverException _) {
            return OptionalInt.empty();
        }
    }

    private static String prefix(SubvolumeGroup group) {
        return VolumeIdentity.PREFIX + group.fileSystem() + "." + group.name() + ".";
    }

    /// Unfreezes an account with new keys. Clears the note last, so that an account with only some of its keys
    /// still counts as frozen. May be repeated.
    public Result unfreeze(SubvolumeGroup group) {
        List<VolumeId.Provisioned> volumes = volumes(group);
        int made = 0;
        if (minting.isPresent()) {
            for (VolumeId.Provisioned volume : volumes) {
                made += mint(minting.get(), volume);
            }
        }
        noteImages(group, "");
        note(group, "");
        return new Result(
                group, OptionalInt.of(volumes.size()), made, 0, Optional.empty(), Optional.empty(), Optional.empty());
    }

    private static int mint(VolumeKeys keysOf, VolumeId.Provisioned volume) {
        boolean shallow = CephNames.kindOf(volume.subvolume()).equals(Optional.of(CephNames.Kind.SHALLOW));
        try {
            if (shallow) {
                keysOf.snapshotOf(volume).ifPresent(snapshot -> keysOf.mintForFrozen(volume, snapshot));
            } else if (!Homes.isHome(volume)) {
                keysOf.mintForFrozen(volume);
            }
            return 1;
        } catch (DriverException.NotFound onlySnapshots) {
            return 0;
        }
    }

    private List<String> minted(SubvolumeGroup group) {
        try {
            return identities.startingWith(group.cluster(), prefix(group));
        } catch (DriverException.AccessDenied denied) {
            if (keys.isPresent()) {
                throw denied;
            }
            return List.of();
        }
    }

    private List<VolumeId.Provisioned> volumes(SubvolumeGroup group) {
        return subvolumes.list(group).orElse(List.of()).stream()
                .filter(name -> CephNames.kindOf(name).isPresent())
                .map(group::volume)
                .toList();
    }

    private void note(SubvolumeGroup group, String value) {
        files.setNote(group.cluster(), group.fileSystem(), group.path(), AccountFreeze.NOTE, value);
    }
}
