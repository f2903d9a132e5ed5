package dev.siphon.node.linux;

import dev.siphon.csi.fuzz.ParserFuzz;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/// Fuzzes the kernel's mount table, with paths and sources chosen by others.
final class MountTableParsingFuzzTest {
    private static final String TABLE = """
            36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
            37 36 0:50 / /a\\040b\\134 ro - ceph 10.0.0.1:6789:/x rw,name=a\\054b
            """;

    @Test
    void mountTable() {
        ParserFuzz.of(
                        "mount tables",
                        ParserFuzz.texts(TABLE),
                        bytes -> MountTable.parse(new String(bytes, StandardCharsets.ISO_8859_1))
                                .holding("/a b"),
                        IllegalArgumentException.class)
                // many short fields become many strings
                .allocating(64 << 20)
                .run();
    }

    @Test
    void kernelLog() {
        ParserFuzz.of(
                        "kernel log",
                        ParserFuzz.texts("6,339,5140900,-;libceph: mon0 session\n SUBSYSTEM=acpi\n"),
                        bytes -> KernelLog.message(ParserFuzz.text(bytes)))
                .run();
    }
}
