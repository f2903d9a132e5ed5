package dev.siphon.csi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

final class JsonLineEncoderTest {
    @Test
    void keyValuesAreFieldsOfTheirOwnType() {
        try (RecordedLog log = RecordedLog.of(JsonLineEncoderTest.class)) {
            JsonObject tree = new JsonObject();
            tree.add("a", new JsonPrimitive(1));
            LoggerFactory.getLogger(JsonLineEncoderTest.class)
                    .atInfo()
                    .addKeyValue("text", "a\"b\n\u0000")
                    .addKeyValue("number", 7)
                    .addKeyValue("flag", true)
                    .addKeyValue("tree", tree)
                    .addKeyValue("other", Thread.State.NEW)
                    .addKeyValue("nothing", (Object) null)
                    .log("a {} message", "plain");
            JsonObject line = log.lines().getFirst();
            assertEquals("a plain message", line.get("message").getAsString());
            assertEquals("JsonLineEncoderTest", line.get("logger").getAsString());
            assertEquals("INFO", line.get("level").getAsString());
            assertTrue(Instant.parse(line.get("time").getAsString())
                    .isBefore(Instant.now().plusSeconds(1)));
            assertEquals("a\"b\n\u0000", line.get("text").getAsString());
            assertEquals(new JsonPrimitive(7), line.get("number"));
            assertEquals(new JsonPrimitive(true), line.get("flag"));
            assertEquals(tree, line.get("tree"));
            assertEquals("NEW", line.get("other").getAsString());
            assertTrue(!line.has("nothing") || line.get("nothing").isJsonNull());
        }
    }

    @Test
    void whatWasThrownIsOneField() {
        try (RecordedLog log = RecordedLog.of(JsonLineEncoderTest.class)) {
            LoggerFactory.getLogger(JsonLineEncoderTest.class)
                    .atError()
                    .setCause(new IllegalStateException("why", new IllegalArgumentException("deeper")))
                    .log("it failed");
            String stack = log.lines().getFirst().get("stack").getAsString();
            assertTrue(stack.startsWith("java.lang.IllegalStateException: why\n"), stack);
            assertTrue(stack.contains("IllegalArgumentException: deeper"), stack);
        }
    }
}
