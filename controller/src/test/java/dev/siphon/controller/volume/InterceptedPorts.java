package dev.siphon.controller.volume;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.function.Supplier;

/// Ports with something between the domain and Ceph. What costs no round trip, which is all of [Clusters]
/// that the domain asks for, goes straight through.
public final class InterceptedPorts {
    private InterceptedPorts() {}

    /// A call of a port's method.
    public record Call(String method, List<Object> arguments) {}

    /// What happens around a call.
    @FunctionalInterface
    public interface Interceptor {
        /// Makes the call, or does not.
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
