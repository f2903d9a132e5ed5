package dev.siphon.controller.ceph.fs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.siphon.csi.DriverException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MdsSessionTest {
    private static List<MdsSession> list(String text) {
        return MdsSession.list(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void whatIsAskedForIsKept() {
        assertEquals(
                List.of(new MdsSession(
                        4711,
                        Optional.of("siphon.fs.a.v"),
                        "[fd00::1]:0",
                        Map.of("hostname", "n\"1", "root", "/volumes"))),
                list("""
                        [{"id": 4711, "auth_name": {"type": 8, "id": "siphon.fs.a.v"},
                          "entity": {"name": {"num": 1}, "addr": {"type": "any", "addr": "[fd00::1]:0", "nonce": 3}},
                          "client_metadata": {"client_features": {"feature_bits": "0x7"}, "hostname": "n\\"1",
                                              "root": "/volumes", "volume_id": {"no": "text"}}}]"""));
    }

    /// A client can report 16 MiB of metadata, in one value, in one name, or in many, and can have many sessions.
    @Test
    void clientsThatTellMuchTakeLittleMemory() {
        String large = "x".repeat(8 << 20);
        String many = IntStream.range(0, 100_000)
                .mapToObj(i -> "\"k" + i + "\": \"v\", ")
                .collect(Collectors.joining());
        byte[] text = ("[{\"id\": 1, \"client_metadata\": {\"x\": \"" + large + "\", \"" + large + "\": \"\", " + many
                        + "\"root\": \"" + large + "\", \"hostname\": \"h\"}}]")
                .getBytes(StandardCharsets.UTF_8);
        ThreadMXBean memory = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = memory.getCurrentThreadAllocatedBytes();
        MdsSession read = MdsSession.list(ByteBuffer.wrap(text)).getFirst();
        long taken = memory.getCurrentThreadAllocatedBytes() - before;
        assertEquals("h", read.says("hostname").orElseThrow());
        assertEquals(
                TruncatedJsonStrings.MOST_BYTES, read.says("root").orElseThrow().length());
        assertTrue(taken < 16 << 20, "bytes: " + taken);
    }

    @Test
    void anEscapeIsNeverCut() {
        String start = "x".repeat(TruncatedJsonStrings.MOST_BYTES - 1);
        for (String end : List.of("\\u00e9", "\\\"", "\\\\", "é")) {
            MdsSession read = list("[{\"id\": 1, \"client_metadata\": {\"root\": \"" + start + end + end
                            + "\", \"hostname\": \"h\"}}]")
                    .getFirst();
            assertTrue(read.says("root").orElseThrow().startsWith(start), end);
            assertEquals("h", read.says("hostname").orElseThrow(), end);
        }
    }

    @Test
    void whatIsNoListIsSaidToBeNone() {
        for (String text : List.of("", "{}", "[1]x", "[{\"id\": \"a\"}]", "[{\"id\": 1")) {
            assertThrows(DriverException.BackendFault.class, () -> list(text), text);
        }
    }
}
