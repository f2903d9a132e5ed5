package dev.siphon.controller.volume;

import dev.siphon.controller.identity.Account;
import dev.siphon.controller.identity.AccountDirectory;
import dev.siphon.controller.identity.Namespaces;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/// Decides who owns a new volume.
///
/// The author of a claim decides nothing alone. The cluster's administrators assign namespaces to people, and a
/// claim may name only owners that its Namespace object lists. Both are read again for each volume, so that a
/// revocation takes effect at once.
public final class Owners {
    /// The claim's annotation that names the owner of its volume.
    public static final String OWNER = "siphon.dev/owner";

    /// The Namespace's annotation that lists the owners its claims may name: accounts and `group:NAME`,
    /// comma-separated.
    public static final String OWNERS = "siphon.dev/owners";

    private final AccountDirectory directory;
    private final Optional<Namespaces> namespaces;
    private final Optional<String> defaultOwner;

    /// @param directory the account directory
    /// @param namespaces reads namespaces and claims; empty if the driver has no Kubernetes access
    /// @param defaultOwner the account for classes that name no owner
    public Owners(AccountDirectory directory, Optional<Namespaces> namespaces, Optional<String> defaultOwner) {
        this.directory = directory;
        this.namespaces = namespaces;
        this.defaultOwner = defaultOwner;
    }

    /// Returns the owner of a volume of this class, for its claim.
    ///
    /// Costs one lookup in the account directory. If the class's rule depends on namespaces and the driver has
    /// Kubernetes access, the claim costs one round trip to the API server. The Namespace costs another if an
    /// annotation of it is needed.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if no owner is named, the directory does not
    ///     have it, the claim is needed and unknown, or the claim names a dataset
    /// @throws DriverException.NotFound (NOT_FOUND) if the claim or namespace is gone, or another claim has its
    ///     name now
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if the namespace does not list the owner that
    ///     the claim names
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the directory or API server does not reply
    Account of(VolumeClass parameters) {
        String name = parameters
                .owner()
                .map(rule -> account(rule, parameters.claim()))
                .or(() -> defaultOwner)
                .orElseThrow(() -> new DriverException.InvalidRequest(
                        "parameter owner is needed: the account that owns the volumes of this class"));
        return directory
                .account(name)
                .orElseThrow(() -> new DriverException.InvalidRequest(
                        "parameter owner " + QuotedText.of(name) + ": the directory has no such account"));
    }

    private String account(OwnerRule rule, Optional<ClaimRef> claim) {
        return switch (rule) {
            case OwnerRule.Fixed fixed -> fixed.account();
            case OwnerRule.OfNamespace of -> {
                ClaimRef known = needed(claim);
                yield named(known).orElseGet(() -> of.accountOf(known.namespace()));
            }
            case OwnerRule.OfAnnotation of -> {
                ClaimRef known = needed(claim);
                Namespaces kubernetes = namespaces.orElseThrow(() -> new DriverException.InvalidRequest(
                        "parameter owner needs the annotations of namespaces: run the controller with"
                                + " --kubernetes-namespace"));
                yield named(known).orElseGet(() -> annotated(kubernetes, known.namespace(), of.key()));
            }
        };
    }

    private static ClaimRef needed(Optional<ClaimRef> claim) {
        return claim.orElseThrow(() -> new DriverException.InvalidRequest(
                "parameter owner needs the PVC's namespace: run the provisioner with --extra-create-metadata"));
    }

    /// Returns the owner that the claim itself names; empty if it names none, or without Kubernetes access.
    private Optional<String> named(ClaimRef claim) {
        return namespaces.flatMap(kubernetes -> claim.annotations(kubernetes).flatMap(annotations -> {
            if (annotations.containsKey(ClaimRef.DATASET)) {
                throw new DriverException.InvalidRequest("the PVC's annotation " + ClaimRef.DATASET
                        + " names a dataset, which can only be read: ask for accessModes [ReadOnlyMany]");
            }
            Optional<String> owner = Optional.ofNullable(annotations.get(OWNER));
            owner.ifPresent(wanted -> checkListed(kubernetes, claim.namespace(), wanted));
            return owner;
        }));
    }

    private static void checkListed(Namespaces kubernetes, String namespace, String wanted) {
        String listed = annotations(kubernetes, namespace).getOrDefault(OWNERS, "");
        if (Arrays.stream(listed.split(",")).map(String::strip).noneMatch(wanted::equals)) {
            throw new DriverException.AccessDenied("the PVC's annotation " + OWNER + " names " + QuotedText.of(wanted)
                    + ", but annotation " + OWNERS + " of namespace " + namespace
                    + " does not list that account: ask the namespace's administrator to add it,"
                    + " or remove the PVC's annotation");
        }
        ClassParameters.checkName("annotation " + OWNER + " of the PVC", wanted);
    }

    private static String annotated(Namespaces kubernetes, String namespace, String key) {
        String what = "annotation " + key + " of namespace " + namespace;
        String account = Optional.ofNullable(annotations(kubernetes, namespace).get(key))
                .map(String::strip)
                .orElseThrow(() -> new DriverException.InvalidRequest(
                        "parameter owner: there is no " + what + ", so it names no account"));
        ClassParameters.checkName(what, account);
        return account;
    }

    private static Map<String, String> annotations(Namespaces kubernetes, String namespace) {
        return kubernetes
                .annotations(namespace)
                .orElseThrow(() -> new DriverException.NotFound("namespace " + namespace + " is gone"));
    }

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

        /// The account that an annotation of the claim's namespace names. Whoever may change the Namespace
        /// object controls it.
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

        /// Parses what a class may name: `namespace`, `namespace-prefix:user-`, `namespace-annotation:KEY`, an
        /// account, or `group:NAME`.
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
}
