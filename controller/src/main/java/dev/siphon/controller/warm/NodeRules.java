package dev.siphon.controller.warm;

import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/// Where a pod may run, by what is written in it (Kubernetes, "Assigning Pods to Nodes", "Taints and
/// Tolerations").
///
/// @param selector labels that a node has to have
/// @param required of these terms a node has to fulfil one; empty for every node
/// @param tolerations taints that keep it away from no node
public record NodeRules(Map<String, String> selector, Optional<List<Term>> required, List<Toleration> tolerations) {
    public NodeRules {
        selector = Map.copyOf(selector);
        required = required.map(List::copyOf);
        tolerations = List.copyOf(tolerations);
    }

    /// All of it has to be so; a term without any is fulfilled by no node.
    ///
    /// @param labels about a node's labels
    /// @param fields about its field `metadata.name`
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
                default -> false; // of a later Kubernetes: the scheduler knows it
            };
        }

        /// 0 also where one is no number, which fulfils nothing.
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

    /// @param key empty for every one
    /// @param anyValue whether the taint's value does not matter
    /// @param effect empty for every one
    public record Toleration(String key, boolean anyValue, String value, String effect) {
        private boolean tolerates(ClusterNode.Taint taint) {
            return (key.isEmpty() ? anyValue : key.equals(taint.key()))
                    && (anyValue || value.equals(taint.value()))
                    && (effect.isEmpty() || effect.equals(taint.effect()));
        }
    }

    /// Whether the pod may run on a node that has room for it.
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
