package dev.siphon.csi.fuzz;

import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Tuple;

/// Changes one or two fields of a valid request. Any value that the wire allows can occur; likely mistakes and
/// attacks occur more often.
public final class Mutator {
    /// The depth to which absent nested messages are filled in.
    private static final int DEPTH = 4;

    private static final List<Integer> UNKNOWN_ENUM_VALUES = List.of(-1, 99, Integer.MAX_VALUE);

    /// Strings that attackers and broken callers send.
    private static final List<String> TRICKS = List.of(
            "",
            " ",
            "a\u0000b",
            "\u0000",
            "a\nb",
            "\u001b[31m",
            "\u007f",
            "\u0085",
            "..",
            "../../etc/passwd",
            "/",
            "//",
            "/etc",
            "/proc/self/root",
            "a/../b",
            "%s%n",
            "-1",
            "0",
            "1",
            "9223372036854775808",
            "true",
            ",",
            "secret=x,name=admin",
            "\uD83D\uDE00",
            "\uD800",
            "ünïcode",
            "*",
            "$(reboot)");

    private final Arbitrary<String> texts;

    /// @param words strings that mean something to the receiver: ids of every kind and version, paths, keys
    public Mutator(List<String> words) {
        Arbitrary<String> known = Arbitraries.of(words);
        this.texts = Arbitraries.frequencyOf(
                Tuple.of(8, known),
                Tuple.of(3, Arbitraries.of(TRICKS)),
                Tuple.of(2, known.flatMap(Mutator::bent)),
                Tuple.of(1, Arbitraries.strings().all().ofMaxLength(200)),
                Tuple.of(1, Arbitraries.integers().between(100, 6000).map("x"::repeat)));
    }

    /// Returns `text` with one character inserted, removed or doubled, or with another text appended.
    private static Arbitrary<String> bent(String text) {
        Arbitrary<Integer> place = Arbitraries.integers().between(0, Math.max(0, text.length() - 1));
        return Arbitraries.oneOf(
                place.flatMap(at -> Arbitraries.chars().all().map(c -> text.substring(0, at) + c + text.substring(at))),
                place.map(at -> text.substring(0, at) + text.substring(Math.min(text.length(), at + 1))),
                Arbitraries.of(TRICKS).map(trick -> text + trick),
                Arbitraries.of(TRICKS).map(trick -> trick + text),
                Arbitraries.just(text.toUpperCase(java.util.Locale.ROOT)));
    }

    /// Returns `valid` with one or two fields changed.
    public Arbitrary<Message> nearly(Message valid) {
        Arbitrary<Message> once = changed(valid, 0).map(Mutator::received);
        return Arbitraries.frequencyOf(
                Tuple.of(2, once),
                Tuple.of(1, once.flatMap(message -> changed(message, 0)).map(Mutator::received)));
    }

    /// Parses the message as its receiver does: a map then has each key once.
    private static Message received(Message sent) {
        try {
            return sent.getParserForType().parseFrom(sent.toByteString());
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalArgumentException("what was written cannot be read: " + sent, e);
        }
    }

    private Arbitrary<Message> changed(Message message, int depth) {
        List<Arbitrary<Message>> ways = new ArrayList<>();
        for (FieldDescriptor field : message.getDescriptorForType().getFields()) {
            if (field.isRepeated()) {
                ways.add(repeated(message, field, depth));
            } else if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
                if (depth < DEPTH) {
                    ways.add(inner(message, field, depth));
                }
            } else {
                ways.add(values(field)
                        .map(value -> message.toBuilder().setField(field, value).build()));
            }
        }
        return ways.isEmpty() ? Arbitraries.just(message) : Arbitraries.oneOf(ways);
    }

    private Arbitrary<Message> inner(Message message, FieldDescriptor field, int depth) {
        Message now = (Message) message.getField(field);
        Arbitrary<Message> other = changed(now, depth + 1)
                .map(value -> message.toBuilder().setField(field, value).build());
        Message without = message.toBuilder().clearField(field).build();
        Message empty = message.toBuilder()
                .setField(field, now.getDefaultInstanceForType())
                .build();
        return Arbitraries.frequencyOf(
                Tuple.of(6, other), Tuple.of(1, Arbitraries.just(without)), Tuple.of(1, Arbitraries.just(empty)));
    }

    /// Handles maps too, which are lists of entries on the wire.
    private Arbitrary<Message> repeated(Message message, FieldDescriptor field, int depth) {
        List<Arbitrary<Message>> ways = new ArrayList<>();
        ways.add(Arbitraries.just(message.toBuilder().clearField(field).build()));
        Arbitrary<Object> more = element(message, field, depth);
        ways.add(more.map(
                value -> message.toBuilder().addRepeatedField(field, value).build()));
        for (int i = 0; i < message.getRepeatedFieldCount(field); i++) {
            int at = i;
            Object now = message.getRepeatedField(field, i);
            Arbitrary<Object> other =
                    now instanceof Message inner ? changed(inner, depth + 1).map(value -> value) : values(field);
            ways.add(other.map(value ->
                    message.toBuilder().setRepeatedField(field, at, value).build()));
            ways.add(Arbitraries.just(
                    message.toBuilder().addRepeatedField(field, now).build()));
        }
        return Arbitraries.oneOf(ways);
    }

    private Arbitrary<Object> element(Message message, FieldDescriptor field, int depth) {
        if (field.getJavaType() != FieldDescriptor.JavaType.MESSAGE) {
            return values(field);
        }
        Message empty = message.toBuilder().newBuilderForField(field).build();
        // choosing both fields of a map entry makes a meaningful key more likely
        return changed(empty, depth + 1)
                .flatMap(value -> changed(value, depth + 1))
                .map(value -> value);
    }

    private Arbitrary<Object> values(FieldDescriptor field) {
        return switch (field.getJavaType()) {
            case STRING -> texts.map(text -> text);
            case LONG ->
                Arbitraries.oneOf(
                                Arbitraries.of(-1L, 0L, 1L, Long.MAX_VALUE, Long.MIN_VALUE, 1L << 30, 1L << 62),
                                Arbitraries.longs())
                        .map(number -> number);
            case INT ->
                Arbitraries.oneOf(
                                Arbitraries.of(-1, 0, 1, 2, Integer.MAX_VALUE, Integer.MIN_VALUE),
                                Arbitraries.integers())
                        .map(number -> number);
            case BOOLEAN -> Arbitraries.of(true, false).map(flag -> flag);
            case ENUM ->
                Arbitraries.oneOf(
                                Arbitraries.of(field.getEnumType().getValues()),
                                Arbitraries.of(UNKNOWN_ENUM_VALUES)
                                        .map(number -> field.getEnumType().findValueByNumberCreatingIfUnknown(number)))
                        .map((EnumValueDescriptor value) -> value);
            case FLOAT, DOUBLE, BYTE_STRING, MESSAGE ->
                throw new IllegalArgumentException("no request of CSI has a field like " + field.getFullName());
        };
    }
}
