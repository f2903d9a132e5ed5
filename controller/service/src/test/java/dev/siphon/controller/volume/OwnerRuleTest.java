package dev.siphon.controller.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.volume.Owners.OwnerRule;
import dev.siphon.csi.DriverException;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class OwnerRuleTest {
    private static Optional<OwnerRule> rule(String owner) {
        return ClassParameters.parse(Map.of("owner", owner)).owner();
    }

    @ParameterizedTest
    @ValueSource(strings = {"u1", "group:lab", "namespace-x", "namespace-prefix", "namespace-annotation"})
    void anAccountIsAlwaysTheOwner(String owner) {
        assertEquals(Optional.of(new OwnerRule.Fixed(owner)), rule(owner));
        assertEquals(Optional.of(owner), rule(owner).flatMap(OwnerRule::always));
    }

    @ParameterizedTest(name = "{0} looks for what follows \"{1}\"")
    @CsvSource({"namespace, ''", "namespace-prefix:user-, user-", "namespace-prefix::, :"})
    void aNamespaceMayNameTheOwner(String owner, String prefix) {
        assertEquals(Optional.of(new OwnerRule.OfNamespace(prefix)), rule(owner));
        assertEquals(Optional.empty(), rule(owner).flatMap(OwnerRule::always));
    }

    @ParameterizedTest
    @ValueSource(strings = {"account", "siphon.dev/account", "a", "example.org/Who_owns.it-here", "x.y/1"})
    void anAnnotationMayNameTheOwner(String key) {
        assertEquals(Optional.of(new OwnerRule.OfAnnotation(key)), rule("namespace-annotation:" + key));
        assertEquals(Optional.empty(), rule("namespace-annotation:" + key).flatMap(OwnerRule::always));
    }

    @ParameterizedTest(name = "\"{0}\" is refused: {1}")
    @CsvSource({
        "namespace-prefix:, must be an account",
        "namespaces:x, must be an account",
        "Group:lab, must be an account",
        "namespace-annotation:, not the key of an annotation",
        "namespace-annotation:/x, not the key of an annotation",
        "namespace-annotation:x/, not the key of an annotation",
        "namespace-annotation:a/b/c, not the key of an annotation",
        "namespace-annotation:a b, not the key of an annotation",
        "namespace-annotation:Example.org/a, not the key of an annotation",
        "namespace-annotation:-a, not the key of an annotation",
        "u/1, is not a valid name",
        "'u 1', is not a valid name"
    })
    void whatIsNoRuleIsRefused(String owner, String message) {
        var refused = assertThrows(DriverException.InvalidRequest.class, () -> rule(owner));
        assertTrue(refused.getMessage().contains(message), refused.getMessage());
    }
}
