package dev.siphon.controller.ceph.rados;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.List;

/// A command to a mon or mgr daemon, in the JSON form that `ceph --verbose` shows.
///
/// @param daemon the type of daemon that runs it
/// @param prefix the command's words, for example `fs subvolume info`
/// @param repeatable whether it only reads, so that it can be retried if its reply was lost
/// @param arguments the other fields of the JSON
public record CephCommand(Daemon daemon, String prefix, boolean repeatable, JsonObject arguments) {
    /// The daemons that take commands through librados.
    public enum Daemon {
        MON,
        MGR;

        @Override
        public String toString() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }
    }

    public CephCommand {
        arguments = arguments.deepCopy();
    }

    /// Returns a command that only reads.
    public static CephCommand read(Daemon daemon, String prefix) {
        return new CephCommand(daemon, prefix, true, new JsonObject());
    }

    /// Returns a command that changes something.
    public static CephCommand change(Daemon daemon, String prefix) {
        return new CephCommand(daemon, prefix, false, new JsonObject());
    }

    /// Returns the command with one more argument.
    public CephCommand with(String name, String value) {
        return with(name, new JsonPrimitive(value));
    }

    /// Returns the command with one more argument.
    public CephCommand with(String name, long value) {
        return with(name, new JsonPrimitive(value));
    }

    /// Returns the command with one more argument.
    public CephCommand with(String name, double value) {
        return with(name, new JsonPrimitive(value));
    }

    /// Returns the command with one more argument.
    public CephCommand with(String name, boolean value) {
        return with(name, new JsonPrimitive(value));
    }

    /// Returns the command with one more argument, a list.
    public CephCommand with(String name, List<String> values) {
        JsonArray array = new JsonArray();
        values.forEach(array::add);
        return with(name, array);
    }

    private CephCommand with(String name, JsonElement value) {
        JsonObject more = arguments.deepCopy();
        more.add(name, value);
        return new CephCommand(daemon, prefix, repeatable, more);
    }

    @Override
    public JsonObject arguments() {
        return arguments.deepCopy();
    }

    /// Returns the text to send.
    String json() {
        JsonObject json = arguments.deepCopy();
        json.addProperty("prefix", prefix);
        json.addProperty("format", "json");
        return json.toString();
    }
}
