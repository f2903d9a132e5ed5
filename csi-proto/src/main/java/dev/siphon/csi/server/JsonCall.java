package dev.siphon.csi.server;

import com.google.gson.JsonElement;
import dev.siphon.csi.DriverException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/// A request to a [JsonServer].
///
/// @param method such as `GET`
/// @param path its parts between slashes, decoded
/// @param parameters of the query, each with its last value
/// @param gone whether nobody waits for the answer any more
public record JsonCall(String method, List<String> path, Map<String, String> parameters, BooleanSupplier gone) {
    public JsonCall {
        path = List.copyOf(path);
        parameters = Map.copyOf(parameters);
    }

    /// What is answered.
    ///
    /// @param status of HTTP (RFC 9110, section 15)
    public record Reply(int status, JsonElement body) {}

    /// What answers.
    @FunctionalInterface
    public interface Pages {
        /// Answers on a thread of its own.
        ///
        /// @throws DriverException becomes the status of HTTP that fits its code, and an object with `code` and
        ///     `message`
        Reply answer(JsonCall call);
    }

    /// A parameter that is a whole number; empty if it was not given.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it is something else, or not from 0 to `most`
    public Optional<Integer> number(String name, int most) {
        return Optional.ofNullable(parameters.get(name)).map(text -> {
            try {
                int number = Integer.parseInt(text);
                if (number >= 0 && number <= most) {
                    return number;
                }
            } catch (NumberFormatException _) {
                // said below
            }
            throw new DriverException.InvalidRequest(name + " must be a number from 0 to " + most);
        });
    }
}
