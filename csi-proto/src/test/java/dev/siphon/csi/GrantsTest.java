package dev.siphon.csi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.siphon.csi.Grants.Grant;
import dev.siphon.csi.Grants.Place;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class GrantsTest {
    private static final Place PLACE = new Place("lab", "cephfs", "aone");

    private static Grant grant(String account, String... namespaces) {
        return new Grant(account, new TreeSet<>(List.of(namespaces)));
    }

    @Test
    void whatIsWrittenIsRead() {
        Grants grants = new Grants(
                Map.of(PLACE, grant("jürgen", "user-b", "user-a"), new Place("lab", "cephfs", "atwo"), grant("u\"2")));
        assertEquals(grants, Grants.parse(grants.toJson()));
        assertEquals(
                grants.of(PLACE).orElseThrow(),
                Grant.parse(grant("jürgen", "user-a", "user-b").toJson()));
    }

    @Test
    void theFormIsStable() {
        assertEquals(
                "{\"groups\":{\"lab:cephfs:aone\":{\"account\":\"u1\",\"namespaces\":[\"a\",\"b\"]}}}\n",
                new Grants(Map.of(PLACE, grant("u1", "b").with("u1", "a"))).toJson());
    }

    @Test
    void whatIsNotKnownGrantsNothing() {
        assertEquals(Grants.NONE, Grants.parse("{\"groups\":{\"elsewhere\":{\"namespaces\":[\"a\"]}},\"later\":1}"));
        assertEquals(Optional.empty(), Grants.parse("{}").of(PLACE));
        assertEquals(
                grant(""),
                Grants.parse("{\"groups\":{\"lab:cephfs:aone\":{}}}").of(PLACE).orElseThrow());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"account\":\"x1\",\"namespaces\":[{\"name\":\"ns\"}]}",
                "{\"account\":\"x1\",\"namespaces\":[null]}",
                "{\"account\":\"x1\",\"namespaces\":[[\"ns\"]]}",
                "{\"account\":\"x1\",\"namespaces\":[1e999999999]}",
                "{\"account\":\"x1\",\"namespaces\":\"ns\"}",
                "{\"account\":\"x1\",\"namespaces\":{}}",
                "{\"account\":{}}",
                "{\"account\":[]}",
                "{\"account\":true}",
                "\"x1\"",
                "null",
                "{"
            })
    void aGrantOfAnotherShapeIsAnError(String grant) {
        assertThrows(DriverException.BackendFault.class, () -> Grant.parse(grant));
        assertThrows(DriverException.BackendFault.class, () -> Grants.parse("{\"groups\":{\"a:b:c\":" + grant + "}}"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "null", "[]", "{", "{\"groups\":[]}", "{\"groups\":{\"a:b:c\":1}}"})
    void anythingElseIsAnError(String text) {
        assertThrows(DriverException.BackendFault.class, () -> Grants.parse(text));
    }
}
