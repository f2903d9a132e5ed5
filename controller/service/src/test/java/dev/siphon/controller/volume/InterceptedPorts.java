package dev.siphon.controller.volume;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.function.Supplier;

/// Wraps ports with an interceptor between the domain and Ceph. Calls of [Clusters] bypass it: those that the
/// domain makes need no round trip.
public final class InterceptedPorts {
    private InterceptedPorts() {}

    /// A call of a port's method.
    public record Call(String method, List<Object> arguments) {}

    /// Runs around a call.
    @FunctionalInterface
    public interface Interceptor {
        /// Makes the call, or skips it.
        Object around(Call call, Supplier<Object> make);
    }

    public static CephPorts of(CephPorts ports, Interceptor interceptor) {
        return new CephPorts(
                ports.clusters(),
                of(Subvolumes.class, ports.subvolumes(), interceptor),
                of(FileTree.class, ports.files(), interceptor),
                of(Quiesce.class, ports.quiesce(), interceptor),
                of(MdsSessions.class, ports.sessions(), interceptor));
    }

    private static <T> T of(Class<T> port, T target, Interceptor interceptor) {
        return port.cast(Proxy.newProxyInstance(
                port.getClassLoader(),
                new Class<?>[] {port},
                (_, method, arguments) -> interceptor.around(new Call(method.getName(), List.of(arguments)), () -> {
                    try {
                        return method.invoke(target, arguments);
                    } catch (InvocationTargetException thrown) {
                        if (thrown.getCause() instanceof RuntimeException expected) {
                            throw expected;
                        }
                        throw new IllegalStateException(thrown.getCause());
                    } catch (IllegalAccessException impossible) {
                        throw new IllegalStateException(impossible);
                    }
                })));
    }
}
