package dev.siphon.controller.warm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Follows Kubernetes' documents "Assigning Pods to Nodes" and "Taints and Tolerations".
final class NodeRulesTest {
    private static final NodeRules NONE = new NodeRules(Map.of(), Optional.empty(), List.of());

    private static ClusterNode node(ClusterNode.Taint... taints) {
        return new ClusterNode(
                "node-1",
                "host-1",
                Map.of("gpu", "a100", "memory", "80", "empty", ""),
                List.of(taints),
                true,
                ResourceAmounts.NONE,
                ResourceAmounts.NONE);
    }

    private static NodeRules requiring(NodeRules.Term... terms) {
        return new NodeRules(Map.of(), Optional.of(List.of(terms)), List.of());
    }

    private static NodeRules.Expression expression(String key, String operator, String values) {
        return new NodeRules.Expression(
                key, operator, values.isEmpty() ? List.of() : Arrays.asList(values.split(" ", -1)));
    }

    @ParameterizedTest(name = "{0} {1} {2}: {3}")
    @CsvSource(
            emptyValue = "",
            value = {
                "gpu, In, h100 a100, true",
                "gpu, In, h100, false",
                "other, In, a100, false",
                "gpu, NotIn, h100, true",
                "gpu, NotIn, a100, false",
                "other, NotIn, a100, true",
                "gpu, Exists, '', true",
                "other, Exists, '', false",
                "gpu, DoesNotExist, '', false",
                "other, DoesNotExist, '', true",
                "memory, Gt, 79, true",
                "memory, Gt, 80, false",
                "memory, Lt, 81, true",
                "memory, Lt, 80, false",
                "gpu, Gt, 1, false",
                "other, Lt, 1, false",
                "memory, Gt, '', false",
                "gpu, Near, a100, false"
            })
    void labelsAreCompared(String key, String operator, String values, boolean admitted) {
        NodeRules rules = requiring(new NodeRules.Term(List.of(expression(key, operator, values)), List.of()));
        assertEquals(admitted, rules.admit(node()));
    }

    @Test
    void ofSeveralTermsOneIsEnoughAndOfATermAllIsNeeded() {
        NodeRules.Expression right = expression("gpu", "Exists", "");
        NodeRules.Expression wrong = expression("gpu", "DoesNotExist", "");
        NodeRules.Term both = new NodeRules.Term(List.of(right, wrong), List.of());
        assertEquals(false, requiring(both).admit(node()));
        assertEquals(
                true,
                requiring(both, new NodeRules.Term(List.of(right), List.of())).admit(node()));
        assertEquals(false, requiring().admit(node()));
        assertEquals(false, requiring(new NodeRules.Term(List.of(), List.of())).admit(node()));
    }

    @Test
    void aNodeIsNamedByItsField() {
        NodeRules.Expression here = expression("metadata.name", "In", "node-1");
        assertEquals(
                true, requiring(new NodeRules.Term(List.of(), List.of(here))).admit(node()));
        NodeRules.Expression there = expression("metadata.name", "In", "host-1");
        assertEquals(
                false, requiring(new NodeRules.Term(List.of(), List.of(there))).admit(node()));
    }

    @ParameterizedTest(name = "{0}={1}: {2}")
    @CsvSource({"gpu, a100, true", "gpu, h100, false", "other, a100, false"})
    void aSelectorIsKeptTo(String key, String value, boolean admitted) {
        assertEquals(admitted, new NodeRules(Map.of(key, value), Optional.empty(), List.of()).admit(node()));
    }

    @ParameterizedTest(name = "taint {0}={1}:{2}, toleration {3}={5}:{6}, any value {4}: {7}")
    @CsvSource(
            emptyValue = "",
            value = {
                "gpu, yes, NoSchedule, gpu, false, yes, NoSchedule, true",
                "gpu, yes, NoSchedule, gpu, false, no, NoSchedule, false",
                "gpu, yes, NoSchedule, gpu, true, '', NoSchedule, true",
                "gpu, yes, NoSchedule, gpu, true, '', '', true",
                "gpu, yes, NoSchedule, gpu, true, '', NoExecute, false",
                "gpu, yes, NoSchedule, other, true, '', '', false",
                "gpu, yes, NoExecute, '', true, '', '', true",
                "gpu, yes, NoSchedule, '', false, yes, '', false",
                "gpu, yes, PreferNoSchedule, other, true, '', '', true"
            })
    void taintsKeepAwayWhoDoesNotTolerateThem(
            String key,
            String value,
            String effect,
            String tolerated,
            boolean anyValue,
            String toleratedValue,
            String toleratedEffect,
            boolean admitted) {
        NodeRules rules = new NodeRules(
                Map.of(),
                Optional.empty(),
                List.of(new NodeRules.Toleration(tolerated, anyValue, toleratedValue, toleratedEffect)));
        assertEquals(admitted, rules.admit(node(new ClusterNode.Taint(key, value, effect))));
    }

    @Test
    void nobodyComesToANodeThatIsNotOpen() {
        ClusterNode closed = new ClusterNode(
                "node-1", "host-1", Map.of(), List.of(), false, ResourceAmounts.NONE, ResourceAmounts.NONE);
        assertEquals(false, NONE.admit(closed));
        assertEquals(true, NONE.admit(node()));
        assertEquals(false, NONE.admit(node(new ClusterNode.Taint("gpu", "", "NoSchedule"))));
    }
}
