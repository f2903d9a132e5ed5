package dev.siphon.controller.offboard;

import dev.siphon.controller.audit.VolumesDirectory;
import dev.siphon.controller.audit.VolumesDirectory.GroupState;
import dev.siphon.controller.identity.AccountDirectory;
import dev.siphon.controller.volume.AccountNote;
import dev.siphon.controller.volume.CephNames;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;

/// Finds the groups of an account, even if it is no longer in the directory.
public final class AccountGroups {
    private final Clusters clusters;
    private final VolumesDirectory volumesDirectory;
    private final AccountDirectory directory;

    public AccountGroups(Clusters clusters, VolumesDirectory volumesDirectory, AccountDirectory directory) {
        this.clusters = clusters;
        this.volumesDirectory = volumesDirectory;
        this.directory = directory;
    }

    /// Returns the groups of an account, one for each file system where it has something.
    ///
    /// @param account its name, or the name of its group as `siphon audit` shows it
    /// @throws DriverException.NotFound (NOT_FOUND) if there is none
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the directory does not answer, so that the
    ///     present holder of the name is unknown; the name of a group works without it
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if several accounts had that name, or the account
    ///     was renamed; the message has the details
    public List<SubvolumeGroup> of(String account) {
        return of(account, (_, failure) -> {
            throw failure;
        });
    }

    /// Returns the same as [#of], in the clusters that answer.
    ///
    /// @param unanswered receives each cluster that could not be searched, with the reason
    public List<SubvolumeGroup> of(String account, BiConsumer<String, DriverException> unanswered) {
        List<GroupState> states = all(unanswered);
        List<GroupState> asked = states.stream()
                .filter(state -> state.group().name().equals(account))
                .toList();
        if (!asked.isEmpty()) {
            return asked.stream().map(GroupState::group).toList();
        }
        Optional<String> current = directory.account(account).map(found -> CephNames.group(found.id()));
        List<GroupState> named = states.stream()
                .filter(state -> current.filter(state.group().name()::equals).isPresent() || noted(state, account))
                .toList();
        if (named.isEmpty()) {
            throw new DriverException.NotFound("account " + account + " has no group in any file system");
        }
        Set<String> different = new TreeSet<>();
        current.ifPresent(different::add);
        named.forEach(state -> different.add(state.group().name()));
        if (different.size() > 1) {
            throw new DriverException.InvalidRequest("several accounts had the name " + account
                    + "; give the group of the one you mean: "
                    + named.stream().map(AccountGroups::describe).toList()
                    + current.map(group -> "; the one with that name now has " + group)
                            .orElse(""));
        }
        if (current.isEmpty()) {
            refuseRenamed(account, different);
        }
        return named.stream().map(GroupState::group).toList();
    }

    /// Refuses an account that was renamed since the note on its group was written.
    private void refuseRenamed(String account, Set<String> groups) {
        directory.accounts(each -> {
            String group = CephNames.group(each.id());
            if (groups.contains(group)) {
                throw new DriverException.InvalidRequest("account " + account + " is now called " + each.name()
                        + " (group " + group + "): use that name");
            }
        });
    }

    private static String describe(GroupState state) {
        return state.group().name() + " (" + state.notes().getOrDefault(AccountNote.NAME, "not noted whose") + ")";
    }

    private static boolean noted(GroupState state, String account) {
        return AccountNote.parse(state.notes().getOrDefault(AccountNote.NAME, ""))
                .filter(note -> note.name().equals(account))
                .isPresent();
    }

    private List<GroupState> all(BiConsumer<String, DriverException> unanswered) {
        List<GroupState> all = new ArrayList<>();
        for (String cluster : clusters.ids()) {
            try {
                all.addAll(in(cluster));
            } catch (DriverException failure) {
                unanswered.accept(cluster, failure);
            }
        }
        return all;
    }

    private List<GroupState> in(String cluster) {
        List<GroupState> found = new ArrayList<>();
        for (Clusters.FileSystem fileSystem : clusters.fileSystems(cluster)) {
            for (String name : volumesDirectory.top(cluster, fileSystem.name()).groups()) {
                if (CephNames.isGroup(name)) {
                    volumesDirectory
                            .group(new SubvolumeGroup(cluster, fileSystem.name(), name))
                            .ifPresent(found::add);
                }
            }
        }
        return found;
    }
}
