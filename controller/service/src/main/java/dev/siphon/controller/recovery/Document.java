package dev.siphon.controller.recovery;

import com.google.gson.JsonObject;
import java.util.List;

/// An object for `kubectl apply`, with comments for people.
///
/// @param comments one line each
/// @param object empty if there is nothing to apply
public record Document(List<String> comments, JsonObject object) {
    public Document {
        comments = List.copyOf(comments);
    }

    static Document of(JsonObject object) {
        return new Document(List.of(), object);
    }

    /// Returns a document that has nothing to apply and says why.
    static Document remark(String comment) {
        return new Document(List.of(comment), new JsonObject());
    }

    /// Returns the YAML document.
    public String text() {
        StringBuilder text = new StringBuilder("---\n");
        comments.forEach(comment ->
                text.append("# ").append(comment.replaceAll("\\p{Cntrl}", " ")).append('\n'));
        return text.append(YamlText.of(object)).toString();
    }
}
