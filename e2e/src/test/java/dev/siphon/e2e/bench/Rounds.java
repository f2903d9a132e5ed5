package dev.siphon.e2e.bench;

import dev.siphon.e2e.lab.CephTree;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/// The measurements. Driver and raw commands take turns and alternate who starts, so that a machine that becomes
/// slower or faster does not favor one. The mgr meanwhile purges removed subvolumes, four a second.
final class Rounds {
    private static final int WARM_UP = 300;
    private static final int WARM_UP_CALLERS = 4;
    private static final double P50_OF_RAW = 1.5;
    private static final double RATE_OF_RAW = 0.85;
    private static final double P50_WITH_PRESENT = 1.1;
    private static final double DELETE_P99_MS = 1000;
    private static final int MANY = 32;

    private static final String CREATE = "CreateVolume";
    private static final String RAW_CREATE = "raw subvolume create";
    private static final String DELETE = "DeleteVolume";
    private static final String RAW_REMOVE = "raw subvolume rm";

    private final DriverCalls driver;
    private final RawCommands raw;
    private final CephTree tree;
    private final Names names;

    Rounds(DriverCalls driver, RawCommands raw, CephTree tree, Names names) {
        this.driver = driver;
        this.raw = raw;
        this.tree = tree;
        this.names = names;
    }

    /// Warms up the code of both sides.
    void warmUp() {
        List<String> own = names.take(WARM_UP);
        each(WARM_UP_CALLERS, own, driver::create);
        each(WARM_UP_CALLERS, own, driver::delete);
        List<String> bare = names.take(WARM_UP);
        each(WARM_UP_CALLERS, bare, raw::create);
        each(WARM_UP_CALLERS, bare, raw::remove);
    }

    /// Creates and removes volumes by driver and raw commands, in turns.
    void compare(int callers, int count, int rounds, Bounds bounds) {
        Map<String, List<Timings>> all = new LinkedHashMap<>();
        for (int round = 0; round < rounds; round++) {
            List<String> own = names.take(count);
            List<String> bare = names.take(count);
            Runnable driverCreates = () -> add(all, CREATE, each(callers, own, driver::create));
            Runnable rawCreates = () -> add(all, RAW_CREATE, each(callers, bare, raw::create));
            Runnable driverDeletes = () -> add(all, DELETE, each(callers, own, driver::delete));
            Runnable rawRemoves = () -> add(all, RAW_REMOVE, each(callers, bare, raw::remove));
            inTurns(round, driverCreates, rawCreates);
            add(all, "raw subvolume info", each(callers, bare, raw::info));
            inTurns(round, driverDeletes, rawRemoves);
        }
        all.forEach((rpc, parts) -> System.out.println(Timings.together(parts).json(rpc, callers)));
        if (callers == 1) {
            bounds.atMost(
                    "CreateVolume p50 at 1 caller, of raw subvolume create",
                    ratio(all, CREATE, RAW_CREATE, part -> part.millis(0.5)),
                    P50_OF_RAW);
        }
        if (callers == MANY) {
            bounds.atLeast(
                    "CreateVolume per_s at 32 callers, of raw subvolume create",
                    ratio(all, CREATE, RAW_CREATE, Timings::perSecond),
                    RATE_OF_RAW);
            bounds.atMost(
                    "DeleteVolume p99_ms at 32 callers",
                    Timings.together(parts(all, DELETE)).millis(0.99),
                    DELETE_P99_MS);
        }
    }

    /// Stages, publishes, unpublishes and unstages.
    void node(int callers, int count) {
        List<String> volumes = names.take(count);
        each(callers, volumes, driver::create);
        Map<String, Timings> all = new LinkedHashMap<>();
        boolean stages = driver.stages();
        if (stages) {
            all.put("NodeStageVolume", each(callers, volumes, driver::stage));
        }
        all.put("NodePublishVolume", each(callers, volumes, driver::publish));
        all.put("NodeUnpublishVolume", each(callers, volumes, driver::unpublish));
        if (stages) {
            all.put("NodeUnstageVolume", each(callers, volumes, driver::unstage));
        }
        each(callers, volumes, driver::delete);
        all.forEach((rpc, timings) -> System.out.println(timings.json(rpc, callers)));
    }

    /// Times CreateVolume with no volumes present, with many, and with none again, in turns with the raw command.
    /// Ceph itself may slow down with many present; the ratio to raw separates that from the driver's share.
    void withPresent(int present, int count, int rounds, Bounds bounds) {
        Map<String, List<Timings>> none = new LinkedHashMap<>();
        Map<String, List<Timings>> amid = new LinkedHashMap<>();
        alone(count, rounds, none);
        List<String> many = names.take(present);
        each(MANY, many, driver::create);
        alone(2 * count, rounds, amid);
        System.out.println(each(MANY, many, driver::delete).json("DeleteVolume of " + present, MANY));
        alone(count, rounds, none);
        none.forEach((rpc, parts) -> System.out.println(Timings.together(parts).json(rpc + " with 0 present", 1)));
        amid.forEach((rpc, parts) ->
                System.out.println(Timings.together(parts).json(rpc + " with " + present + " present", 1)));
        bounds.atMost(
                "CreateVolume p50 with " + present + " present, of that with none",
                p50(amid, CREATE) / p50(none, CREATE),
                P50_WITH_PRESENT);
        bounds.atMost(
                "CreateVolume p50 of raw with " + present + " present, of that with none",
                ofRaw(amid) / ofRaw(none),
                P50_WITH_PRESENT);
    }

    private static double ofRaw(Map<String, List<Timings>> all) {
        return p50(all, CREATE) / p50(all, RAW_CREATE);
    }

    private static double p50(Map<String, List<Timings>> all, String rpc) {
        return Timings.together(parts(all, rpc)).millis(0.5);
    }

    private void alone(int count, int rounds, Map<String, List<Timings>> all) {
        tree.purge();
        for (int round = 0; round < rounds; round++) {
            List<String> own = names.take(count / rounds);
            List<String> bare = names.take(count / rounds);
            inTurns(
                    round,
                    () -> add(all, CREATE, each(1, own, driver::create)),
                    () -> add(all, RAW_CREATE, each(1, bare, raw::create)));
            each(MANY, own, driver::delete);
            each(MANY, bare, raw::remove);
        }
    }

    private static void inTurns(int round, Runnable first, Runnable second) {
        if (round % 2 == 0) {
            first.run();
            second.run();
        } else {
            second.run();
            first.run();
        }
    }

    private static void add(Map<String, List<Timings>> all, String rpc, Timings timings) {
        all.computeIfAbsent(rpc, _ -> new ArrayList<>()).add(timings);
    }

    private static List<Timings> parts(Map<String, List<Timings>> all, String rpc) {
        return all.getOrDefault(rpc, List.of());
    }

    /// Returns the median ratio of driver to raw over the rounds.
    private static double ratio(
            Map<String, List<Timings>> all,
            String rpc,
            String rawRpc,
            java.util.function.ToDoubleFunction<Timings> of) {
        List<Double> ratios = new ArrayList<>();
        for (int round = 0; round < parts(all, rpc).size(); round++) {
            ratios.add(of.applyAsDouble(parts(all, rpc).get(round))
                    / of.applyAsDouble(parts(all, rawRpc).get(round)));
        }
        return Timings.median(ratios);
    }

    private static Timings each(int callers, List<String> names, Predicate<String> call) {
        return Load.run(callers, names.size(), index -> call.test(names.get(index)));
    }
}
