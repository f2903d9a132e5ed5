package dev.siphon.e2e.trace;

import dev.siphon.e2e.lab.Await;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.IntStream;

/// A call that can be repeated, and the processes that serve it.
///
/// @param agents by the names of their processes
/// @param before what each repetition needs; its lines do not count
/// @param call returns when the call is complete
record TracedCall(String name, Map<String, CoverageAgent> agents, Runnable before, Runnable call) {
    private static final int WARM_UP = 2;
    private static final int ROUNDS = 5;

    /// A process does some work after its reply, such as the call's line in the log.
    private static final Duration AFTER_REPLY = Duration.ofMillis(50);

    TracedCall {
        agents = new TreeMap<>(agents);
    }

    /// The source files of a process with a line that runs for the call.
    ///
    /// @param files with a line that runs for each call, and not without a call
    /// @param shared whose lines that run for each call run without a call too, on threads of the background
    record FilesOfProcess(String process, SortedSet<String> files, SortedSet<String> shared) {}

    /// The lines of each process that ran for one call, and those that ran in as long a time without a call.
    private record Round(Map<String, Set<SourceLine>> called, Map<String, Set<SourceLine>> waited) {}

    /// Makes the call several times, and waits as long without a call each time. A line counts if it ran for each
    /// call, and not in each of these waits.
    List<FilesOfProcess> trace() {
        for (int round = 0; round < WARM_UP; round++) {
            before.run();
            call.run();
        }
        List<Round> rounds = IntStream.range(0, ROUNDS).mapToObj(_ -> round()).toList();
        return agents.keySet().stream().map(process -> files(process, rounds)).toList();
    }

    private Round round() {
        before.run();
        Map<String, Set<SourceLine>> _ = linesSinceLastTime();
        long began = System.nanoTime();
        call.run();
        Await.pass(AFTER_REPLY);
        Duration took = Duration.ofNanos(System.nanoTime() - began);
        Map<String, Set<SourceLine>> called = linesSinceLastTime();
        Await.pass(took);
        return new Round(called, linesSinceLastTime());
    }

    private Map<String, Set<SourceLine>> linesSinceLastTime() {
        Map<String, Set<SourceLine>> lines = new TreeMap<>();
        agents.forEach((process, agent) -> lines.put(process, agent.linesSinceLastTime()));
        return lines;
    }

    private static FilesOfProcess files(String process, List<Round> rounds) {
        Set<SourceLine> called = inEach(rounds, round -> round.called().getOrDefault(process, Set.of()));
        SortedSet<String> all = files(called);
        called.removeAll(inEach(rounds, round -> round.waited().getOrDefault(process, Set.of())));
        SortedSet<String> own = files(called);
        all.removeAll(own);
        return new FilesOfProcess(process, own, all);
    }

    private static Set<SourceLine> inEach(List<Round> rounds, Function<Round, Set<SourceLine>> lines) {
        Set<SourceLine> common = new HashSet<>(lines.apply(rounds.getFirst()));
        rounds.forEach(round -> common.retainAll(lines.apply(round)));
        return common;
    }

    private static SortedSet<String> files(Set<SourceLine> lines) {
        SortedSet<String> files = new TreeSet<>();
        lines.forEach(line -> files.add(line.file()));
        return files;
    }
}
