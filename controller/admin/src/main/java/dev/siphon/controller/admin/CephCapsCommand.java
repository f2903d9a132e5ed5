package dev.siphon.controller.admin;

import dev.siphon.controller.ceph.ClustersFile;
import dev.siphon.controller.ceph.rados.ClusterAccess;
import dev.siphon.controller.check.ControllerCaps;
import dev.siphon.controller.check.ControllerCaps.Feature;
import dev.siphon.controller.config.JsonFile;
import dev.siphon.csi.DriverException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `siphon ceph-caps`: prints the commands that create the controller's identity, for a shell with `client.admin`.
/// Touches no cluster.
@Command(
        name = "ceph-caps",
        description = {
            "Prints the ceph commands that make the controller's identity, with the least caps.",
            "Run them as client.admin. This command itself touches no cluster."
        })
public final class CephCapsCommand implements Callable<Integer> {
    @Spec
    private CommandSpec command = CommandSpec.create();

    @Option(
            names = "--clusters",
            paramLabel = "FILE",
            defaultValue = "${env:SIPHON_CLUSTERS:-}",
            description = "The clusters file: a command for each of its clusters, with its user and keyring file (env"
                    + " SIPHON_CLUSTERS; default: one for --user and --keyring).")
    private String clusters = "";

    @Option(
            names = "--fs",
            paramLabel = "NAME",
            required = true,
            split = ",",
            description = "The file system that volumes are made in; several with commas.")
    private List<String> fileSystems = List.of();

    @Option(
            names = "--user",
            defaultValue = "siphon",
            description = "The identity's name, without 'client.'" + " (default: ${DEFAULT-VALUE}).")
    private String user = "";

    @Option(
            names = "--keyring",
            paramLabel = "FILE",
            defaultValue = "/etc/siphon/ceph.keyring",
            description = "Where its key goes (default: ${DEFAULT-VALUE}).")
    private String keyring = "";

    @Option(names = "--attach", description = "For a controller with --attach, which ends sessions of nodes.")
    private boolean attach;

    @Option(names = "--no-keys", description = "For a controller without --key-dir, which mints no keys.")
    private boolean noKeys;

    @Option(
            names = "--key-commands",
            description = "For 'siphon key rotate' and 'siphon key revoke' too, which list sessions and end them.")
    private boolean keyCommands;

    @Option(names = "--change", description = "For an identity that exists already with other caps.")
    private boolean change;

    @Override
    public Integer call() {
        ControllerCaps caps = caps();
        checkUser();
        PrintWriter out = command.commandLine().getOut();
        out.println("umask 077");
        if (clusters.isEmpty()) {
            out.println(caps.command(user, words(keyring)));
        } else {
            for (ClusterAccess access : file().clusters()) {
                out.println("# cluster " + access.cluster());
                out.println(
                        caps.command(access.user(), words(access.keyringFile().toString())));
            }
        }
        out.flush();
        return CommandLine.ExitCode.OK;
    }

    private ControllerCaps.Words words(String keyringFile) {
        return change ? ControllerCaps.Words.change() : ControllerCaps.Words.make(keyringFile);
    }

    /// Validates the user, because it becomes a word of a shell command.
    private void checkUser() {
        try {
            var _ = ClustersFile.user(user);
        } catch (IllegalArgumentException wrong) {
            throw new ParameterException(command.commandLine(), "--user: " + wrong.getMessage(), wrong);
        }
    }

    private ControllerCaps caps() {
        List<Feature> uses = new ArrayList<>();
        if (!noKeys) {
            uses.add(Feature.KEYS);
        }
        if (attach) {
            uses.add(Feature.ATTACH);
        }
        if (keyCommands) {
            uses.add(Feature.KEY_COMMANDS);
        }
        try {
            return new ControllerCaps(fileSystems, uses);
        } catch (DriverException.InvalidRequest wrong) {
            throw new ParameterException(command.commandLine(), "--fs: " + wrong.getMessage(), wrong);
        }
    }

    private ClustersFile file() {
        try {
            return ClustersFile.read(Path.of(clusters));
        } catch (JsonFile.Invalid invalid) {
            throw new ParameterException(command.commandLine(), "--clusters: " + invalid.getMessage(), invalid);
        }
    }
}
