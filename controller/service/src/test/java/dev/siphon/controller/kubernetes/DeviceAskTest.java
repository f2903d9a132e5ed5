package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class DeviceAskTest {
    /// Requests from the drivers' own charts, and other valid ones.
    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '#',
            quoteCharacter = '`',
            value = {
                "as most have it     # device.driver == 'gpu.example.com'                                  # gpu.example.com",
                "other quotes        # device.driver == \"gpu.intel.com\"                                    # gpu.intel.com",
                "NVIDIA's            # device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu' # gpu.nvidia.com",
                "without spaces      # device.driver=='x.y'&&true                                           # x.y",
                "or another one      # device.driver == 'x.y' || device.driver == 'z.y'                     #",
                "or, further behind  # device.driver == 'x.y' && true || true                               #",
                "as a condition      # device.driver == 'x.y' ? true : false                                #",
                "another one's       # device.driver != 'x.y'                                               #",
                "not first           # true && device.driver == 'x.y'                                       #",
                "no end              # device.driver == 'x.y                                                #",
                "quotes that differ  # device.driver == 'x.y\"                                               #",
            })
    void theDriverOfAClassIsWhatItsSelectorBeginsWith(String what, String expression, String driver) {
        JsonObject cel = new JsonObject();
        cel.addProperty("expression", expression);
        JsonObject selector = new JsonObject();
        selector.add("cel", cel);
        JsonArray selectors = new JsonArray();
        selectors.add(selector);
        JsonObject spec = new JsonObject();
        spec.add("selectors", selectors);
        assertEquals(Optional.ofNullable(driver), DeviceAsk.driver(spec), what);
    }

    @Test
    void aClassWithoutSelectorsIsOfNoDriver() {
        assertEquals(Optional.empty(), DeviceAsk.driver(new JsonObject()));
    }

    @Test
    void whatCannotBeCountedIsLeftOut() {
        JsonObject spec = JsonParser.parseString("""
                        {"devices": {"requests": [
                          {"name": "one", "exactly": {"deviceClassName": "gpu"}},
                          {"name": "many", "exactly": {"deviceClassName": "nic", "allocationMode": "ExactCount", "count": 3}},
                          {"name": "all", "exactly": {"deviceClassName": "gpu", "allocationMode": "All"}},
                          {"name": "watched", "exactly": {"deviceClassName": "gpu", "adminAccess": true}},
                          {"name": "either", "firstAvailable": [{"name": "a", "deviceClassName": "gpu"}]}]}}
                        """).getAsJsonObject();
        assertEquals(List.of(new DeviceAsk("gpu", 1), new DeviceAsk("nic", 3)), DeviceAsk.of(spec));
        assertEquals(List.of(), DeviceAsk.of(new JsonObject()));
    }
}
