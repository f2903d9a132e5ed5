package dev.siphon.controller.check;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.controller.check.ControllerCaps.Feature;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class CapTest {
    private static final ControllerCaps NEEDED = new ControllerCaps(List.of("a"), List.of(Feature.KEYS));

    @ParameterizedTest(name = "{0} covers {1}: {2}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "allow r                                | allow r                                | true",
                "allow *                                | allow r                                | true",
                "allow all                              | allow rwp fsname=a path=/volumes       | true",
                "allow rwx                              | allow r                                | true",
                "allow r                                | allow rw                               | false",
                "profile rbd                            | allow r                                | false",
                "allow r                                | allow command \"auth get\"             | false",
                "allow rwx                              | allow command \"auth get\"             | true",
                "allow command \"auth get\"             | allow command \"auth get\"             | true",
                "allow command \"auth ls\"              | allow command \"auth get\"             | false",
                "allow command \"auth get\", allow r    | allow r                                | true",
                "allow command \"osd blocklist\"        | allow command \"osd blocklist\" with blocklistop=add | true",
                "allow rw module volumes                | allow module volumes rw                | true",
                "allow module volumes r                 | allow module volumes rw                | false",
                "allow * fsname=a                       | allow rwp fsname=a path=/volumes       | true",
                "allow * fsname=a                       | allow rwp fsname=b path=/volumes       | false",
                "allow rw fsname=a path=/volumes        | allow rwp fsname=a path=/volumes       | false",
                "allow rwp path=/volumes fsname=a       | allow rwp fsname=a path=/volumes       | true",
                "allow rwps                             | allow rwp fsname=a path=/volumes       | true",
                "allow rwp fsname=a path=/              | allow rwp fsname=a path=/volumes       | true",
                "allow rwp fsname=a path=/volumes/group | allow rwp fsname=a path=/volumes       | false",
                "allow rw tag cephfs data=*             | allow rw tag cephfs data=a             | true",
                "allow rw tag cephfs data=b             | allow rw tag cephfs data=a             | false",
                "allow rw pool=a.data                   | allow rw tag cephfs data=a             | false"
            })
    void oneCapCoversAnotherWhereItAllowsAsMuch(String has, String needed, boolean covers) {
        assertEquals(
                covers,
                Cap.parse(has).stream()
                        .anyMatch(cap -> cap.covers(Cap.parse(needed).getFirst())));
    }

    @Test
    void whatIsPrintedIsEnough() {
        for (List<Feature> uses : List.of(
                List.<Feature>of(), List.of(Feature.KEYS), List.of(Feature.ATTACH), List.of(Feature.KEY_COMMANDS))) {
            ControllerCaps caps = new ControllerCaps(List.of("a", "b"), uses);
            assertEquals(List.of(), caps.missing(caps.byService()));
        }
    }

    @Test
    void whatIsMissingIsNamed() {
        Map<String, String> has = new TreeMap<>(NEEDED.byService());
        has.remove("mgr");
        has.put("mon", "allow r, allow command \"auth get-or-create\", allow command \"auth rm\"");
        assertEquals(
                List.of(
                        "mgr 'allow module volumes rw'",
                        "mon 'allow command \"auth get\"'",
                        "mon 'allow command \"auth ls\"'"),
                NEEDED.missing(has));
        assertEquals(
                List.of(),
                NEEDED.missing(Map.of("mds", "allow *", "mgr", "allow *", "mon", "allow *", "osd", "allow *")));
    }
}
