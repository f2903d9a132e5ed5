package dev.siphon.csi.fuzz;

import java.time.Duration;
import java.util.List;
import net.jqwik.api.lifecycle.AroundTryHook;
import net.jqwik.api.lifecycle.Lifespan;
import net.jqwik.api.lifecycle.Store;
import net.jqwik.api.lifecycle.TryExecutionResult;
import net.jqwik.api.lifecycle.TryExecutor;
import net.jqwik.api.lifecycle.TryLifecycleContext;

/// Ends a property successfully after `siphon.fuzz.seconds` (default 5): a fuzzer gets time, not a number of tries.
public final class TimeLimit implements AroundTryHook {
    @Override
    public TryExecutionResult aroundTry(TryLifecycleContext context, TryExecutor aTry, List<Object> parameters) {
        Store<Long> end = Store.getOrCreate(
                TimeLimit.class,
                Lifespan.PROPERTY,
                () -> System.nanoTime()
                        + Duration.ofSeconds(Long.getLong("siphon.fuzz.seconds", 5L))
                                .toNanos());
        TryExecutionResult result = aTry.execute(parameters);
        return result.isSatisfied() && System.nanoTime() - end.get() > 0 ? TryExecutionResult.satisfied(true) : result;
    }
}
