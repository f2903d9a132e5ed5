package dev.siphon.controller.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class OwnerRuleTest {
    private static Map<String, String> parameters(String owner, String namespace) {
        Map<String, String> parameters = new HashMap<>(Map.of("owner", owner));
        if (!namespace.isEmpty()) {
            parameters.put("csi.storage.k8s.io/pvc/namespace", namespace);
        }
        return parameters;
    }

    @ParameterizedTest(name = "{0} in namespace {1} is {2}")
    @CsvSource({
        "u1, team, u1",
        "u1, '', u1",
        "group:lab, team, group:lab",
        "namespace, u1, u1",
        "namespace-prefix:user-, user-u1, u1",
        "namespace-prefix:user-, user-user-u1, user-u1",
        "namespace-x, team, namespace-x"
    })
    void theClassSaysWhoOwnsItsVolumes(String owner, String namespace, String account) {
        assertEquals(
                Optional.of(account),
                ClassParameters.parse(parameters(owner, namespace)).owner());
    }

    @ParameterizedTest(name = "{0} in namespace \"{1}\" is refused: {2}")
    @CsvSource({
        "namespace, '', --extra-create-metadata",
        "namespace-prefix:user-, '', --extra-create-metadata",
        "namespace-prefix:user-, team, does not begin with",
        "namespace-prefix:user-, user-, does not begin with",
        "namespace-prefix:user-, xuser-u1, does not begin with",
        "namespace-prefix:, u1, must be an account",
        "namespaces:x, u1, must be an account",
        "Group:lab, u1, must be an account"
    })
    void whatNamesNoAccountIsRefused(String owner, String namespace, String message) {
        var refused = assertThrows(
                DriverException.InvalidRequest.class, () -> ClassParameters.parse(parameters(owner, namespace)));
        assertTrue(refused.getMessage().contains(message), refused.getMessage());
    }

    @Test
    void aClassAloneHasNoOwnerWhereTheNamespaceNamesIt() {
        assertEquals(
                Optional.empty(),
                ClassParameters.parseClass(parameters("namespace", "")).owner());
        assertEquals(
                Optional.of("u1"),
                ClassParameters.parseClass(parameters("u1", "")).owner());
        assertThrows(
                DriverException.InvalidRequest.class, () -> ClassParameters.parseClass(parameters("namespaces:x", "")));
    }

    @Test
    void aVolumeBelongsToTheAccountOfItsNamespace() {
        World world = new World();
        Map<String, String> parameters = parameters("namespace-prefix:user-", "user-u2");
        assertEquals(
                world.create(World.request("two", Map.of("owner", "u2"))).group(),
                world.create(World.request("one", parameters)).group());
    }
}
