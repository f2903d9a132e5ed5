package dev.siphon.controller.volume;

import dev.siphon.controller.identity.AccountDirectory;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/// How a class says who owns its volumes. [Owners] applies it.
public sealed interface OwnerRule {
    /// Always this account, or this group. Nothing that a PVC says changes it.
    record Fixed(String account) implements OwnerRule {}

    /// The account that the PVC's namespace names.
    ///
    /// @param prefix what the namespace begins with; the rest is the account
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

    /// The account that an annotation of the PVC's namespace names, which whoever may change the Namespace object
    /// writes.
    ///
    /// @param key of the annotation
    record OfAnnotation(String key) implements OwnerRule {
        private static final String BEGIN = "namespace-annotation:";

        /// A name of at most 63 characters, and a domain before it (Kubernetes, "Annotations": syntax).
        private static final Pattern KEY = Pattern.compile(
                "(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?/)?" + "[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?");

        /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `key` can be none
        public OfAnnotation {
            if (!KEY.matcher(key).matches()) {
                throw new DriverException.InvalidRequest("parameter owner: " + QuotedText.of(key)
                        + " is no key of an annotation; expected " + BEGIN + "KEY or " + BEGIN + "DOMAIN/KEY");
            }
        }

        /// Whether a class means such a rule.
        static boolean isMeant(String text) {
            return text.startsWith(BEGIN);
        }
    }

    /// What a class writes: `namespace`, `namespace-prefix:user-`, `namespace-annotation:KEY`, an account, or
    /// `group:NAME`.
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

    /// The account for which a namespace stands, as far as this rule goes; empty if it leads to none.
    ///
    /// @param annotations what is written at the namespace
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

    /// The account that volumes have whoever asks.
    default Optional<String> always() {
        return switch (this) {
            case Fixed fixed -> Optional.of(fixed.account());
            case OfNamespace _, OfAnnotation _ -> Optional.empty();
        };
    }
}
