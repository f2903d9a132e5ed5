package dev.siphon.controller.warm;

import java.math.BigDecimal;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BinaryOperator;

/// Amounts of what nodes have and pods ask for: processors, bytes, pods, devices.
///
/// @param amounts by the name of the resource; what is not named is zero
public record ResourceAmounts(Map<String, BigDecimal> amounts) {
    /// Nothing at all.
    public static final ResourceAmounts NONE = new ResourceAmounts(Map.of());

    public ResourceAmounts {
        amounts = Map.copyOf(amounts);
    }

    /// Both together.
    public ResourceAmounts plus(ResourceAmounts other) {
        return merged(other, BigDecimal::add);
    }

    /// The larger of each.
    public ResourceAmounts max(ResourceAmounts other) {
        return merged(other, BigDecimal::max);
    }

    /// What is left; it may be less than nothing. What is zero is not named.
    public ResourceAmounts minus(ResourceAmounts other) {
        Map<String, BigDecimal> negative = new TreeMap<>();
        other.amounts.forEach((name, amount) -> negative.put(name, amount.negate()));
        Map<String, BigDecimal> left = new TreeMap<>(plus(new ResourceAmounts(negative)).amounts);
        left.values().removeIf(amount -> amount.signum() == 0);
        return new ResourceAmounts(left);
    }

    private ResourceAmounts merged(ResourceAmounts other, BinaryOperator<BigDecimal> how) {
        Map<String, BigDecimal> all = new TreeMap<>(amounts);
        other.amounts.forEach((name, amount) -> all.merge(name, amount, how));
        return new ResourceAmounts(all);
    }

    /// Whether all of `wanted` is in this.
    boolean hold(ResourceAmounts wanted) {
        return wanted.amounts.entrySet().stream()
                .filter(each -> each.getValue().signum() > 0)
                .allMatch(each -> of(each.getKey()).compareTo(each.getValue()) >= 0);
    }

    private BigDecimal of(String name) {
        return amounts.getOrDefault(name, BigDecimal.ZERO);
    }

    /// How many devices that are (Kubernetes, "Extended Resources": with a domain that is not its own).
    BigDecimal devices() {
        return amounts.entrySet().stream()
                .filter(each -> each.getKey().contains("/") && !each.getKey().startsWith("kubernetes.io/"))
                .map(Map.Entry::getValue)
                .reduce(BigDecimal.ZERO, BigDecimal::add);
    }
}
