package dev.siphon.controller.explain;

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
        facts.add(new Fact(what, printable(value)));
        return this;
    }

    /// Returns all facts.
    public List<Fact> facts() {
        return List.copyOf(facts);
    }

    /// Returns text of others as one line without control characters.
    static String printable(String text) {
        StringBuilder out = new StringBuilder();
        text.codePoints().forEach(c -> {
            boolean isUnsafe = Character.isISOControl(c)
                    || Character.getType(c) == Character.FORMAT
                    || Character.getType(c) == Character.SURROGATE;
            out.appendCodePoint(isUnsafe ? ' ' : c);
        });
        return out.toString().strip();
    }
}
