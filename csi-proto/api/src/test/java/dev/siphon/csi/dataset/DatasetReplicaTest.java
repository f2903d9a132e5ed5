package dev.siphon.csi.dataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetReplica.Order;
import dev.siphon.csi.dataset.DatasetReplica.Question;
import dev.siphon.csi.dataset.DatasetReplica.Report;
import dev.siphon.csi.dataset.DatasetReplica.State;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class DatasetReplicaTest {
    private static final VolumeId.DatasetVolume VOLUME = new VolumeId.DatasetVolume(
            "lab", "cephfs", "0123456789abcdef".repeat(3).substring(0, 40), Optional.empty(), "/datasets/x");
    private static final DatasetAccess.Answer ANSWER = new DatasetAccess.Given(
            "1",
            VOLUME,
            VolumeContext.fromMap(VOLUME, Map.of("monitors", "10.0.0.1:3300")),
            "siphon-dataset.x",
            "sealed");

    private static JsonObject json(String text) {
        return JsonParser.parseString(text).getAsJsonObject();
    }

    @Test
    void anOrderIsReadAsItWasWritten() {
        Order told = new Order("u1.x", "node-1", VOLUME, true, Optional.empty());
        assertEquals(told, Order.ofSpec(told.toSpec()));
        Order answered = new Order("u1.x", "node-1", VOLUME, true, Optional.of(ANSWER));
        assertEquals(answered, Order.ofSpec(answered.toSpec()));
    }

    @Test
    void whatIsWantedNoMoreKeepsNoKey() {
        assertEquals(json("{\"wanted\": true}"), Order.change(true));
        assertEquals(json("{\"wanted\": false, \"access\": null}"), Order.change(false));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"dataset\": \"x\", \"node\": \"n\", \"wanted\": true}",
                "{\"dataset\": \"x\", \"node\": \"n\", \"volume\": \"static:a:b:/c\", \"wanted\": true}",
                "{\"dataset\": \"\", \"node\": \"n\", \"volume\": \"dataset:a:b:c:/d\"}"
            })
    void anythingElseIsNoOrder(String spec) {
        assertThrows(DriverException.InvalidRequest.class, () -> Order.ofSpec(json(spec)));
    }

    @Test
    void reportsAreReadAsTheyWereWritten() {
        Question question = new Question("7", "key");
        for (Report report : List.of(
                Report.of(State.ABSENT),
                Report.failed("no space left"),
                Report.asking(question, Optional.empty()),
                Report.asking(question, Optional.of("no space left")),
                Report.filling(43, 4300, "/mnt/a").withProgress(5000),
                Report.failed("no space left").withPart(43, 4300, "/mnt/a"),
                Report.local(10_000, "/mnt/a"))) {
            assertEquals(Optional.of(report), Report.ofStatus(report.toStatus()));
        }
        assertEquals(State.FAILED, Report.asking(question, Optional.of("why")).state());
    }

    /// A patch keeps the fields that it does not name.
    @Test
    void aReportReplacesAllOfTheLast() {
        assertEquals(
                Report.asking(new Question("7", "key"), Optional.of("why"))
                        .toStatus()
                        .keySet(),
                Report.of(State.ABSENT).toStatus().keySet());
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}", "{\"state\": \"Lost\"}", "{\"state\": 7}"})
    void thereMayBeNoReport(String status) {
        assertTrue(Report.ofStatus(json(status)).isEmpty());
    }

    @Test
    void aNumberThatIsNoneIsZero() {
        Report report = Report.ofStatus(json("{\"state\": \"Filling\", \"percent\": \"many\", \"bytes\": {}}"))
                .orElseThrow();
        assertEquals(0, report.percent());
        assertEquals(0, report.bytes());
    }
}
