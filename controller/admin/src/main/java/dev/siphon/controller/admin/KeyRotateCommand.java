package dev.siphon.controller.admin;

import dev.siphon.controller.Backend;
import dev.siphon.controller.key.ClientSession;
import dev.siphon.controller.key.KeyRotation;
import dev.siphon.controller.key.KeyRotation.Progress;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.report.Table;
import dev.siphon.csi.report.Table.Cell;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `siphon key rotate`: replaces the keys of volumes while they are in use.
@Command(
        name = "rotate",
        description = {
            "Gives volumes other keys without unmounting them.",
            "Mints a second identity, puts its key in place of the first one, and removes the first identity"
                    + " once no session",
            "uses it. Run it again to continue. Exits 1 while older keys are in use.",
            "For a dataset, replaces the keys that no session uses: each node has its own, and asks for it again."
        })
final class KeyRotateCommand implements Callable<Integer> {
    private static final Duration POLL = Duration.ofSeconds(1);

    @Spec
    private CommandSpec command = CommandSpec.create();

    @Mixin
    private AdminOptions options = new AdminOptions();

    @ArgGroup(multiplicity = "1")
    private Which which = new Which();

    @Option(
            names = "--wait",
            paramLabel = "SECONDS",
            defaultValue = "0",
            description = "Seconds to wait for sessions with the older keys to end (default: ${DEFAULT-VALUE}).")
    private int waitSeconds;

    /// Selects the volumes.
    static final class Which {
        @Parameters(
                paramLabel = "VOLUME",
                description = {
                    "The ids of volumes, or dataset:NAME for all keys of a dataset. The id of a claim's volume"
                            + " that shows",
                    "one means the key in the Secrets of such claims, if nodes do not ask for their own."
                },
                arity = "1..*")
        private List<String> volumes = List.of();

        @Option(
                names = "--all-older-than",
                paramLabel = "DAYS",
                description = "All volumes whose key is older, or whose rotation is unfinished.")
        private Optional<Integer> days = Optional.empty();
    }

    @Override
    public Integer call() {
        check();
        return options.run(command, this::rotate);
    }

    /// @throws ParameterException if a flag is invalid, before anything is changed
    private void check() {
        if (which.days.filter(days -> days < 0).isPresent()) {
            throw new ParameterException(
                    command.commandLine(), "--all-older-than: must be at least 0 days; 0 is for all volumes with keys");
        }
        if (waitSeconds < 0) {
            throw new ParameterException(
                    command.commandLine(), "--wait: must be at least 0 seconds; leave it out to wait for none");
        }
    }

    private int rotate(Backend backend) {
        KeyRotation rotation = new KeyRotation(
                backend.ceph().identities(),
                VolumeArguments.store(command, backend),
                backend.ceph().clientSessions(),
                volume -> VolumeArguments.exists(backend, volume));
        Map<Boolean, List<String>> kinds =
                which.volumes.stream().collect(Collectors.partitioningBy(DatasetArguments::isDataset));
        List<VolumeId.Provisioned> volumes = which.days
                .map(days -> rotation.due(Duration.ofDays(days), Instant.now()))
                .orElseGet(() -> VolumeArguments.parse(command, kinds.getOrDefault(false, List.of())));
        PartialFailures failures = new PartialFailures();
        DatasetArguments datasets = new DatasetArguments(command, backend, failures);
        kinds.getOrDefault(true, List.of()).forEach(datasets::add);
        List<Progress> states = new ArrayList<>();
        volumes.forEach(volume -> failures.collect(volume, () -> states.add(rotation.rotate(volume))));
        long end = System.nanoTime() + Duration.ofSeconds(waitSeconds).toNanos();
        while (states.stream().anyMatch(state -> !state.isDone()) && System.nanoTime() < end) {
            LockSupport.parkNanos(POLL.toNanos());
            states.replaceAll(state ->
                    state.isDone() ? state : rotation.finish(state.current().volume()));
        }
        Table table = new Table("volume", "identity", "older used by");
        states.forEach(state -> table.row(
                new Cell.Text(state.current().volume().toString()),
                new Cell.Text("client." + state.current().userId()),
                new Cell.Text(state.usedBy().stream()
                        .map(ClientSession::host)
                        .distinct()
                        .sorted()
                        .collect(Collectors.joining(",")))));
        boolean isDone = datasets.rotate(table);
        options.print(command, table);
        boolean failed = failures.print(command);
        return !failed && isDone && states.stream().allMatch(Progress::isDone) ? 0 : 1;
    }
}
