package dev.siphon.node.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants.GroupKey;
import dev.siphon.node.grant.NamespacePlaces.Places;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class NamespaceAccessApiTest {
    private static final Places NONE = new Places(Set.of(), 0);

    private final FakeApi server = FakeApi.start();

    @TempDir
    private Path folder = Path.of("");

    private Optional<NamespaceAccessApi> api = Optional.empty();

    @BeforeEach
    void open() {
        api = Optional.of(new NamespaceAccessApi(new ApiAccess.Kubeconfig(server.kubeconfig(folder))));
    }

    @AfterEach
    void stop() {
        api.ifPresent(NamespaceAccessApi::close);
        server.close();
    }

    private Places of(String namespace) {
        return api.orElseThrow().of(namespace);
    }

    private void answer(int status, String body) {
        server.answer(Optional.of(new FakeApi.Answer(status, body)));
    }

    @Test
    void theGroupsOfANamespaceAreRead() {
        answer(200, """
                {"status": {"accounts": [{"name": "u1", "volumes": "lab:cephfs:a00000000000000000001"},
                  {"name": "u2", "volumes": "of a later version"}], "moreAccounts": 7, "datasets": [{"name": "x"}]}}
                """);
        assertEquals(new Places(Set.of(new GroupKey("lab", "cephfs", "a00000000000000000001")), 7), of("team"));
    }

    @Test
    void aNamespaceWithoutAnObjectMayUseNothing() {
        answer(404, "{}");
        assertEquals(NONE, of("team"));
        answer(200, "{\"status\": {}}");
        assertEquals(NONE, of("team"));
    }

    @Test
    void whatCanBeNoNamespaceIsNotAskedAbout() {
        for (String name : List.of("", "../../secrets", "Team", "a/b")) {
            assertEquals(NONE, of(name));
        }
        assertEquals(List.of(), server.authorizations());
    }

    @ParameterizedTest
    @ValueSource(strings = {"[]", "{\"status\": 1}", "{\"status\": {\"accounts\": [1]}}", "nothing", "{}{"})
    void whatIsNoSuchObjectCountsForNothing(String body) {
        answer(200, body);
        assertThrows(DriverException.BackendUnavailable.class, () -> of("team"));
    }

    @Test
    void whoeverMayNotReadItKnowsNothing() {
        answer(403, "{\"message\": \"forbidden\"}");
        assertThrows(DriverException.BackendUnavailable.class, () -> of("team"));
    }
}
