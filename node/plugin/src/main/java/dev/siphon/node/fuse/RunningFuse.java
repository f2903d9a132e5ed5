package dev.siphon.node.fuse;

import dev.siphon.node.linux.ProcMemory;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;

/// Tracks the running FUSE processes and their memory.
///
/// A control group around all of them would not do: at its limit the kernel would choose the victim, without regard
/// to accounts.
final class RunningFuse {
    private final Map<Long, RunningProcess> processes = new ConcurrentHashMap<>();

    /// @param excess why it is being killed; empty if it is not
    private record RunningProcess(FuseStart start, Process process, AtomicReference<Optional<MemoryExcess>> excess) {
        private long bytes() {
            return ProcMemory.bytes(process.pid());
        }

        private MemoryExcess.ProcessMemory use() {
            return new MemoryExcess.ProcessMemory(process.pid(), start.owner(), bytes());
        }
    }

    void add(FuseStart start, Process process) {
        processes.put(process.pid(), new RunningProcess(start, process, new AtomicReference<>(Optional.empty())));
    }

    /// Removes an ended process, and returns why [#endExcess] killed it; empty if it did not.
    Optional<MemoryExcess> remove(Process process) {
        return Optional.ofNullable(processes.remove(process.pid()))
                .flatMap(running -> running.excess().get());
    }

    long count(FuseProgram program) {
        return processes.values().stream()
                .filter(each -> each.start().program() == program)
                .count();
    }

    long bytes(FuseProgram program) {
        return processes.values().stream()
                .filter(each -> each.start().program() == program)
                .mapToLong(RunningProcess::bytes)
                .sum();
    }

    /// Kills processes (SIGKILL) until the others have at most `limitBytes` together. Processes that are already
    /// being killed do not count.
    void endExcess(long limitBytes) {
        List<MemoryExcess.ProcessMemory> uses = processes.values().stream()
                .filter(each -> each.excess().get().isEmpty())
                .map(RunningProcess::use)
                .toList();
        for (MemoryExcess excess : MemoryExcess.of(uses, limitBytes)) {
            Optional.ofNullable(processes.get(excess.largest().pid())).ifPresent(running -> {
                running.excess().set(Optional.of(excess));
                running.process().destroyForcibly();
            });
        }
    }
}
