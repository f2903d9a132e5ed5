package dev.siphon.controller.volume;

import dev.siphon.controller.identity.Namespaces;
import dev.siphon.controller.volume.Owners.OwnerRule;
import dev.siphon.csi.DriverException;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;

/// Finds the accounts of a namespace, whoever uses it: the one that a rule selects, and those that its Namespace
/// object lists for its claims ([Owners#OWNERS]).
public final class NamespaceAccounts {
    private final Optional<OwnerRule> rule;
    private final Optional<Namespaces> namespaces;

    /// @param rule a class's rule; empty if a namespace's name and annotations select no account
    /// @param namespaces empty if the driver has no Kubernetes access
    public NamespaceAccounts(Optional<OwnerRule> rule, Optional<Namespaces> namespaces) {
        this.rule = rule;
        this.namespaces = namespaces;
    }

    /// Reads the accounts of a namespace, in one round trip to the API server, if there is one.
    ///
    /// @return names, which the account directory need not have
    /// @throws DriverException.NotFound (NOT_FOUND) if the namespace is gone
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the API server does not reply
    public Set<String> of(String namespace) {
        return of(namespace, annotations(namespace));
    }

    /// Returns the account that owns what the namespace's claims get if they name no other owner, in one round trip
    /// to the API server, if there is one; empty if the rule selects none.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if the namespace is gone
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the API server does not reply
    public Optional<String> ofRule(String namespace) {
        return rule.flatMap(known -> known.accountOf(namespace, annotations(namespace)));
    }

    private Map<String, String> annotations(String namespace) {
        return namespaces
                .map(kubernetes -> kubernetes
                        .annotations(namespace)
                        .orElseThrow(() -> new DriverException.NotFound("namespace " + namespace + " is gone")))
                .orElse(Map.of());
    }

    /// Returns the accounts of a namespace whose annotations are known.
    public Set<String> of(String namespace, Map<String, String> annotations) {
        Set<String> accounts = new LinkedHashSet<>();
        rule.flatMap(known -> known.accountOf(namespace, annotations)).ifPresent(accounts::add);
        Arrays.stream(annotations.getOrDefault(Owners.OWNERS, "").split(","))
                .map(String::strip)
                .filter(name -> !name.isEmpty())
                .forEach(accounts::add);
        return accounts;
    }

    /// Returns the keys of the annotations that name accounts.
    public Set<String> keys() {
        Set<String> keys = new LinkedHashSet<>(Set.of(Owners.OWNERS));
        if (rule.orElse(null) instanceof OwnerRule.OfAnnotation of) {
            keys.add(of.key());
        }
        return keys;
    }

    /// Returns whether the driver can ask Kubernetes which namespaces exist.
    public boolean knowsNamespaces() {
        return namespaces.isPresent();
    }

    /// Returns a namespace's uid, in one round trip to the API server; empty if it is gone, or without Kubernetes.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the API server does not reply
    public Optional<String> uid(String namespace) {
        return namespaces.flatMap(kubernetes -> kubernetes.uid(namespace));
    }

    /// Returns the uids of all namespaces, by name; empty without Kubernetes.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the API server does not reply
    public Map<String, String> uids() {
        return namespaces.map(Namespaces::uids).orElse(Map.of());
    }

    /// Passes on every namespace with its relevant annotations; none without Kubernetes.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the API server does not reply
    public void each(BiConsumer<String, Map<String, String>> each) {
        namespaces.ifPresent(kubernetes -> kubernetes.all(keys(), each));
    }
}
