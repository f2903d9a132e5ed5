package dev.siphon.node.kubernetes;

import com.google.gson.JsonElement;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.MalformedJsonException;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import dev.siphon.csi.fuzz.ParserFuzz;
import dev.siphon.node.pod.Pod;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/// Fuzzes what a node reads from the API server: tenants' claims, drivers' slices, and the controller's objects.
final class AnswersParsingFuzzTest {
    private static final Pod POD = new Pod("a", "p", "u");

    private static final String CLAIMS = """
            [{"metadata":{"name":"c","labels":{"a":"b"}},"spec":{"devices":{"requests":[{"name":"r","count":1}]}},
              "status":{"reservedFor":[{"resource":"pods","name":"p","uid":"u"}],"allocation":{"devices":{"results":
              [{"driver":"gpu.nvidia.com","pool":"n","device":"gpu-0","adminAccess":false},
               {"driver":"x","pool":"n","device":"d","adminAccess":true}]}}}}]""";

    private static final String SLICE = """
            {"spec":{"driver":"gpu.nvidia.com","nodeName":"n","pool":{"name":"n","generation":3,"resourceSliceCount":1},
             "devices":[{"name":"gpu-0","attributes":{"resource.kubernetes.io/pciBusID":{"string":"0000:01:00.0"},
              "uuid":{"string":"GPU-1"},"numaNode":{"ints":[0,1]},"dra.net/numaNode":{"int":0}}}]}}""";

    private static JsonReader reader(byte[] bytes) {
        return new JsonReader(new InputStreamReader(new ByteArrayInputStream(bytes), StandardCharsets.UTF_8));
    }

    /// The declared exceptions are those that [ClaimsQuestion] handles as an invalid list.
    @Test
    void claims() {
        ParserFuzz.of(
                        "ResourceClaims",
                        ParserFuzz.texts(CLAIMS),
                        bytes -> JsonFields.array(reader(bytes), claim -> AllocatedDevice.of(claim, POD)),
                        MalformedJsonException.class,
                        EOFException.class,
                        JsonParseException.class,
                        IllegalStateException.class)
                .run();
    }

    @Test
    void slices() {
        ParserFuzz.of(
                        "ResourceSlices",
                        ParserFuzz.texts(SLICE),
                        bytes -> {
                            NodeDevices.Slices slices = new NodeDevices.Slices();
                            JsonElement read = JsonParser.parseReader(reader(bytes));
                            if (read.isJsonObject()) {
                                slices.add(read.getAsJsonObject());
                            }
                            slices.devices();
                        },
                        JsonParseException.class)
                .run();
    }

    @Test
    void configMapOfGrants() {
        String grants = Grants.NONE.toJson().replace("\"", "\\\"").strip();
        ParserFuzz.of(
                        "ConfigMap of grants",
                        ParserFuzz.texts(
                                "{\"metadata\":{\"name\":\"x\"},\"data\":{\"grants.json\":\"" + grants + "\"}}"),
                        bytes -> GrantsConfigMap.entry(ParserFuzz.text(bytes)).ifPresent(Grants::parse),
                        DriverException.BackendFault.class)
                .run();
    }

    @Test
    void answersAboutDatasets() {
        ParserFuzz.of(
                        "DatasetAccess objects",
                        ParserFuzz.texts(
                                "{\"metadata\":{\"name\":\"x\"},\"spec\":{},\"status\":{\"request\":\"r\",\"code\":"
                                        + "\"NOT_FOUND\",\"message\":\"there is none\"}}"),
                        bytes -> DatasetAccessApi.status(ParserFuzz.text(bytes)),
                        DriverException.BackendFault.class)
                .run();
    }
}
