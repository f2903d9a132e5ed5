package dev.siphon.controller.warm;

import java.math.BigDecimal;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BinaryOperator;

/// Amounts of resources that nodes have and pods request: processors, bytes, pods, devices.
///
/// @param amounts by resource name; a missing name means zero
public record ResourceAmounts(Map<String, BigDecimal> amounts) {
    /// No resources.
    public static final ResourceAmounts NONE = new ResourceAmounts(Map.of());

    public ResourceAmounts {
        amounts = Map.copyOf(amounts);
    }

    /// Returns the sum.
    public ResourceAmounts plus(ResourceAmounts other) {
        return merged(other, BigDecimal::add);
    }

    /// Returns the maximum of each resource.
    public ResourceAmounts max(ResourceAmounts other) {
        return merged(other, BigDecimal::max);
    }

    /// Returns the difference, which may be negative; zero amounts are left out.
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

    /// Returns whether this covers all of `wanted`.
    boolean hold(ResourceAmounts wanted) {
        return wanted.amounts.entrySet().stream()
                .filter(each -> each.getValue().signum() > 0)
                .allMatch(each -> of(each.getKey()).compareTo(each.getValue()) >= 0);
    }

    /// Returns how many times this covers `wanted`.
    ///
    /// @param most enough for the caller
    int times(ResourceAmounts wanted, int most) {
        return wanted.amounts.entrySet().stream()
                .filter(each -> each.getValue().signum() > 0)
                .map(each -> of(each.getKey())
                        .max(BigDecimal.ZERO)
                        .divideToIntegralValue(each.getValue())
                        .min(BigDecimal.valueOf(most))
                        .intValue())
                .reduce(most, Math::min);
    }

    private BigDecimal of(String name) {
        return amounts.getOrDefault(name, BigDecimal.ZERO);
    }

    /// Returns the number of devices (Kubernetes, "Extended Resources": names with a domain other than
    /// `kubernetes.io`).
    BigDecimal devices() {
        return amounts.entrySet().stream()
                .filter(each -> each.getKey().contains("/") && !each.getKey().startsWith("kubernetes.io/"))
                .map(Map.Entry::getValue)
                .reduce(BigDecimal.ZERO, BigDecimal::add);
    }
}
