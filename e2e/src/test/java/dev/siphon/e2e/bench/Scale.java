package dev.siphon.e2e.bench;

import com.google.gson.JsonObject;
import csi.v1.ListVolumesRequest;
import csi.v1.ListVolumesResponse;
import dev.siphon.e2e.driver.CsiClient;
import dev.siphon.e2e.driver.DriverFolder;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.driver.ServedProcess;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.LabLdap;
import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/// Measures a cluster of many accounts: the lab's OpenLDAP accounts get some volumes each. Provisions all
/// concurrently, lists them by pages, idles, and audits. Prints one JSON line per step; exits 1 if a call failed or
/// the audit found something.
public final class Scale {
    private static final int ACCOUNTS = 1000;
    private static final int VOLUMES_EACH = 3;
    private static final int CALLERS = 32;
    private static final int PAGE = 500;
    private static final Duration STEADY = Duration.ofSeconds(60);
    private static final double MB = 1e6;
    private static final int CLOCK_TICKS_PER_SECOND = 100;
    private static final Pattern COMMANDS = Pattern.compile("siphon_ceph_commands_total\\{.*\\} ([0-9.e+]+)");

    private final int accounts;
    private boolean good = true;

    private Scale(int accounts) {
        this.accounts = accounts;
    }

    /// Runs in a lab, with the built launcher.
    ///
    /// @param arguments the number of accounts; all if absent
    public static void main(String[] arguments) {
        Scale scale = new Scale(arguments.length == 0 ? ACCOUNTS : Integer.parseInt(arguments[0]));
        scale.run();
        System.exit(scale.good ? 0 : 1);
    }

    private void run() {
        try (DriverFolder folder = DriverFolder.create()) {
            Path config = LabLdap.config(folder.file("directory.json"), "");
            try (ServedProcess controller = folder.controller("--directory-config=" + config);
                    CsiClient client = CsiClient.to(controller.endpoint())) {
                provision("provision", controller, client);
                provision("provision again", controller, client);
                list(controller, client);
                steady(controller);
                audit(folder, config);
                delete(controller, client);
            }
        }
    }

    private void provision(String step, ServedProcess controller, CsiClient client) {
        Timings timings = Load.run(CALLERS, accounts * VOLUMES_EACH, index -> {
            String owner = "u" + (index % accounts + 1);
            return Outcome.of(() -> client.controller()
                            .createVolume(Requests.volume("scale-" + index / accounts, owner, 8 * Requests.MIB)))
                    .ok();
        });
        report(step, controller, timings);
    }

    /// Lists every volume once, by pages.
    private List<String> ids(CsiClient client, List<Long> nanos) {
        List<String> ids = new ArrayList<>();
        String token = "";
        do {
            long began = System.nanoTime();
            ListVolumesResponse page = client.controller()
                    .listVolumes(ListVolumesRequest.newBuilder()
                            .setMaxEntries(PAGE)
                            .setStartingToken(token)
                            .build());
            nanos.add(System.nanoTime() - began);
            page.getEntriesList().forEach(entry -> ids.add(entry.getVolume().getVolumeId()));
            token = page.getNextToken();
        } while (!token.isEmpty());
        return ids;
    }

    private void list(ServedProcess controller, CsiClient client) {
        List<Long> nanos = new ArrayList<>();
        long began = System.nanoTime();
        int found = ids(client, nanos).size();
        report("list by pages of " + PAGE, controller, new Timings(nanos, 0, since(began)));
        good &= found == accounts * VOLUMES_EACH;
    }

    /// Measures an idle controller for a minute: its commands to Ceph and its processor time.
    private void steady(ServedProcess controller) {
        double before = commands(controller);
        long ticks = processorTicks(controller);
        Await.pass(STEADY);
        JsonObject line = line("steady, per minute", controller);
        line.addProperty("ceph_commands", commands(controller) - before);
        line.addProperty("processor_s", (processorTicks(controller) - ticks) / (double) CLOCK_TICKS_PER_SECOND);
        System.out.println(line);
    }

    private static double commands(ServedProcess controller) {
        return controller
                .metrics()
                .lines()
                .map(COMMANDS::matcher)
                .filter(matcher -> matcher.matches())
                .mapToDouble(matcher -> Double.parseDouble(matcher.group(1)))
                .sum();
    }

    /// Returns `utime` plus `stime` (proc_pid_stat(5)).
    private static long processorTicks(ServedProcess controller) {
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(controller.pid()), "stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void audit(DriverFolder folder, Path config) {
        long began = System.nanoTime();
        Command.Result audited = Command.attempt(
                Project.launcher().toString(),
                "audit",
                "--json",
                "--clusters=" + folder.file("clusters.json"),
                "--directory-config=" + config);
        JsonObject line = new JsonObject();
        line.addProperty("step", "audit");
        line.addProperty("seconds", Timings.rounded(since(began).toMillis() / 1000.0));
        line.addProperty(
                "findings",
                audited.output().lines().filter(each -> each.startsWith("{")).count());
        line.addProperty("exit", audited.exit());
        System.out.println(line);
        good &= audited.exit() == 0;
    }

    private void delete(ServedProcess controller, CsiClient client) {
        List<String> ids = ids(client, new ArrayList<>());
        Timings timings = Load.run(
                CALLERS,
                ids.size(),
                index -> Outcome.of(() -> client.controller().deleteVolume(Requests.delete(ids.get(index))))
                        .ok());
        report("delete", controller, timings);
    }

    private void report(String step, ServedProcess controller, Timings timings) {
        JsonObject line = line(step, controller);
        line.addProperty("n", timings.sortedNanos().size() + timings.errors());
        line.addProperty("errors", timings.errors());
        line.addProperty("seconds", Timings.rounded(timings.wall().toMillis() / 1000.0));
        line.addProperty("p50_ms", Timings.rounded(timings.millis(0.5)));
        line.addProperty("p99_ms", Timings.rounded(timings.millis(0.99)));
        System.out.println(line);
        good &= timings.errors() == 0;
    }

    private JsonObject line(String step, ServedProcess controller) {
        JsonObject line = new JsonObject();
        line.addProperty("step", step.toLowerCase(Locale.ROOT));
        line.addProperty("accounts", accounts);
        line.addProperty("callers", CALLERS);
        line.addProperty("resident_mb", Timings.rounded(controller.residentBytes() / MB));
        return line;
    }

    private static Duration since(long began) {
        return Duration.ofNanos(System.nanoTime() - began);
    }
}
