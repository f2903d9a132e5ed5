package dev.siphon.controller.grant;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.siphon.controller.identity.Namespaces;
import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.InMemoryCeph;
import dev.siphon.controller.volume.InterceptedPorts;
import dev.siphon.controller.volume.NamespaceAccounts;
import dev.siphon.controller.volume.Owners.OwnerRule;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import dev.siphon.csi.Grants.Grant;
import dev.siphon.csi.Grants.GroupKey;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class NamespaceGrantsTest {
    private static final SubvolumeGroup U1 = group("a00000000000000000001");
    private static final SubvolumeGroup U2 = group("a00000000000000000002");

    @TempDir
    private Path folder = Path.of("");

    private final InMemoryCeph ceph = new InMemoryCeph();
    private final List<String> calls = new ArrayList<>();

    /// Empty without Kubernetes.
    private Optional<Namespaces> namespaces = Optional.empty();

    private static SubvolumeGroup group(String name) {
        return new SubvolumeGroup(InMemoryCeph.CLUSTER, InMemoryCeph.FILE_SYSTEM, name);
    }

    @BeforeEach
    void makeGroups() {
        ceph.ports().subvolumes().createGroup(U1, OptionalLong.empty(), Optional.empty());
        ceph.ports().subvolumes().createGroup(U2, OptionalLong.empty(), Optional.empty());
    }

    private CephPorts ports() {
        return InterceptedPorts.of(ceph.ports(), (call, make) -> {
            calls.add(call.method());
            return make.get();
        });
    }

    private NamespaceGrants grants() {
        return grants(ports());
    }

    private NamespaceGrants grants(CephPorts ports) {
        return new NamespaceGrants(
                ports,
                store(),
                new NamespaceAccounts(Optional.of(OwnerRule.parse("namespace-prefix:user-")), namespaces),
                new GrantsMetrics(new PrometheusRegistry()));
    }

    private FileGrantsStore store() {
        return new FileGrantsStore(file());
    }

    private Path file() {
        return folder.resolve("grants.json");
    }

    private Map<GroupKey, Grant> published() {
        return store().last().groups();
    }

    private static GroupKey place(SubvolumeGroup group) {
        return new GroupKey(group.cluster(), group.fileSystem(), group.name());
    }

    private static Grant grant(String account, String... namespaces) {
        return new Grant(account, new TreeSet<>(List.of(namespaces)));
    }

    @Test
    void aGrantIsPublishedOnceAndCostsNothingAgain() {
        try (NamespaceGrants grants = grants()) {
            grants.grant(U1, "u1", "user-u1");
            assertEquals(List.of("note", "setNote"), calls);
            grants.grant(U1, "u1", "user-u1");
            assertEquals(2, calls.size());
            grants.grant(U1, "u1", "shared");
            grants.grant(U2, "u2", "shared");
            assertEquals(
                    Map.of(place(U1), grant("u1", "shared", "user-u1"), place(U2), grant("u2", "shared")), published());
        }
    }

    @Test
    void aRenamedAccountKeepsItsNamespaces() {
        try (NamespaceGrants grants = grants()) {
            grants.grant(U1, "u1", "user-u1");
            grants.grant(U1, "ada", "user-u1");
            assertEquals(Map.of(place(U1), grant("ada", "user-u1")), published());
        }
    }

    @Test
    void whatTheGroupsHoldSurvivesTheFile() throws Exception {
        try (NamespaceGrants grants = grants()) {
            grants.grant(U1, "u1", "user-u1");
        }
        Files.delete(file());
        try (NamespaceGrants grants = grants()) {
            grants.load();
            assertEquals(Map.of(place(U1), grant("u1", "user-u1")), published());
            calls.clear();
            grants.grant(U1, "u1", "user-u1");
            assertEquals(List.of(), calls);
        }
    }

    @Test
    void aRestartTakesNothingAwayBeforeTheGroupsAreRead() {
        try (NamespaceGrants grants = grants()) {
            grants.grant(U1, "u1", "user-u1");
        }
        try (NamespaceGrants grants = grants()) {
            grants.grant(U2, "u2", "user-u2");
            assertEquals(Map.of(place(U1), grant("u1", "user-u1"), place(U2), grant("u2", "user-u2")), published());
            grants.load();
            assertEquals(Map.of(place(U1), grant("u1", "user-u1"), place(U2), grant("u2", "user-u2")), published());
        }
    }

    @Test
    void whatAnAdministratorTookAwayIsGoneAfterARestart() {
        try (NamespaceGrants grants = grants()) {
            grants.grant(U1, "u1", "user-u1");
            grants.grant(U2, "u2", "user-u2");
        }
        ceph.ports()
                .files()
                .setNote(
                        U1.cluster(),
                        U1.fileSystem(),
                        U1.path(),
                        NamespaceGrants.NOTE,
                        grant("u1").toJson());
        ceph.ports().files().setNote(U2.cluster(), U2.fileSystem(), U2.path(), NamespaceGrants.NOTE, "broken");
        try (NamespaceGrants grants = grants()) {
            grants.load();
            assertEquals(Map.of(place(U1), grant("u1")), published());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"account\":\"u2\",\"namespaces\":[{\"name\":\"ns\"}]}",
                "{\"account\":\"u2\",\"namespaces\":[null]}",
                "{\"account\":{},\"namespaces\":[]}",
                "{\"account\":\"u2\",\"namespaces\":1}"
            })
    void aNoteOfAnotherShapeGrantsNothingAndKeepsNoOtherBack(String note) throws Exception {
        try (NamespaceGrants grants = grants()) {
            grants.grant(U1, "u1", "user-u1");
            grants.grant(U2, "u2", "user-u2");
        }
        Files.delete(file());
        ceph.ports().files().setNote(U2.cluster(), U2.fileSystem(), U2.path(), NamespaceGrants.NOTE, note);
        try (NamespaceGrants grants = grants()) {
            grants.load();
            assertEquals(Map.of(place(U1), grant("u1", "user-u1")), published());
        }
    }

    @Test
    void aRoundThatGoesWrongIsFollowedByAnother() throws Exception {
        try (NamespaceGrants grants = grants()) {
            grants.grant(U1, "u1", "user-u1");
        }
        Files.delete(file());
        AtomicBoolean wrong = new AtomicBoolean(true);
        CephPorts faulty = InterceptedPorts.of(ceph.ports(), (call, make) -> {
            if (call.method().equals("note") && wrong.getAndSet(false)) {
                throw new IllegalArgumentException("nobody thought of this");
            }
            return make.get();
        });
        try (NamespaceGrants grants = grants(faulty)) {
            grants.load();
            assertEquals(Map.of(), published());
            grants.load();
            assertEquals(Map.of(place(U1), grant("u1", "user-u1")), published());
        }
    }

    @Test
    void whatIsNotPublishedIsNotForgotten() throws Exception {
        Files.createDirectory(file());
        try (NamespaceGrants grants = grants()) {
            assertThrows(DriverException.BackendUnavailable.class, () -> grants.grant(U1, "u1", "user-u1"));
            Files.delete(file());
            grants.grant(U1, "u1", "user-u1");
            assertEquals(Map.of(place(U1), grant("u1", "user-u1")), published());
        }
    }

    @Test
    void aBrokenFileIsWrittenAnew() throws Exception {
        Files.writeString(file(), "{");
        try (NamespaceGrants grants = grants()) {
            grants.load();
            assertEquals(Grants.NONE.groups(), published());
        }
    }

    @Test
    void whatSomebodyRemovesOrChangesIsPublishedAgain() throws Exception {
        Map<GroupKey, Grant> wanted = Map.of(place(U1), grant("u1", "user-u1"));
        try (NamespaceGrants grants = grants()) {
            grants.republish();
            assertEquals(Map.of(), published(), "nothing is known yet");
            grants.grant(U1, "u1", "user-u1");
            Files.delete(file());
            grants.republish();
            assertEquals(wanted, published());
            store().publish(new Grants(Map.of(place(U1), grant("u1", "user-u1", "of-a-thief")), Map.of()));
            grants.republish();
            assertEquals(wanted, published());
            Files.delete(file());
            Files.createDirectories(file().resolve("in-the-way"));
            grants.republish();
            Files.delete(file().resolve("in-the-way"));
            Files.delete(file());
            grants.republish();
            assertEquals(wanted, published());
        }
    }
}
