package dev.siphon.e2e.crash;

import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.FileTree;
import dev.siphon.controller.volume.MdsSessions;
import dev.siphon.controller.volume.Quiesce;
import dev.siphon.controller.volume.Subvolumes;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Wraps the ports of a controller: records each call to Ceph and kills the process at the one in the [CrashPlan].
/// The port of the clusters file and of cluster-wide queries is not wrapped.
final class CrashPoints {
    /// [Subvolumes#cloneProgress], polled until the clone is complete.
    private static final String POLL = "cloneProgress";

    /// [Subvolumes#findSnapshot], polled after that until the mgr releases the clone's source.
    private static final String LET_GO = "findSnapshot";

    private final Path plan;
    private final Path calls;

    private CrashPoints(Path folder) {
        this.plan = folder.resolve(CrashPlan.PLAN);
        this.calls = folder.resolve(CrashPlan.CALLS);
    }

    /// Returns ports that follow the plan in `folder`.
    static CephPorts around(CephPorts ports, Path folder) {
        CrashPoints points = new CrashPoints(folder);
        return new CephPorts(
                ports.clusters(),
                points.watched(Subvolumes.class, ports.subvolumes()),
                points.watched(FileTree.class, ports.files()),
                points.watched(Quiesce.class, ports.quiesce()),
                points.watched(MdsSessions.class, ports.sessions()));
    }

    private <T> T watched(Class<T> port, T real) {
        return port.cast(Proxy.newProxyInstance(
                port.getClassLoader(), new Class<?>[] {port}, (_, method, arguments) -> call(real, method, arguments)));
    }

    private @Nullable Object call(Object real, Method method, Object @Nullable [] arguments) throws Throwable {
        Optional<CrashPlan> now =
                Files.exists(plan) ? Optional.of(CrashPlan.parse(Files.readString(plan))) : Optional.empty();
        int number = now.isPresent() ? record(method.getName()) : 0;
        now.ifPresent(planned -> planned.endIf(number, CrashPlan.When.BEFORE));
        try {
            return method.invoke(real, arguments);
        } catch (InvocationTargetException e) {
            throw e.getTargetException();
        } finally {
            now.ifPresent(planned -> planned.endIf(number, CrashPlan.When.AFTER));
        }
    }

    /// Records a call. Consecutive polls of a clone's progress or end count as one call: the mgr determines their
    /// number.
    ///
    /// @return its number, from 1; 0 for a repeated poll
    private synchronized int record(String call) throws IOException {
        List<String> before = Files.exists(calls) ? Files.readAllLines(calls) : List.of();
        boolean again = !before.isEmpty() && before.getLast().equals(call);
        if (again && (call.equals(POLL) || (call.equals(LET_GO) && before.contains(POLL)))) {
            return 0;
        }
        Files.writeString(calls, call + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        return before.size() + 1;
    }
}
