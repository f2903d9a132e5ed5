package dev.siphon.csi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.Grants.Grant;
import dev.siphon.csi.Grants.GroupKey;
import dev.siphon.csi.Grants.Shared;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class GrantsTest {
    private static final GroupKey PLACE = new GroupKey("lab", "cephfs", "aone");

    private static Grant grant(String account, String... namespaces) {
        return new Grant(account, new TreeSet<>(List.of(namespaces)));
    }

    @Test
    void whatIsWrittenIsRead() {
        Grants grants = new Grants(
                Map.of(
                        PLACE,
                        grant("jürgen", "user-b", "user-a"),
                        new GroupKey("lab", "cephfs", "atwo"),
                        grant("u\"2")),
                Map.of());
        assertEquals(grants, Grants.parse(grants.toJson()));
        assertEquals(
                grants.of(PLACE).orElseThrow(),
                Grant.parse(grant("jürgen", "user-a", "user-b").toJson()));
    }

    private static VolumeId.DatasetVolume volume(String path) {
        return new VolumeId.DatasetVolume("lab", "cephfs", "0123456789".repeat(4), Optional.empty(), path);
    }

    @Test
    void datasetsAreWrittenAndReadAndFoundByNameAndPlace() {
        Shared everybodys = new Shared(volume("/all"), true, new TreeSet<>());
        Shared mine = new Shared(volume("/mine"), false, new TreeSet<>(List.of("a", "b")));
        Grants grants = new Grants(Map.of(), Map.of("u1/all", everybodys, "u1/mine", mine, "again", mine));
        assertEquals(grants, Grants.parse(grants.toJson()));
        assertEquals(Optional.of(mine), grants.dataset("u1/mine"));
        assertEquals(Optional.empty(), grants.dataset("mine"));
        assertEquals(List.of(mine, mine), grants.datasetsOf(volume("/mine").forUse("0123456789av")));
        assertEquals(List.of(), grants.datasetsOf(volume("/elsewhere")), "the same bytes are not enough");
        assertTrue(everybodys.isFor("whoever"));
        assertTrue(mine.isFor("b"));
        assertFalse(mine.isFor("c"));
    }

    @Test
    void theFormOfDatasetsIsStable() {
        assertEquals(
                "{\"groups\":{},\"datasets\":{\"all\":{\"volume\":\"" + volume("/all") + "\",\"everybody\":true},"
                        + "\"mine\":{\"volume\":\"" + volume("/mine") + "\",\"namespaces\":[\"a\"]}}}\n",
                new Grants(
                                Map.of(),
                                Map.of(
                                        "all",
                                        new Shared(volume("/all"), true, new TreeSet<>()),
                                        "mine",
                                        new Shared(volume("/mine"), false, new TreeSet<>(List.of("a")))))
                        .toJson());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"volume\":\"static:lab:cephfs:/all\",\"everybody\":true}",
                "{\"volume\":\"dataset:lab:cephfs:0123:/all\",\"everybody\":true}"
            })
    void aDatasetThatIsNoneIsLeftOut(String dataset) {
        assertEquals(Grants.NONE, Grants.parse("{\"datasets\":{\"d\":" + dataset + "}}"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"true\"", "1", "null", "[true]", "false", "{}"})
    void nothingButTrueIsEverybody(String everybody) {
        Grants grants = Grants.parse(
                "{\"datasets\":{\"d\":{\"volume\":\"" + volume("/all") + "\",\"everybody\":" + everybody + "}}}");
        assertFalse(grants.dataset("d").orElseThrow().isFor("a"));
    }

    @Test
    void theFormIsStable() {
        assertEquals(
                "{\"groups\":{\"lab:cephfs:aone\":{\"account\":\"u1\",\"namespaces\":[\"a\",\"b\"]}}}\n",
                new Grants(Map.of(PLACE, grant("u1", "b").with("u1", "a")), Map.of()).toJson());
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
