package dev.siphon.node.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.stream.JsonReader;
import dev.siphon.node.device.HeldDevice;
import dev.siphon.node.pod.Pod;
import java.io.IOException;
import java.io.StringReader;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Parses attributes as drivers write them.
final class NodeDevicesTest {
    private static final Pod POD = new Pod("u1", "train", "1-2-3");

    private static JsonObject slice(String driver, int generation, String device, String attributes) {
        return json("""
                {"spec": {"driver": "%s", "nodeName": "n", "pool": {"name": "n", "generation": %d},
                          "devices": [{"name": "%s", "attributes": {%s}}]}}
                """.formatted(driver, generation, device, attributes));
    }

    private static JsonObject json(String text) {
        return JsonParser.parseString(text).getAsJsonObject();
    }

    private static String shown(HeldDevice held) {
        return held.resource() + " " + String.join(" ", held.ids()) + " " + String.join(" ", held.otherNames()) + " "
                + held.numaNodes().stream().sorted().map(String::valueOf).collect(Collectors.joining(","));
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            # NVIDIA, whole, partition (MIG), and as drivers before the standard attributes
            gpu.nvidia.com | 'resource.kubernetes.io/pciBusID': {'string': '0000:07:00.0'}, 'uuid': {'string': 'GPU-1'}, \
            'type': {'string': 'gpu'}, 'resource.kubernetes.io/numaNode': {'int': 3} | 0000:07:00.0 GPU-1 n/d 3
            gpu.nvidia.com | 'uuid': {'string': 'MIG-1'}, 'parentUUID': {'string': 'GPU-1'}, 'type': {'string': 'mig'}, \
            'resource.kubernetes.io/numaNode': {'ints': [3]} | MIG-1 GPU-1 n/d 3
            gpu.nvidia.com | 'gpu.nvidia.com/uuid': {'string': 'GPU-1'}, 'pcieBusID': {'string': '00000000:07:00.0'} \
            | 00000000:07:00.0 GPU-1 n/d ''
            # AMD, whole and a partition
            gpu.amd.com | 'pciAddr': {'string': '0000:43:00.0'}, 'cardIndex': {'int': 1} | 0000:43:00.0 n/d ''
            gpu.amd.com | 'parentPciAddr': {'string': '0000:43:00.0'}, 'type': {'string': 'amdgpu-partition'} \
            | 0000:43:00.0 n/d ''
            # Intel: both old and new
            gpu.intel.com | 'pciAddress': {'string': '0000:03:00.0'}, \
            'resource.kubernetes.io/pciBusID': {'string': '0000:03:00.0'} | 0000:03:00.0 n/d ''
            # of another driver's domain, of another type, or not known where it is
            gpu.example.com | 'nic.example.com/pciBusID': {'string': '0000:03:00.0'}, 'uuid': {'int': 7} | n/d '' ''
            gpu.example.com | 'numaNode': {'int': -1} | n/d '' ''
            gpu.example.com | 'numaNode': {'ints': [0, 1]} | n/d '' 0,1
            """)
    void whatDriversSayNamesADevice(String driver, String attributes, String names) {
        AllocatedDevice device = new AllocatedDevice(driver, "n", "d");
        NodeDevices known = known(slice(driver, 1, "d", attributes.replace('\'', '"')));
        assertTrue(known.know(Set.of(device)));
        assertEquals(
                (driver + " " + names).replace("''", "").replaceAll(" +", " ").strip(),
                shown(known.held(device)).replaceAll(" +", " ").strip());
    }

    private static NodeDevices known(JsonObject... slices) {
        NodeDevices.Slices read = new NodeDevices.Slices();
        Stream.of(slices).forEach(read::add);
        return read.devices();
    }

    @Test
    void ofAPoolOnlyTheNewestGenerationCounts() {
        NodeDevices known = known(
                slice("gpu.example.com", 2, "new", ""),
                slice("gpu.example.com", 1, "old", ""),
                slice("nic.example.com", 1, "nic", ""));
        assertTrue(known.know(Set.of(
                new AllocatedDevice("gpu.example.com", "n", "new"),
                new AllocatedDevice("nic.example.com", "n", "nic"))));
        assertFalse(known.know(Set.of(new AllocatedDevice("gpu.example.com", "n", "old"))));
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', textBlock = """
            reserved      | {'status': {'reservedFor': [FOR], 'allocation': {'devices': {'results': [DEVICE]}}}} | 1
            twice, shared | {'status': {'reservedFor': [FOR], 'allocation': {'devices': {'results': [DEVICE, DEVICE]}}}} | 1
            to look at    | {'status': {'reservedFor': [FOR], 'allocation': {'devices': {'results': [{'adminAccess': true}]}}}} | 0
            of nobody     | {'status': {'allocation': {'devices': {'results': [DEVICE]}}}} | 0
            not yet       | {'status': {'reservedFor': [FOR]}} | 0
            new           | {'spec': {}} | 0
            of no pod     | {'status': {'reservedFor': [{'apiGroup': 'x', 'resource': 'pods', 'name': 'train', 'uid': '1-2-3'}], \
            'allocation': {'devices': {'results': [DEVICE]}}}} | 0
            nonsense      | {'status': {'reservedFor': 'all', 'allocation': []}} | 0
            """)
    void claimsSayWhatAPodWasAllocated(String ignored, String claim, int count) throws IOException {
        String text = claim.replace("FOR", "{'resource': 'pods', 'name': 'train', 'uid': '1-2-3'}")
                .replace("DEVICE", "{'request': 'r', 'driver': 'gpu.example.com', 'pool': 'n', 'device': 'd'}");
        assertEquals(
                count,
                AllocatedDevice.of(new JsonReader(new StringReader(text.replace('\'', '"'))), POD)
                        .size());
    }
}
