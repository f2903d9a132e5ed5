package dev.siphon.node.fuse;

import dev.siphon.node.linux.ChildProcess;
import dev.siphon.node.linux.MemoryFile;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.mount.CephCredentials;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/// Starts FUSE processes as children. On a plain host they outlive this process; in a container they end with it.
///
/// Keys are passed in a file that exists only in memory, through `/proc` (see [MemoryFile]). The child reads it
/// once.
public final class FuseChildren implements FuseProcesses {
    @Override
    public ChildProcess.StartOutcome start(FuseStart start, Duration limit) {
        return start(start, limit, () -> isServed(start), _ -> {});
    }

    /// Does the same, and passes the process to `started` at once.
    ///
    /// @param serves as of [ChildProcess#start(List, Duration, BooleanSupplier, Consumer)]
    ChildProcess.StartOutcome start(
            FuseStart start, Duration limit, BooleanSupplier serves, Consumer<Process> started) {
        List<String> command = new ArrayList<>(List.of(start.program().command()));
        if (start.credentials().isEmpty()) {
            command.addAll(start.arguments());
            return ChildProcess.start(command, limit, serves, started);
        }
        CephCredentials credentials = start.credentials().get();
        try (MemoryFile keyring = keyring(credentials)) {
            command.add("--keyring=" + keyring.path());
            command.addAll(start.arguments());
            ChildProcess.StartOutcome outcome = ChildProcess.start(command, limit, serves, started);
            // mask the key, whatever this or a later version prints
            String said = outcome.output().replace(credentials.key().reveal(), "***");
            return new ChildProcess.StartOutcome(outcome.inTime(), outcome.serving(), said);
        }
    }

    /// Whether the mount exists.
    static boolean isServed(FuseStart start) {
        return MountTable.read()
                .at(start.mountPoint().toString())
                .filter(mount -> start.program().serves(mount, start.tag()))
                .isPresent();
    }

    private static MemoryFile keyring(CephCredentials credentials) {
        String text = "[client." + credentials.userId() + "]\n\tkey = "
                + credentials.key().reveal() + "\n";
        byte[] octets = text.getBytes(StandardCharsets.US_ASCII);
        try {
            return MemoryFile.of("keyring", octets);
        } finally {
            Arrays.fill(octets, (byte) 0);
        }
    }

    @Override
    public boolean awaitEnd(FuseProgram program, String tag, Duration limit) {
        Optional<ProcessHandle> process = program.process(tag);
        if (process.isEmpty()) {
            return true;
        }
        try {
            var _ = process.get().onExit().get(limit.toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return false;
        } catch (TimeoutException | ExecutionException _) {
            return false;
        }
    }
}
