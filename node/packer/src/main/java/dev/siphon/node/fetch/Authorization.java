package dev.siphon.node.fetch;

import dev.siphon.node.fetch.FetchFailure.Reason;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/// The value of the header `Authorization`; empty for none. Its text never shows it.
public record Authorization(String header) {
    public static final Authorization NONE = new Authorization("");

    /// @throws FetchFailure WrongKey if a header cannot hold it
    public Authorization {
        if (header.chars().anyMatch(each -> each < ' ' || each > '~')) {
            throw new FetchFailure(
                    Reason.WRONG_KEY, "the token has a character that no token can have: store it without line breaks");
        }
    }

    /// A token (RFC 6750).
    public static Authorization bearer(String token) {
        return new Authorization("Bearer " + token);
    }

    /// A name and its password (RFC 7617).
    public static Authorization basic(String name, String password) {
        byte[] both = (name + ":" + password).getBytes(StandardCharsets.UTF_8);
        return new Authorization("Basic " + Base64.getEncoder().encodeToString(both));
    }

    @Override
    public String toString() {
        return "***";
    }
}
