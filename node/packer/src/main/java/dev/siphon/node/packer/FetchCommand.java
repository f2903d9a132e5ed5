package dev.siphon.node.packer;

import com.google.gson.JsonObject;
import dev.siphon.csi.DriverException;
import dev.siphon.node.fetch.FetchFailure;
import dev.siphon.node.unpack.TreeFetch;
import java.time.Clock;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/// `siphon dataset fetch`: fills an account's volume, as the account, with data that the account names. Needs the
/// volume, mounted, and the network; no key of Ceph, and nothing of Kubernetes.
@Command(
        name = "fetch",
        description = {
            "Fetches files from a server, a bucket or a directory into a directory.",
            "Everything is checked before anything is written: what would leave the directory, devices, and more than"
                    + " the limits are refused. If killed, it resumes where it stopped. Prints its progress on stdout,"
                    + " as lines of JSON.",
            "Exits 0 when done, 75 after a failure that may pass, and 2 after another one."
        })
public final class FetchCommand implements Callable<Integer> {
    /// `EX_TEMPFAIL` of sysexits.h.
    private static final int TRY_AGAIN = 75;

    private static final int FAILED = 2;

    @Spec
    private CommandSpec command = CommandSpec.create();

    @Mixin
    private FetchOptions options = new FetchOptions();

    @Override
    public Integer call() {
        JsonObject end;
        int code = 0;
        try {
            end = FetchReport.done(run());
        } catch (FetchFailure e) {
            end = FetchReport.failed(e);
            code = e.reason().isRetryable() ? TRY_AGAIN : FAILED;
            command.commandLine().getErr().println("siphon: " + e.getMessage());
            command.commandLine().getErr().flush();
        }
        FetchReport.write(end, options.terminationLog());
        return code;
    }

    private TreeFetch.Result run() {
        try {
            FetchReport report = new FetchReport(
                    command.commandLine().getOut(), new ProgressNote(options.into()), Clock.systemUTC());
            return new TreeFetch(options.request(), report).run();
        } catch (DriverException e) {
            throw FetchFailure.of(e);
        }
    }
}
