package dev.siphon.controller.volume;

import dev.siphon.controller.identity.Namespaces;
import dev.siphon.csi.DriverException;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;

/// The accounts for which a namespace stands, whoever is in it: the one to which a rule leads, and those that its
/// Namespace object lists for its PVCs ([Owners#OWNERS]).
public final class NamespaceAccounts {
    private final Optional<OwnerRule> rule;
    private final Optional<Namespaces> namespaces;

    /// @param rule as a class has it; empty if a namespace's name and annotations lead to nobody
    /// @param namespaces empty if the driver has no Kubernetes to ask
    public NamespaceAccounts(Optional<OwnerRule> rule, Optional<Namespaces> namespaces) {
        this.rule = rule;
        this.namespaces = namespaces;
    }

    /// As it is written now; one round trip to the API server, where there is one.
    ///
    /// @return names; the directory need not have them
    /// @throws DriverException.NotFound (NOT_FOUND) if the namespace is gone
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the API server does not answer
    public Set<String> of(String namespace) {
        return of(
                namespace,
                namespaces
                        .map(kubernetes -> kubernetes
                                .annotations(namespace)
                                .orElseThrow(() -> new DriverException.NotFound("namespace " + namespace + " is gone")))
                        .orElse(Map.of()));
    }

    /// The same for what is known to be written at a namespace.
    public Set<String> of(String namespace, Map<String, String> annotations) {
        Set<String> accounts = new LinkedHashSet<>();
        rule.flatMap(known -> known.accountOf(namespace, annotations)).ifPresent(accounts::add);
        Arrays.stream(annotations.getOrDefault(Owners.OWNERS, "").split(","))
                .map(String::strip)
                .filter(name -> !name.isEmpty())
                .forEach(accounts::add);
        return accounts;
    }

    private Set<String> keys() {
        Set<String> keys = new LinkedHashSet<>(Set.of(Owners.OWNERS));
        if (rule.orElse(null) instanceof OwnerRule.OfAnnotation of) {
            keys.add(of.key());
        }
        return keys;
    }

    /// Whether there is a Kubernetes that tells which namespaces there are.
    public boolean knowsNamespaces() {
        return namespaces.isPresent();
    }

    /// The uid of a namespace; empty if it is gone, or there is no Kubernetes. One round trip to the API server.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the API server does not answer
    public Optional<String> uid(String namespace) {
        return namespaces.flatMap(kubernetes -> kubernetes.uid(namespace));
    }

    /// The uids of all namespaces, by their names; none where there is no Kubernetes.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the API server does not answer
    public Map<String, String> uids() {
        return namespaces.map(Namespaces::uids).orElse(Map.of());
    }

    /// Hands over every namespace with what counts of its annotations; none where there is no Kubernetes.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the API server does not answer
    public void each(BiConsumer<String, Map<String, String>> each) {
        namespaces.ifPresent(kubernetes -> kubernetes.all(keys(), each));
    }
}
