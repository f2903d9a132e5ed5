package dev.siphon.controller.recovery;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.Map;
import java.util.regex.Pattern;

/// Formats objects as YAML: one line per key and list item, with values in JSON syntax, which YAML includes.
final class YamlText {
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z][A-Za-z0-9./-]*");

    /// Words that YAML does not take as text.
    private static final Pattern WORD = Pattern.compile("(?i)true|false|yes|no|on|off|y|n|null");

    private static final String STEP = "  ";

    private YamlText() {}

    static String of(JsonObject object) {
        StringBuilder text = new StringBuilder();
        object(object, "", text);
        return text.toString();
    }

    private static void object(JsonObject object, String indent, StringBuilder text) {
        for (Map.Entry<String, JsonElement> each : object.entrySet()) {
            text.append(indent).append(word(each.getKey())).append(':');
            value(each.getValue(), indent, text);
            indent = indent.replace('-', ' ');
        }
    }

    private static void value(JsonElement value, String indent, StringBuilder text) {
        if (value.isJsonObject() && !value.getAsJsonObject().isEmpty()) {
            text.append('\n');
            object(value.getAsJsonObject(), indent.replace('-', ' ') + STEP, text);
        } else if (value.isJsonArray() && !value.getAsJsonArray().isEmpty()) {
            text.append('\n');
            list(value.getAsJsonArray(), indent.replace('-', ' ') + STEP, text);
        } else {
            text.append(' ').append(scalar(value)).append('\n');
        }
    }

    private static void list(JsonArray list, String indent, StringBuilder text) {
        for (JsonElement each : list) {
            if (each.isJsonObject() && !each.getAsJsonObject().isEmpty()) {
                object(each.getAsJsonObject(), indent + "- ", text);
            } else {
                // a list within a list stays JSON
                text.append(indent).append("- ").append(scalar(each)).append('\n');
            }
        }
    }

    private static String scalar(JsonElement value) {
        return value.isJsonPrimitive() && value.getAsJsonPrimitive().isString()
                ? word(value.getAsString())
                : value.toString();
    }

    private static String word(String text) {
        return PLAIN.matcher(text).matches() && !WORD.matcher(text).matches()
                ? text
                : new com.google.gson.JsonPrimitive(text).toString();
    }
}
