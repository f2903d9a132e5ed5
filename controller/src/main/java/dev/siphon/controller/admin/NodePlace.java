package dev.siphon.controller.admin;

import dev.siphon.controller.key.ClientSession;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.NodeId;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/// A node as an administrator names it: by the host name that its clients report, by its address, or by both as
/// `NAME@ADDRESS`, which is its `node_id` in attach mode.
record NodePlace(Optional<String> name, Optional<String> address) implements Predicate<ClientSession> {
    private static final Pattern ADDRESS = Pattern.compile("[0-9]{1,3}(\\.[0-9]{1,3}){3}|[0-9A-Fa-f:]*:[0-9A-Fa-f:]*");

    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `text` has none of these forms
    static NodePlace parse(String text) {
        if (ADDRESS.matcher(text).matches()) {
            return new NodePlace(Optional.empty(), Optional.of(text));
        }
        NodeId node = NodeId.parse(text);
        return new NodePlace(Optional.of(node.name()), node.address());
    }

    /// Whether the client says that it is there, or comes from its address.
    @Override
    public boolean test(ClientSession session) {
        return name.filter(session.host()::equals).isPresent()
                || address.filter(session.address()::equals).isPresent();
    }
}
