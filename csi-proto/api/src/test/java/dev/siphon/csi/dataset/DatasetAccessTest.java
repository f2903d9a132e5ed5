package dev.siphon.csi.dataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class DatasetAccessTest {
    private static final VolumeId.DatasetVolume VOLUME = new VolumeId.DatasetVolume(
            "lab", "cephfs", "0123456789abcdef".repeat(3).substring(0, 40), Optional.of("0123456789ab"), "/datasets/x");

    private static JsonObject json(String text) {
        return JsonParser.parseString(text).getAsJsonObject();
    }

    @Test
    void questionAndAnswersAreReadAsTheyWereWritten() {
        DatasetAccess.Asked asked = new DatasetAccess.Asked("u1/x", "node-1", "train", "uid", "key", "1");
        assertEquals(asked, DatasetAccess.Asked.ofSpec(asked.toSpec()));
        VolumeContext context =
                VolumeContext.fromMap(VOLUME, Map.of("monitors", "[v2:10.0.0.1:3300,v1:10.0.0.1:6789]"));
        DatasetAccess.Answer given = new DatasetAccess.Given("1", VOLUME, context, "siphon-dataset.x", "sealed");
        assertEquals(Optional.of(given), DatasetAccess.Answer.ofStatus(given.toStatus()));
        DatasetAccess.Answer refused =
                new DatasetAccess.Refused("1", new DriverException.AccessDenied("namespace u2 is no reader"));
        DatasetAccess.Refused read = (DatasetAccess.Refused)
                DatasetAccess.Answer.ofStatus(refused.toStatus()).orElseThrow();
        assertEquals("1", read.request());
        assertEquals(DriverException.AccessDenied.class, read.why().getClass());
        assertEquals("namespace u2 is no reader", read.why().getMessage());
    }

    @Test
    void thereMayBeNoAnswerYet() {
        assertEquals(Optional.empty(), DatasetAccess.Answer.ofStatus(new JsonObject()));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"request\":\"1\"}",
                "{\"request\":\"1\",\"code\":\"ABORTED\"}",
                "{\"request\":\"1\",\"volume\":\"static:a:b:/c\",\"userID\":\"u\",\"sealedKey\":\"k\"}",
                "{\"request\":\"1\",\"volume\":7}"
            })
    void anotherAnswerIsNone(String status) {
        assertThrows(DriverException.class, () -> DatasetAccess.Answer.ofStatus(json(status)));
    }

    @Test
    void aQuestionSaysEverything() {
        JsonObject spec = new DatasetAccess.Asked("u1/x", "node-1", "train", "uid", "key", "1").toSpec();
        for (String name : spec.deepCopy().keySet()) {
            JsonObject less = spec.deepCopy();
            less.remove(name);
            assertThrows(DriverException.InvalidRequest.class, () -> DatasetAccess.Asked.ofSpec(less), name);
        }
    }
}
