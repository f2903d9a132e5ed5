package dev.siphon.csi.fuzz;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import io.grpc.Channel;
import io.grpc.Status;
import io.grpc.Status.Code;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;

/// An almost valid request and the RPC that it is sent to.
public record Attempt(Rpc<?> rpc, Message request) {
    /// Codes that no caller can cause or act on.
    private static final Set<Code> NEVER =
            Set.of(Code.INTERNAL, Code.UNKNOWN, Code.DEADLINE_EXCEEDED, Code.UNAVAILABLE, Code.DATA_LOSS);

    /// Returns attempts at `rpcs`, each RPC equally often.
    public static Arbitrary<Attempt> at(List<Rpc<?>> rpcs, List<String> words) {
        Mutator mutator = new Mutator(words);
        return Arbitraries.of(rpcs)
                .flatMap(rpc -> mutator.nearly(rpc.valid()).map(request -> new Attempt(rpc, request)));
    }

    /// Sends the request, and checks that an error names what the caller must correct.
    ///
    /// @return whether the status was OK
    public boolean send(Channel channel) {
        Status status = rpc.answer(channel, request);
        if (status.isOk()) {
            return true;
        }
        String said = String.valueOf(status.getDescription());
        assertFalse(NEVER.contains(status.getCode()), () -> this + " is answered " + status);
        Set<String> names = new HashSet<>();
        addFields(request.getDescriptorForType(), names);
        addTexts(request, names);
        assertTrue(
                names.stream().anyMatch(said::contains),
                () -> this + " is answered with no field, nor anything that a field names: " + said);
        assertTrue(said.chars().noneMatch(Character::isISOControl), () -> "control characters in: " + said);
        return false;
    }

    private static void addFields(Descriptor type, Set<String> names) {
        for (FieldDescriptor field : type.getFields()) {
            if (names.add(field.getName())
                    && field.getJavaType() == FieldDescriptor.JavaType.MESSAGE
                    && !field.isMapField()) {
                addFields(field.getMessageType(), names);
            }
        }
    }

    /// Collects the texts by which a request names its objects. A single character names nothing.
    private static void addTexts(Message message, Set<String> texts) {
        message.getAllFields().forEach((_, value) -> {
            for (Object each : value instanceof List<?> list ? list : List.of(value)) {
                if (each instanceof Message inner) {
                    addTexts(inner, texts);
                } else if (each instanceof String text && text.length() > 1) {
                    texts.add(text);
                }
            }
        });
    }

    @Override
    public String toString() {
        return rpc + " "
                + com.google.protobuf.TextFormat.printer()
                        .emittingSingleLine(true)
                        .printToString(request);
    }
}
