package dev.siphon.node;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.siphon.csi.report.Table;
import dev.siphon.csi.report.Table.Cell;
import dev.siphon.node.device.HeldDevice;
import dev.siphon.node.device.Machine;
import dev.siphon.node.device.PodDevices.Answer;
import dev.siphon.node.topology.CacheRanking;
import dev.siphon.node.topology.DevicePlace;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/// The output of `siphon topology --pod` for one pod.
///
/// @param pod NAMESPACE/NAME
/// @param ranking the cache directories, by distance to the pod's GPUs
record PodReport(String pod, Answer answer, CacheRanking ranking) {
    static PodReport of(String pod, Answer answer, Machine machine) {
        List<DevicePlace> places = switch (answer) {
            case Answer.Held(var devices) -> machine.places(devices);
            case Answer.Unknown _ -> List.of();
        };
        return new PodReport(pod, answer, CacheRanking.of(machine.caches(), places));
    }

    List<String> text() {
        return switch (answer) {
            case Answer.Unknown(var why) -> List.of("pod " + pod + ": its devices are unknown: " + why);
            case Answer.Held(var devices) -> {
                List<String> lines = new ArrayList<>();
                lines.add("pod " + pod + " holds " + (devices.isEmpty() ? "no device" : ""));
                Table held = new Table("resource", "devices", "numa");
                devices.forEach(device -> held.row(
                        new Cell.Text(device.resource()),
                        new Cell.Text(String.join(", ", device.ids())),
                        new Cell.Text(device.numaNodes().stream()
                                .sorted()
                                .map(String::valueOf)
                                .collect(Collectors.joining(", ")))));
                if (!devices.isEmpty()) {
                    lines.addAll(held.text());
                }
                if (!ranking.devices().isEmpty()) {
                    lines.add("");
                    lines.add("to its GPUs "
                            + ranking.devices().stream().map(DevicePlace::shown).collect(Collectors.joining(", ")));
                    Table near = new Table("directory", "weight", "distance");
                    ranking.directories()
                            .forEach(each -> near.row(
                                    new Cell.Text(each.directory().toString()),
                                    new Cell.Text(String.valueOf(each.weight())),
                                    new Cell.Text(each.distance().label())));
                    lines.addAll(near.text());
                }
                yield lines;
            }
        };
    }

    /// Returns the report as JSON. Omits unknown values; `unknown` then holds the reason.
    JsonObject json() {
        JsonObject json = new JsonObject();
        json.addProperty("name", pod);
        switch (answer) {
            case Answer.Unknown(var why) -> json.addProperty("unknown", why);
            case Answer.Held(var devices) -> {
                JsonArray held = new JsonArray();
                devices.forEach(device -> held.add(json(device)));
                json.add("devices", held);
                JsonArray near = new JsonArray();
                ranking.directories().forEach(each -> near.add(json(each)));
                json.add("nearest_first", near);
            }
        }
        return json;
    }

    private static JsonObject json(HeldDevice device) {
        JsonObject json = new JsonObject();
        json.addProperty("resource", device.resource());
        JsonArray ids = new JsonArray();
        device.ids().forEach(ids::add);
        json.add("ids", ids);
        JsonArray nodes = new JsonArray();
        device.numaNodes().stream().sorted().forEach(nodes::add);
        json.add("numa_nodes", nodes);
        return json;
    }

    private static JsonObject json(CacheRanking.Ranked each) {
        JsonObject json = new JsonObject();
        json.addProperty("directory", each.directory().toString());
        json.addProperty("weight", each.weight());
        json.addProperty("distance", each.distance().label());
        return json;
    }
}
