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
/// @param path its decoded parts between slashes
/// @param parameters the query's parameters, each with its last value
/// @param gone whether the peer no longer waits for the reply
public record HttpCall(String method, List<String> path, Map<String, String> parameters, BooleanSupplier gone) {
    public HttpCall {
        path = List.copyOf(path);
        parameters = Map.copyOf(parameters);
    }

    /// A reply.
    ///
    /// @param status the HTTP status (RFC 9110, section 15)
    public record Reply(int status, String contentType, ByteString body) {
        /// Returns a reply for programs.
        public static Reply json(int status, JsonElement body) {
            return new Reply(status, "application/json", ByteString.copyFromUtf8(body + "\n"));
        }

        /// Returns a reply for people.
        public static Reply text(int status, String body) {
            return new Reply(status, "text/plain; charset=utf-8", ByteString.copyFromUtf8(body + "\n"));
        }
    }

    /// Serves requests.
    @FunctionalInterface
    public interface Pages {
        /// Returns the reply; runs on a thread of its own.
        ///
        /// @throws DriverException mapped to the matching HTTP status, and an object with `code` and `message`
        Reply answer(HttpCall call);
    }

    /// Returns a parameter that is a whole number; empty if it is absent.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it is not a number from 0 to `most`
    public Optional<Integer> number(String name, int most) {
        return Optional.ofNullable(parameters.get(name)).map(text -> {
            try {
                int number = Integer.parseInt(text);
                if (number >= 0 && number <= most) {
                    return number;
                }
            } catch (NumberFormatException _) {
                // rejected below
            }
            throw new DriverException.InvalidRequest(name + " must be a number from 0 to " + most);
        });
    }
}
