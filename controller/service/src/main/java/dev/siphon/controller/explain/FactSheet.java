package dev.siphon.controller.explain;

import dev.siphon.csi.QuotedText;
import java.util.ArrayList;
import java.util.List;

/// What is known about one thing, in the order in which people read it.
public final class FactSheet {
    /// One fact.
    ///
    /// @param what its kind, such as `account`
    public record Fact(String what, String value) {}

    private final List<Fact> facts = new ArrayList<>();

    /// Adds a fact; a kind may occur several times.
    FactSheet add(String what, String value) {
        facts.add(new Fact(what, QuotedText.printable(value)));
        return this;
    }

    /// Returns all facts.
    public List<Fact> facts() {
        return List.copyOf(facts);
    }
}
