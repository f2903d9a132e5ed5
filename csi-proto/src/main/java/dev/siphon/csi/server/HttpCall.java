package dev.siphon.csi.server;

import com.google.gson.JsonElement;
import com.google.protobuf.ByteString;
import dev.siphon.csi.DriverException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/// A request to an [HttpServer].
///
/// @param method such as `GET`
/// @param path its parts between slashes, decoded
/// @param parameters of the query, each with its last value
/// @param gone whether nobody waits for the answer any more
public record HttpCall(String method, List<String> path, Map<String, String> parameters, BooleanSupplier gone) {
    public HttpCall {
        path = List.copyOf(path);
        parameters = Map.copyOf(parameters);
    }

    /// What is answered.
    ///
    /// @param status of HTTP (RFC 9110, section 15)
    public record Reply(int status, String contentType, ByteString body) {
        /// An answer for programs.
        public static Reply json(int status, JsonElement body) {
            return new Reply(status, "application/json", ByteString.copyFromUtf8(body + "\n"));
        }

        /// An answer for people.
        public static Reply text(int status, String body) {
            return new Reply(status, "text/plain; charset=utf-8", ByteString.copyFromUtf8(body + "\n"));
        }
    }

    /// What answers.
    @FunctionalInterface
    public interface Pages {
        /// Answers on a thread of its own.
        ///
        /// @throws DriverException becomes the status of HTTP that fits its code, and an object with `code` and
        ///     `message`
        Reply answer(HttpCall call);
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
