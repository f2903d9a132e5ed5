package dev.siphon.controller.explain;

import dev.siphon.controller.explain.ClusterObjects.KnownPod;
import dev.siphon.controller.explain.ClusterObjects.KnownVolume;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.key.ClientSession;
import dev.siphon.controller.key.VolumeIdentity;
import dev.siphon.controller.volume.AccountFreeze;
import dev.siphon.controller.volume.AccountNote;
import dev.siphon.controller.volume.FileSystemRef;
import dev.siphon.controller.volume.Homes;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/// The facts of accounts and of their volumes.
final class VolumeSheets {
    private final KnownPlaces places;
    private final ReadOnce once;

    VolumeSheets(KnownPlaces places, ReadOnce once) {
        this.places = places;
        this.once = once;
    }

    /// Returns all PersistentVolumes of this driver.
    List<KnownVolume> all() {
        return once.volumes();
    }

    /// Returns the PersistentVolume of a claim that exists.
    Optional<KnownVolume> of(NamespacedName claim) {
        return all().stream()
                .filter(volume -> !volume.isReleased())
                .filter(volume -> volume.claim().equals(Optional.of(claim)))
                .findFirst();
    }

    /// Returns one sheet with the account and the volume.
    List<FactSheet> whole(VolumeId.Provisioned volume) {
        FactSheet sheet = account(SubvolumeGroup.of(volume));
        addVolume(sheet, volume);
        return List.of(sheet);
    }

    /// Returns a sheet with the volume alone.
    FactSheet part(VolumeId.Provisioned volume) {
        FactSheet sheet = new FactSheet();
        addVolume(sheet, volume);
        return sheet;
    }

    /// Returns the sheet of an account without anything in any file system.
    FactSheet accountWithoutGroup(Account account) {
        FactSheet sheet = new FactSheet();
        addAccount(sheet, account);
        return sheet.add("group", SubvolumeGroup.nameOf(account) + ", which does not exist: no volume was created yet");
    }

    /// Returns the sheet of a client whose identity is no volume's.
    FactSheet stranger(ClientSession session) {
        return new FactSheet()
                .add("identity", "client." + session.userId() + ", which belongs to no volume")
                .add("session", describe(session));
    }

    /// Returns a sheet with an account's group.
    FactSheet account(SubvolumeGroup group) {
        FactSheet sheet = new FactSheet();
        Optional<AccountNote> note = note(group, AccountNote.NAME).flatMap(AccountNote::parse);
        try {
            holder(group, note)
                    .ifPresentOrElse(
                            account -> addAccount(sheet, account),
                            () -> addNoted(sheet, note, "no longer in the directory"));
        } catch (DriverException.BackendUnavailable silent) {
            addNoted(sheet, note, "as last noted: the directory does not answer");
        }
        note(group, AccountFreeze.NOTE).ifPresent(since -> sheet.add("frozen", "since " + since));
        return sheet.add("group", group.name())
                .add("filesystem", group.cluster() + "/" + group.fileSystem())
                .add("path", group.path());
    }

    private Optional<String> note(SubvolumeGroup group, String name) {
        return places.ceph().files().note(group.cluster(), group.fileSystem(), group.path(), name);
    }

    /// Returns the account whose group it is. The note may name one that was renamed, or has left; then another one
    /// may have its name now.
    private Optional<Account> holder(SubvolumeGroup group, Optional<AccountNote> note) {
        Optional<Account> named =
                note.flatMap(it -> places.directory().account(it.name())).filter(account -> isOf(group, account));
        if (named.isPresent()) {
            return named;
        }
        List<Account> found = new ArrayList<>();
        places.directory().accounts(account -> {
            if (isOf(group, account)) {
                found.add(account);
            }
        });
        return found.stream().findFirst();
    }

    private static boolean isOf(SubvolumeGroup group, Account account) {
        return SubvolumeGroup.nameOf(account).equals(group.name());
    }

    private static void addAccount(FactSheet sheet, Account account) {
        sheet.add("account", account.name())
                .add(account.isGroup() ? "gid" : "uid", AccountNote.of(account).uid());
    }

    private static void addNoted(FactSheet sheet, Optional<AccountNote> note, String remark) {
        sheet.add("account", note.map(AccountNote::name).orElse("?") + " (" + remark + ")")
                .add("uid", note.map(AccountNote::uid).orElse("?"));
    }

    private void addVolume(FactSheet sheet, VolumeId.Provisioned volume) {
        sheet.add("volume", volume.toString()).add("path", path(volume));
        if (Homes.isAlias(volume)) {
            sheet.add("home", Homes.behind(volume) + ", which has the files");
        }
        for (String userId : once.identities(volume.cluster())) {
            if (isOf(volume, userId)) {
                sheet.add("identity", "client." + userId);
            }
        }
        all().stream().filter(known -> shows(known, volume)).forEach(known -> addClaim(sheet, known));
        once.sessions(FileSystemRef.of(volume)).stream()
                .filter(session -> isOf(volume, session.userId()))
                .map(VolumeSheets::describe)
                .distinct()
                .forEach(session -> sheet.add("session", session));
    }

    /// Returns the directory of a volume's files, for people.
    private String path(VolumeId.Provisioned volume) {
        String path = SubvolumeGroup.pathOf(volume);
        try {
            return places.ceph().files().dataDirectory(volume.cluster(), volume.fileSystem(), path);
        } catch (DriverException.NotFound gone) {
            return path + ", which has no files: the volume was deleted, or only its snapshots are left";
        } catch (DriverException.BackendFault several) {
            return path + ", where siphon audit finds a defect: " + several.getMessage();
        }
    }

    private static boolean isOf(VolumeId.Provisioned volume, String userId) {
        return VolumeIdentity.parse(volume.cluster(), volume.fileSystem(), userId)
                .filter(identity -> identity.volume().equals(volume))
                .isPresent();
    }

    /// Whether a PersistentVolume shows the files of `volume`: aliases show their home's.
    private static boolean shows(KnownVolume known, VolumeId.Provisioned volume) {
        return known.volume() instanceof VolumeId.Provisioned shown
                && (shown.equals(volume)
                        || (Homes.isHome(volume) && Homes.behind(shown).equals(volume)));
    }

    /// Adds a PersistentVolume with its claim, and the pods that mount it.
    void addClaim(FactSheet sheet, KnownVolume known) {
        sheet.add("pv", known.name() + " (" + known.phase() + ")");
        if (known.claim().isEmpty()) {
            return;
        }
        NamespacedName claim = known.claim().get();
        sheet.add("claim", claim + (known.isReleased() ? " (deleted)" : ""));
        if (!known.isReleased()) {
            pods(claim).forEach(pod -> sheet.add("pod", describe(pod)));
        }
    }

    private List<KnownPod> pods(NamespacedName claim) {
        return once.pods(claim.namespace()).stream()
                .filter(pod -> pod.mounts(claim))
                .sorted(Comparator.comparing(KnownPod::name))
                .toList();
    }

    static String describe(KnownPod pod) {
        return pod.name() + " (" + pod.phase() + ")"
                + pod.node().map(node -> " on node " + node).orElse(", on no node yet");
    }

    static String describe(ClientSession session) {
        return "client." + session.id() + " of host " + session.host() + " at " + session.address();
    }
}
