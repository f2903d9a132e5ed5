package dev.siphon.controller.volume;

import dev.siphon.controller.identity.AccountDirectory;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/// How a class determines the owner of its volumes. [Owners] applies it.
public sealed interface OwnerRule {
    /// Always this account or group, whatever a claim names.
    record Fixed(String account) implements OwnerRule {}

    /// The account that the claim's namespace names.
    ///
    /// @param prefix the prefix of the namespace; the rest names the account
    record OfNamespace(String prefix) implements OwnerRule {
        /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the namespace names no account
        String accountOf(String namespace) {
            if (!namespace.startsWith(prefix) || namespace.length() == prefix.length()) {
                throw new DriverException.InvalidRequest("parameter owner: namespace " + QuotedText.of(namespace)
                        + " does not begin with " + QuotedText.of(prefix) + ", so it names no account");
            }
            return namespace.substring(prefix.length());
        }
    }

    /// The account that an annotation of the claim's namespace names. Whoever may change the Namespace object
    /// controls it.
    ///
    /// @param key the annotation's key
    record OfAnnotation(String key) implements OwnerRule {
        private static final String BEGIN = "namespace-annotation:";

        /// A name of at most 63 characters, after an optional domain (Kubernetes, "Annotations": syntax).
        private static final Pattern KEY = Pattern.compile(
                "(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?/)?" + "[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?");

        /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `key` is invalid
        public OfAnnotation {
            if (!KEY.matcher(key).matches()) {
                throw new DriverException.InvalidRequest("parameter owner: " + QuotedText.of(key)
                        + " is not the key of an annotation; expected " + BEGIN + "KEY or " + BEGIN + "DOMAIN/KEY");
            }
        }

        /// Returns whether a class's parameter has the form of this rule.
        static boolean isMeant(String text) {
            return text.startsWith(BEGIN);
        }
    }

    /// Parses what a class may name: `namespace`, `namespace-prefix:user-`, `namespace-annotation:KEY`, an account,
    /// or `group:NAME`.
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
        if (OfAnnotation.isMeant(text)) {
            return new OfAnnotation(text.substring(OfAnnotation.BEGIN.length()));
        }
        if (text.indexOf(':') >= 0 && !text.startsWith(AccountDirectory.GROUP)) {
            throw new DriverException.InvalidRequest("parameter owner " + QuotedText.of(text)
                    + " must be an account, group:NAME, namespace, namespace-prefix:PREFIX or"
                    + " namespace-annotation:KEY");
        }
        return new Fixed(text);
    }

    /// Returns the account that this rule selects for a namespace; empty if none.
    ///
    /// @param annotations the namespace's annotations
    default Optional<String> accountOf(String namespace, Map<String, String> annotations) {
        return switch (this) {
            case Fixed fixed -> Optional.of(fixed.account());
            case OfNamespace of ->
                Optional.of(namespace)
                        .filter(name -> name.startsWith(of.prefix())
                                && name.length() > of.prefix().length())
                        .map(of::accountOf);
            case OfAnnotation of ->
                Optional.ofNullable(annotations.get(of.key()))
                        .map(String::strip)
                        .filter(name -> !name.isEmpty());
        };
    }

    /// Returns the account that owns all volumes; empty if it depends on the namespace.
    default Optional<String> always() {
        return switch (this) {
            case Fixed fixed -> Optional.of(fixed.account());
            case OfNamespace _, OfAnnotation _ -> Optional.empty();
        };
    }
}
