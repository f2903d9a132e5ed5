package dev.siphon.controller.volume;

import dev.siphon.controller.identity.Directory;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Quoted;
import java.util.Optional;

/// How a class says who owns its volumes. What the author of a PVC may write decides nothing: a namespace is given to
/// people by whoever administers the cluster.
sealed interface OwnerRule {
    /// Always this account, or this group.
    record Fixed(String account) implements OwnerRule {}

    /// The account that the PVC's namespace names.
    ///
    /// @param prefix what the namespace begins with; the rest is the account
    record OfNamespace(String prefix) implements OwnerRule {
        private String accountOf(String namespace) {
            if (!namespace.startsWith(prefix) || namespace.length() == prefix.length()) {
                throw new DriverException.InvalidRequest("parameter owner: namespace " + Quoted.of(namespace)
                        + " does not begin with " + Quoted.of(prefix) + ", so it names no account");
            }
            return namespace.substring(prefix.length());
        }
    }

    /// What a class writes: `namespace`, `namespace-prefix:user-`, an account, or `group:NAME`.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it is none of these
    static OwnerRule parse(String text) {
        String withPrefix = "namespace-prefix:";
        if (text.equals("namespace")) {
            return new OfNamespace("");
        }
        if (text.startsWith(withPrefix) && text.length() > withPrefix.length()) {
            return new OfNamespace(text.substring(withPrefix.length()));
        }
        if (text.indexOf(':') >= 0 && !text.startsWith(Directory.GROUP)) {
            throw new DriverException.InvalidRequest("parameter owner " + Quoted.of(text)
                    + " must be an account, group:NAME, namespace or namespace-prefix:PREFIX");
        }
        return new Fixed(text);
    }

    /// The account for a PVC in `namespace`.
    ///
    /// @param namespace empty if the provisioner did not say
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the namespace is needed and not known, or names
    ///     no account
    default String account(Optional<String> namespace) {
        return switch (this) {
            case Fixed fixed -> fixed.account();
            case OfNamespace rule ->
                rule.accountOf(namespace.orElseThrow(() -> new DriverException.InvalidRequest(
                        "parameter owner needs the PVC's namespace: run the provisioner with"
                                + " --extra-create-metadata")));
        };
    }

    /// The account that volumes have whatever their namespace.
    default Optional<String> always() {
        return switch (this) {
            case Fixed fixed -> Optional.of(fixed.account());
            case OfNamespace _ -> Optional.empty();
        };
    }
}
