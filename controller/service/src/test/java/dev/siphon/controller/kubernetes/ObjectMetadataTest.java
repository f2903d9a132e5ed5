package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class ObjectMetadataTest {
    /// Streams `begin`, `middle` this many times, and `end`, without holding them in memory.
    private static InputStream stream(String begin, String middle, int times, String end) {
        return new InputStream() {
            private InputStream part = bytes(begin);
            private int parts;

            @Override
            public int read() throws IOException {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0];
            }

            @Override
            public int read(byte[] into, int at, int length) throws IOException {
                int read = part.read(into, at, length);
                while (read < 0 && parts <= times) {
                    part = bytes(parts < times ? middle : end);
                    parts++;
                    read = part.read(into, at, length);
                }
                return read;
            }
        };
    }

    private static InputStream bytes(String text) {
        return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
    }

    private static ObjectMetadata read(String json) throws IOException {
        return ObjectMetadata.read("Namespace a", stream(json, "", 0, ""));
    }

    @Test
    void whatIsNotAskedForIsReadOver() throws IOException {
        String field = "\"f:a\":{},".repeat(10_000);
        InputStream large = stream(
                "{\"kind\":\"Namespace\",\"metadata\":{\"managedFields\":[{\"fieldsV1\":{",
                field,
                2_000,
                "\"f:z\":{}}}],\"annotations\":{\"a\":\"b\"},\"uid\":\"7\"},\"spec\":{\"uid\":\"8\"}}");
        assertEquals(new ObjectMetadata("", "7", Map.of("a", "b"), true), ObjectMetadata.read("Namespace a", large));
    }

    @Test
    void manySmallAnnotationsAreRefusedAndNotReadToTheEnd() {
        InputStream endless =
                stream("{\"metadata\":{\"annotations\":{", "\"a\":\"\",".repeat(1_000), Integer.MAX_VALUE - 1, "");
        String message = assertThrows(DriverException.InUse.class, () -> ObjectMetadata.read("Namespace a", endless))
                .getMessage();
        assertTrue(message.startsWith("the annotations of Namespace a are more than 128 KiB"), message);
    }

    @Test
    void whatIsMissingIsEmpty() throws IOException {
        ObjectMetadata none = new ObjectMetadata("", "", Map.of(), true);
        for (String json : List.of(
                "{}",
                "{\"metadata\":{}}",
                "{\"metadata\":{\"annotations\":{}}}",
                "{\"metadata\":{\"annotations\":null}}")) {
            assertEquals(none, read(json), json);
        }
    }

    @Test
    void whatIsNoObjectIsNoAnswer() {
        for (String json : List.of("[]", "\"sesame\"", "{\"metadata\":[]}", "{\"metadata\":{\"uid\":{}}}")) {
            assertThrows(IllegalStateException.class, () -> read(json), json);
        }
        for (String json : List.of("", "{", "{\"metadata\":{\"uid\":\"")) {
            assertThrows(IOException.class, () -> read(json), json);
        }
    }
}
