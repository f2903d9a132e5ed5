package dev.siphon.node.linux;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MountTableTest {
    private static final String TABLE = """
            22 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
            30 22 0:40 /v1/uuid /stage rw,nosuid,nodev,relatime shared:2 master:7 - fuse.ceph-fuse siphon!a!b!c rw,allow_other
            31 22 0:40 /v1/uuid /pods/x ro,nosuid,nodev,noexec,noatime - fuse.ceph-fuse siphon!a!b!c rw,allow_other
            32 22 0:41 / /pods/y rw - tmpfs below rw
            33 32 0:42 / /pods/y rw - tmpfs above rw
            34 22 0:43 /g/v/uuid /mapped rw,nosuid,relatime,idmapped - ceph 10.0.0.1:3300:/volumes/g rw,name=u,mds_namespace=fs
            35 22 0:43 /g /kernel rw,relatime - ceph 10.0.0.1:3300:/volumes/g rw,name=u,secret=<hidden>,mds_namespace=fs
            """;

    @Test
    void aLineIsReadWithOptionalFieldsAndWithout() {
        MountTable table = MountTable.parse(TABLE);
        MountEntry staged = table.at("/stage").orElseThrow();
        assertEquals(30, staged.id());
        assertEquals(22, staged.parent());
        assertEquals("0:40", staged.device());
        assertEquals("/v1/uuid", staged.root());
        assertEquals("fuse.ceph-fuse", staged.type());
        assertEquals("siphon!a!b!c", staged.source());
        assertEquals(Set.of("rw", "allow_other"), staged.superOptions());
        assertEquals(Set.of(MountFlag.NO_SUID, MountFlag.NO_DEV), staged.flags());
        assertFalse(staged.isIdmapped());
        MountEntry mapped = table.at("/mapped").orElseThrow();
        assertTrue(mapped.isIdmapped());
        assertEquals(Set.of(MountFlag.NO_SUID), mapped.flags());
        MountEntry target = table.at("/pods/x").orElseThrow();
        assertTrue(target.isReadOnly());
        assertEquals(
                Set.of(MountFlag.READ_ONLY, MountFlag.NO_SUID, MountFlag.NO_DEV, MountFlag.NO_EXEC, MountFlag.NO_ATIME),
                target.flags());
    }

    @Test
    void theTopmostOfSeveralMountsIsSeen() {
        assertEquals(
                "above", MountTable.parse(TABLE).at("/pods/y").orElseThrow().source());
    }

    @Test
    void nothingIsMountedWhereNothingIs() {
        assertEquals(Optional.empty(), MountTable.parse(TABLE).at("/pods"));
    }

    @Test
    void aPathIsHeldByTheNearestMountAboveIt() {
        MountTable table = MountTable.parse(TABLE);
        assertEquals("/stage", table.holding("/stage/a/b").orElseThrow().mountPoint());
        assertEquals("/", table.holding("/stages").orElseThrow().mountPoint());
        assertEquals("/", table.holding("/").orElseThrow().mountPoint());
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "blank,          a\\040b,         a b",
        "tab,            a\\011b,         'a\tb'",
        "line feed,      a\\012b,         'a\nb'",
        "backslash,      a\\134b,         a\\b",
        "escaped escape, a\\134040b,      a\\040b",
        "hash,           a\\043b,         a#b",
        "UTF-8,          a\u00c3\u00a9b,  a\u00e9b",
        "carriage return,'a\rb',          'a\rb'",
    })
    void escapesAreResolved(String name, String octets, String path) {
        MountTable table = MountTable.parse("30 22 0:40 / /" + octets + " rw - tmpfs t rw\n");
        assertTrue(table.at("/" + path).isPresent(), () -> name + ": " + table);
    }

    @Test
    void anEmptySourceIsASource() {
        MountTable table = MountTable.parse("30 22 0:40 / /m rw - tmpfs  rw\n");
        assertEquals("", table.at("/m").orElseThrow().source());
    }

    @ParameterizedTest
    @CsvSource({"'30 22'", "'30 22 0:40 / /m rw tmpfs t rw'", "'x 22 0:40 / /m rw - tmpfs t rw'"})
    void anotherFormIsNotGuessed(String line) {
        assertThrows(IllegalArgumentException.class, () -> MountTable.parse(line));
    }

    @Test
    void theTableOfThisProcessIsRead() {
        assertTrue(MountTable.read().at("/").isPresent());
    }
}
