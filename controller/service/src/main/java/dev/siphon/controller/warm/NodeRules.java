package dev.siphon.controller.warm;

import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// Where a pod may run, according to its spec (Kubernetes, "Assigning Pods to Nodes", "Taints and Tolerations").
///
/// @param selector labels that a node must have
/// @param required a node must match one of these terms; empty if every node may
/// @param tolerations the taints that the pod tolerates
public record NodeRules(Map<String, String> selector, Optional<List<Term>> required, List<Toleration> tolerations) {
    public NodeRules {
        selector = Map.copyOf(selector);
        required = required.map(List::copyOf);
        tolerations = List.copyOf(tolerations);
    }

    /// A term matches if all its expressions do; an empty term matches no node.
    ///
    /// @param labels expressions on a node's labels
    /// @param fields expressions on its field `metadata.name`
    public record Term(List<Expression> labels, List<Expression> fields) {
        public Term {
            labels = List.copyOf(labels);
            fields = List.copyOf(fields);
        }

        private boolean admits(ClusterNode node) {
            return !(labels.isEmpty() && fields.isEmpty())
                    && labels.stream().allMatch(each -> each.admits(node.labels()))
                    && fields.stream().allMatch(each -> each.admits(Map.of("metadata.name", node.name())));
        }
    }

    /// @param operator `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt` or `Lt`
    public record Expression(String key, String operator, List<String> values) {
        private static final Pattern NUMBER = Pattern.compile("-?[0-9]{1,19}");

        public Expression {
            values = List.copyOf(values);
        }

        private boolean admits(Map<String, String> labels) {
            Optional<String> value = Optional.ofNullable(labels.get(key));
            return switch (operator) {
                case "In" -> value.filter(values::contains).isPresent();
                case "NotIn" -> value.filter(values::contains).isEmpty();
                case "Exists" -> value.isPresent();
                case "DoesNotExist" -> value.isEmpty();
                case "Gt" -> compared(value) > 0;
                case "Lt" -> compared(value) < 0;
                default -> false; // an operator of a later Kubernetes: only the scheduler knows it
            };
        }

        /// Compares as integers. Returns 0 also if a value is not an integer, so that neither `Gt` nor `Lt`
        /// matches.
        private int compared(Optional<String> value) {
            return value.flatMap(Expression::number)
                    .flatMap(has -> values.stream()
                            .findFirst()
                            .flatMap(Expression::number)
                            .map(has::compareTo))
                    .orElse(0);
        }

        private static Optional<BigInteger> number(String text) {
            return Optional.of(text).filter(NUMBER.asMatchPredicate()).map(BigInteger::new);
        }
    }

    /// @param key empty for every key
    /// @param anyValue whether the taint's value is ignored
    /// @param effect empty for every effect
    public record Toleration(String key, boolean anyValue, String value, String effect) {
        private boolean tolerates(ClusterNode.Taint taint) {
            return (key.isEmpty() ? anyValue : key.equals(taint.key()))
                    && (anyValue || value.equals(taint.value()))
                    && (effect.isEmpty() || effect.equals(taint.effect()));
        }
    }

    /// Returns these rules, with more labels that a node must have, and more tolerations.
    NodeRules with(Map<String, String> labels, List<Toleration> more) {
        Map<String, String> all = new TreeMap<>(selector);
        all.putAll(labels);
        return new NodeRules(
                all,
                required,
                Stream.concat(tolerations.stream(), more.stream()).toList());
    }

    /// Returns whether the pod may run on the node, if that has room.
    boolean admit(ClusterNode node) {
        return node.open()
                && selector.entrySet().stream()
                        .allMatch(each -> each.getValue().equals(node.labels().get(each.getKey())))
                && required.map(terms -> terms.stream().anyMatch(term -> term.admits(node)))
                        .orElse(true)
                && node.taints().stream()
                        .filter(ClusterNode.Taint::isStrict)
                        .allMatch(taint -> tolerations.stream().anyMatch(each -> each.tolerates(taint)));
    }
}
