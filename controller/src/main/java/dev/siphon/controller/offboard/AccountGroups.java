package dev.siphon.controller.offboard;

import dev.siphon.controller.audit.Survey;
import dev.siphon.controller.audit.Survey.GroupState;
import dev.siphon.controller.identity.Directory;
import dev.siphon.controller.volume.AccountNote;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.Group;
import dev.siphon.controller.volume.Names;
import dev.siphon.csi.DriverException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Finds what belongs to an account, also to one that the directory has no more.
public final class AccountGroups {
    private final Clusters clusters;
    private final Survey survey;
    private final Directory directory;

    public AccountGroups(Clusters clusters, Survey survey, Directory directory) {
        this.clusters = clusters;
        this.survey = survey;
        this.directory = directory;
    }

    /// The groups of an account, one for each file system where it has something.
    ///
    /// @param account its name, or the name of its group as `siphon audit` shows it
    /// @throws DriverException.NotFound (NOT_FOUND) if there is none
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if several accounts had that name; the
    ///     message lists their groups
    public List<Group> of(String account) {
        List<GroupState> named = new ArrayList<>();
        Optional<String> current = current(account);
        for (GroupState state : all()) {
            String name = state.group().name();
            if (name.equals(account) || current.filter(name::equals).isPresent() || noted(state, account)) {
                named.add(state);
            }
        }
        if (named.isEmpty()) {
            throw new DriverException.NotFound("account " + account + " has no group in any file system");
        }
        List<String> different =
                named.stream().map(state -> state.group().name()).distinct().toList();
        if (different.size() > 1) {
            throw new DriverException.InvalidRequest("several accounts had the name " + account
                    + "; say which by its group: "
                    + named.stream().map(AccountGroups::describe).toList());
        }
        return named.stream().map(GroupState::group).toList();
    }

    private static String describe(GroupState state) {
        return state.group().name() + " (" + state.notes().getOrDefault(AccountNote.NAME, "not noted whose") + ")";
    }

    /// The group of the account that the directory has now; empty also while it does not answer.
    private Optional<String> current(String account) {
        try {
            return directory.account(account).map(found -> Names.group(found.id()));
        } catch (DriverException.BackendUnavailable | DriverException.BackendFault unknown) {
            return Optional.empty();
        }
    }

    private static boolean noted(GroupState state, String account) {
        return AccountNote.parse(state.notes().getOrDefault(AccountNote.NAME, ""))
                .filter(note -> note.name().equals(account))
                .isPresent();
    }

    private List<GroupState> all() {
        List<GroupState> all = new ArrayList<>();
        for (String cluster : clusters.ids()) {
            for (Clusters.FileSystem fileSystem : clusters.fileSystems(cluster)) {
                for (String name : survey.top(cluster, fileSystem.name()).groups()) {
                    if (Names.isGroup(name)) {
                        survey.group(new Group(cluster, fileSystem.name(), name))
                                .ifPresent(all::add);
                    }
                }
            }
        }
        return all;
    }
}
