package dev.siphon.controller.grant;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.identity.InMemoryNamespaces;
import dev.siphon.controller.volume.InMemoryCeph;
import dev.siphon.controller.volume.NamespaceAccounts;
import dev.siphon.controller.volume.Owners.OwnerRule;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants.Grant;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Grants of namespaces that are deleted, and of namespaces created again. `user-u1` belongs to account u1 by its
/// name.
final class DeletedNamespacesTest {
    private static final SubvolumeGroup U1 =
            new SubvolumeGroup(InMemoryCeph.CLUSTER, InMemoryCeph.FILE_SYSTEM, "a00000000000000000001");
    private static final SubvolumeGroup U2 =
            new SubvolumeGroup(InMemoryCeph.CLUSTER, InMemoryCeph.FILE_SYSTEM, "a00000000000000000002");

    @TempDir
    private Path folder = Path.of("");

    private final InMemoryCeph ceph = new InMemoryCeph();
    private final InMemoryNamespaces namespaces = new InMemoryNamespaces();

    /// The running controller; restarts replace it.
    private Optional<NamespaceGrants> running = Optional.empty();

    @BeforeEach
    void makeGroupsAndNamespaces() {
        ceph.ports().subvolumes().createGroup(U1, OptionalLong.empty(), Optional.empty());
        ceph.ports().subvolumes().createGroup(U2, OptionalLong.empty(), Optional.empty());
        namespaces.annotate("user-u1", Map.of());
        namespaces.annotate("team", Map.of());
        restart();
    }

    @AfterEach
    void end() {
        running.ifPresent(NamespaceGrants::close);
    }

    private NamespaceGrants grants() {
        return running.orElseThrow();
    }

    private void restart() {
        end();
        NamespaceGrants next = new NamespaceGrants(
                ceph.ports(),
                new FileGrantsStore(file()),
                new NamespaceAccounts(Optional.of(OwnerRule.parse("namespace-prefix:user-")), Optional.of(namespaces)),
                new GrantsMetrics(new PrometheusRegistry()));
        next.load();
        running = Optional.of(next);
    }

    private Path file() {
        return folder.resolve("grants.json");
    }

    private Set<String> published(SubvolumeGroup group) {
        return new FileGrantsStore(file())
                .last().groups().entrySet().stream()
                        .filter(each -> each.getKey().group().equals(group.name()))
                        .map(each -> (Set<String>) each.getValue().namespaces())
                        .findAny()
                        .orElse(Set.of());
    }

    private Set<String> noted(SubvolumeGroup group) {
        return ceph.ports()
                .files()
                .note(group.cluster(), group.fileSystem(), group.path(), NamespaceGrants.NOTE)
                .map(Grant::parse)
                .map(grant -> (Set<String>) grant.namespaces())
                .orElse(Set.of());
    }

    @Test
    void aNamespaceThatIsDeletedIsDroppedFromNodesAndFromCeph() {
        grants().grant(U1, "u1", "user-u1");
        grants().grant(U1, "u1", "team");
        namespaces.remove("team");
        grants().republish();
        assertEquals(Set.of("user-u1"), published(U1));
        assertEquals(Set.of("user-u1"), noted(U1));
    }

    private void makeAnew(String namespace) {
        namespaces.remove(namespace);
        namespaces.annotate(namespace, Map.of());
    }

    @Test
    void oneThatIsMadeAnewInheritsNothing() {
        grants().grant(U1, "u1", "team");
        makeAnew("team");
        grants().republish();
        assertEquals(Set.of(), published(U1));
        assertEquals(Set.of(), noted(U1));
    }

    @Test
    void noneIsInheritedBeforeSomebodyLooksEither() {
        grants().grant(U1, "u1", "team");
        makeAnew("team");
        grants().grant(U2, "u2", "team");
        assertEquals(Set.of(), published(U1));
        assertEquals(Set.of("team"), published(U2));
    }

    @Test
    void aVolumeInANamespaceThatWasMadeAnewIsGrantedAnew() {
        grants().grant(U1, "u1", "team");
        makeAnew("team");
        grants().grant(U1, "u1", "team");
        grants().republish();
        assertEquals(Set.of("team"), published(U1));
    }

    @Test
    void oneThatIsMadeAnewAndStandsForTheAccountByItselfStays() {
        grants().grant(U1, "u1", "user-u1");
        makeAnew("user-u1");
        grants().republish();
        assertEquals(Set.of("user-u1"), published(U1));
    }

    @Test
    void whatWasMadeAnewWhileNoControllerRanIsSeen() {
        grants().grant(U1, "u1", "team");
        makeAnew("team");
        restart();
        grants().republish();
        assertEquals(Set.of(), published(U1));
    }

    @Test
    void aNoteOfAVersionWithoutUidsTakesThemOfNow() {
        ceph.ports()
                .files()
                .setNote(
                        U1.cluster(),
                        U1.fileSystem(),
                        U1.path(),
                        NamespaceGrants.NOTE,
                        new Grant("u1", new TreeSet<>(Set.of("team"))).toJson());
        restart();
        grants().republish();
        assertEquals(Set.of("team"), published(U1));
        makeAnew("team");
        restart();
        grants().republish();
        assertEquals(Set.of(), published(U1));
    }

    @Test
    void aClaimOfANamespaceThatIsGoneIsNotGranted() {
        namespaces.remove("team");
        assertThrows(DriverException.NotFound.class, () -> grants().grant(U1, "u1", "team"));
        assertEquals(Set.of(), noted(U1));
    }

    @Test
    void oneAccountMayBeUsedFromMoreNamespacesThanANoteHolds() throws Exception {
        for (int each = 0; each < 6000; each++) {
            namespaces.annotate(name(each), Map.of());
        }
        ceph.ports()
                .files()
                .setNote(
                        U1.cluster(),
                        U1.fileSystem(),
                        U1.path(),
                        NamespaceGrants.NOTE,
                        new Grant("u1", new TreeSet<>(namespaces.uids().keySet())).toJson());
        restart();
        grants().republish();
        grants().grant(U1, "u1", "team");
        namespaces.annotate("z", Map.of());
        grants().grant(U1, "u1", "z");
        String note = ceph.ports()
                .files()
                .note(U1.cluster(), U1.fileSystem(), U1.path(), NamespaceGrants.NOTE)
                .orElseThrow();
        assertTrue(note.length() <= GrantNote.MOST_BYTES, "bytes: " + note.length());
        assertEquals(6003, published(U1).size());
        restart();
        grants().republish();
        assertEquals(6003, published(U1).size(), "nodes have all, and so has the next controller");
        for (int each = 0; each < 5999; each++) {
            namespaces.remove(name(each));
        }
        grants().republish();
        assertEquals(Set.of("user-u1", "team", "z", name(5999)), published(U1));
        Files.delete(file());
        restart();
        assertEquals(Set.of("user-u1", "team", "z", name(5999)), published(U1), "the note is whole again");
    }

    private static String name(int number) {
        return "course-%04d".formatted(number);
    }
}
