package dev.siphon.controller.volume;

import dev.siphon.controller.identity.Account;
import dev.siphon.controller.identity.AccountDirectory;
import dev.siphon.controller.identity.Namespaces;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;

/// Says who owns a volume that is to be made.
///
/// What the author of a PVC may write decides nothing by itself: a namespace is given to people by whoever
/// administers the cluster, and a PVC may name an owner only among those that its Namespace object lists. Both
/// are read anew for each volume, so that what was taken away counts at once.
public final class Owners {
    /// The annotation of a PVC that names who is to own its volume.
    public static final String OWNER = "siphon.dev/owner";

    /// The annotation of a Namespace that lists whom its PVCs may name: accounts and `group:NAME`, with commas.
    public static final String OWNERS = "siphon.dev/owners";

    private final AccountDirectory directory;
    private final Optional<Namespaces> namespaces;
    private final Optional<String> defaultOwner;

    /// @param directory knows the accounts
    /// @param namespaces knows namespaces and PVCs; empty if the driver has no Kubernetes to ask
    /// @param defaultOwner the account for classes that name none
    public Owners(AccountDirectory directory, Optional<Namespaces> namespaces, Optional<String> defaultOwner) {
        this.directory = directory;
        this.namespaces = namespaces;
        this.defaultOwner = defaultOwner;
    }

    /// The owner of a volume of this class, for the PVC named there.
    ///
    /// Costs a look into the directory. Of a class whose rule is about namespaces, where the driver knows
    /// Kubernetes: one round trip to its API server for the PVC, and one for the Namespace if an annotation of it
    /// is needed.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if nobody is named, or somebody whom the
    ///     directory does not have, or the PVC is needed and not known
    /// @throws DriverException.NotFound (NOT_FOUND) if the PVC is gone, or is another one of that name by now
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if the PVC names an owner that its namespace may
    ///     not have
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if directory or API server do not answer
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

    /// The owner that the PVC itself names; empty if it names none, or nobody can look.
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
                    + ", whom annotation " + OWNERS + " of namespace " + namespace
                    + " does not list: ask whoever administers the namespace, or remove the PVC's annotation");
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
}
