package dev.siphon.controller.offboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.audit.MetaFile;
import dev.siphon.controller.audit.VolumesDirectory;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.volume.CephNames;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.InMemoryDirectory;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// Which account a name means, while people and names come and go.
final class AccountGroupsTest {
    private final InMemoryDirectory directory = new InMemoryDirectory(Map.of());
    private final Map<String, String> notes = new LinkedHashMap<>();
    private final OneFileSystem clusters = new OneFileSystem();
    private final AccountGroups groups = new AccountGroups(clusters, new Groups(), directory);

    private static String group(String id) {
        return CephNames.group(id);
    }

    private void has(String id, String note) {
        notes.put(group(id), note);
    }

    private void knows(String name, String id) {
        directory.put(new Account(name, id, 10_001, 10_001, Set.of(), OptionalLong.empty()));
    }

    private List<String> of(String account) {
        return groups.of(account).stream().map(SubvolumeGroup::name).toList();
    }

    private String refused(String account) {
        return assertThrows(DriverException.InvalidRequest.class, () -> groups.of(account))
                .getMessage();
    }

    @Test
    void aNameMeansTheAccountThatHasIt() {
        knows("r1", "id-1");
        has("id-1", "10001 r1");
        has("id-2", "10002 r2");
        assertEquals(List.of(group("id-1")), of("r1"));
    }

    @Test
    void anAccountThatIsGoneIsKnownByItsNote() {
        has("id-1", "10001 r1");
        assertEquals(List.of(group("id-1")), of("r1"));
    }

    @Test
    void theNewOwnerOfANameIsNotTakenForTheOldOne() {
        has("id-1", "10001 r1");
        knows("r1", "id-2");
        String message = refused("r1");
        assertTrue(message.contains(group("id-1")) && message.contains(group("id-2")), message);
        assertEquals(List.of(group("id-1")), of(group("id-1")), "the group's name tells them apart");
    }

    @Test
    void aRenamedAccountIsNotFoundByItsOldName() {
        has("id-1", "10001 r1");
        knows("r1b", "id-1");
        String message = refused("r1");
        assertTrue(message.contains("is now called r1b"), message);
        assertEquals(List.of(group("id-1")), of("r1b"));
    }

    @Test
    void whileTheDirectoryIsDownOnlyAGroupsNameWillDo() {
        has("id-1", "10001 r1");
        directory.down(true);
        assertThrows(DriverException.BackendUnavailable.class, () -> groups.of("r1"));
        assertEquals(List.of(group("id-1")), of(group("id-1")));
    }

    @Test
    void nobodyHasNothing() {
        has("id-1", "10001 r1");
        assertThrows(DriverException.NotFound.class, () -> groups.of("r3"));
    }

    @Test
    void aClusterThatDoesNotAnswerIsToldAndKeepsNoOther() {
        knows("r1", "id-1");
        has("id-1", "10001 r1");
        clusters.ids = List.of("dead", "lab");
        List<String> unanswered = new ArrayList<>();
        List<SubvolumeGroup> found = groups.of("r1", (cluster, _) -> unanswered.add(cluster));
        assertEquals(
                List.of(group("id-1")), found.stream().map(SubvolumeGroup::name).toList());
        assertEquals(List.of("dead"), unanswered);
        assertThrows(DriverException.BackendUnavailable.class, () -> groups.of("r1"));
    }

    private static final class OneFileSystem implements Clusters {
        private List<String> ids = List.of("lab");

        @Override
        public String defaultCluster() {
            return "lab";
        }

        @Override
        public List<String> ids() {
            return ids;
        }

        @Override
        public List<String> monitors(String cluster) {
            return List.of();
        }

        @Override
        public List<FileSystem> fileSystems(String cluster) {
            if (cluster.equals("dead")) {
                throw new DriverException.BackendUnavailable("cluster dead does not answer");
            }
            return List.of(new FileSystem("fs", List.of("data")));
        }

        @Override
        public Optional<String> trouble(String cluster, Duration deadline) {
            return Optional.empty();
        }
    }

    /// Empty groups with their notes.
    private final class Groups implements VolumesDirectory {
        @Override
        public Top top(String cluster, String fileSystem) {
            return new Top(List.copyOf(notes.keySet()), Map.of(), Map.of(), Set.of(), Set.of());
        }

        @Override
        public Optional<GroupState> group(SubvolumeGroup group) {
            return Optional.ofNullable(notes.get(group.name()))
                    .map(note -> new GroupState(group, OptionalLong.empty(), Map.of("account", note)));
        }

        @Override
        public List<String> entries(SubvolumeGroup group) {
            return List.of();
        }

        @Override
        public Optional<EntryState> entry(SubvolumeGroup group, String name) {
            return Optional.empty();
        }

        @Override
        public void writeMeta(VolumeId.Provisioned volume, MetaFile meta) {
            throw new AssertionError("nothing is to be written");
        }

        @Override
        public void removeFile(String cluster, String fileSystem, String path) {
            throw new AssertionError("nothing is to be removed");
        }

        @Override
        public void removeEmptyDirectory(String cluster, String fileSystem, String path) {
            throw new AssertionError("nothing is to be removed");
        }
    }
}
