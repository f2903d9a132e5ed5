package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonParser;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/// Users write these objects, so they may contain anything that the API server accepts.
final class ObjectPartsTest {
    private static ObjectParts read(String object, Keep keep) throws IOException {
        return ObjectParts.of(new ByteArrayInputStream(object.getBytes(StandardCharsets.UTF_8)), keep);
    }

    private static String times(int count, String element) {
        return "[" + (element + ",").repeat(count - 1) + element + "]";
    }

    @Test
    void whatIsKeptIsAsItWas() throws IOException {
        String parts = """
                {"a": {"b": [{"x": 1, "y": "z"}, {"x": 2.5}, {}], "c": {"d": [true, null, 1e3, "t"]}}}
                """;
        ObjectParts read =
                read(parts.replace("\"y\"", "\"left\": {\"out\": []}, \"y\""), Keep.of("a.b.x", "a.b.y", "a.c"));
        assertEquals(
                JsonParser.parseString(parts).toString().replace("1e3", "1000"),
                read.kept().toString().replace("1E+3", "1000"));
        assertTrue(read.whole());
    }

    @Test
    void aPartThatIsTooLongIsLeftOutAndAllElseKept() throws IOException {
        Keep keep = Keep.of("metadata.name", "spec.terms", "spec.schedulingGates");
        ObjectParts read = read(
                "{\"metadata\": {\"name\": \"n\"}, \"spec\": {\"terms\": " + times(400_000, "{}")
                        + ", \"schedulingGates\": [{\"name\": \"g\"}]}}",
                keep);
        assertEquals(
                "{\"metadata\":{\"name\":\"n\"},\"spec\":{\"schedulingGates\":[{\"name\":\"g\"}]}}",
                read.kept().toString());
        assertFalse(read.whole());
        assertFalse(read("{\"metadata\": {\"name\": \"" + "x".repeat(20_000) + "\"}}", keep)
                .whole());
    }

    @Test
    void manySmallPartsAreNotKeptEither() throws IOException {
        Keep keep = Keep.of("spec.volumes.name", "spec.schedulingGates");
        ObjectParts read = read(
                "{\"spec\": {\"volumes\": " + times(130_000, "{\"name\": \"v\"}")
                        + ", \"schedulingGates\": [{\"name\": \"g\"}]}}",
                keep);
        assertFalse(read.whole());
        assertTrue(read.size() < 6_000, read.size() + " are kept");
        assertEquals(1, JsonParts.each(read.kept(), "spec", "schedulingGates").count());
    }

    @Test
    void whatIsOnTheWayToAPartIsNotDeep() throws IOException {
        ObjectParts read = read(
                "{\"metadata\": " + "[".repeat(100_000) + "]".repeat(100_000) + ", \"spec\": {\"a\": 1}}",
                Keep.of("metadata.name", "spec.a"));
        assertFalse(read.whole());
        assertEquals("{\"a\":1}", read.kept().get("spec").toString());
    }

    @Test
    void aNumberThatNobodyCanHoldIsAText() throws IOException {
        ObjectParts read = read("{\"a\": 1e9999999999}", Keep.of("a"));
        assertEquals("{\"a\":\"1e9999999999\"}", read.kept().toString());
        assertEquals(Integer.MAX_VALUE, JsonParts.number(read.kept(), "a"));
    }

    @Test
    void howDeepItIsDoesNotMatter() throws IOException {
        String deep = "[".repeat(5_000) + "]".repeat(5_000);
        ObjectParts skipped = read("{\"a\": " + deep + ", \"b\": 1}", Keep.of("b"));
        assertEquals("{\"b\":1}", skipped.kept().toString());
        assertTrue(skipped.whole());
        ObjectParts kept = read("{\"a\": " + deep + ", \"b\": 1}", Keep.of("a", "b"));
        assertEquals("{\"b\":1}", kept.kept().toString());
        assertFalse(kept.whole());
    }
}
