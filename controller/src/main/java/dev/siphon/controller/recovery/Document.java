package dev.siphon.controller.recovery;

import com.google.gson.JsonObject;
import java.util.List;

/// An object for `kubectl apply`, with what a person should know of it.
///
/// @param comments a line each
/// @param object empty where there is nothing to be applied
public record Document(List<String> comments, JsonObject object) {
    public Document {
        comments = List.copyOf(comments);
    }

    static Document of(JsonObject object) {
        return new Document(List.of(), object);
    }

    /// Nothing to apply, and why.
    static Document remark(String comment) {
        return new Document(List.of(comment), new JsonObject());
    }

    /// As a document of YAML.
    public String text() {
        StringBuilder text = new StringBuilder("---\n");
        comments.forEach(comment ->
                text.append("# ").append(comment.replaceAll("\\p{Cntrl}", " ")).append('\n'));
        return text.append(YamlText.of(object)).toString();
    }
}
