package dev.siphon.controller.admin;

import dev.siphon.controller.key.VolumeKey;
import dev.siphon.csi.ByteSize;
import java.nio.file.Path;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/// The flags of `siphon home`, for picocli's `@Mixin`.
final class HomeOptions {
    @Option(names = "--cluster", description = "The cluster's id (default: the default one).", defaultValue = "")
    String cluster = "";

    @Option(names = "--fs", description = "The Ceph file system (default: the only one).", defaultValue = "")
    String fileSystem = "";

    @Option(
            names = "--size",
            description = "Size of a new home, and least size of an existing one: bytes or 20Gi (default: 1Gi).",
            defaultValue = "")
    private String size = "";

    @Option(
            names = "--host",
            description = "Which login host, or kind of host, the key is for; each has its own (default: login).",
            defaultValue = "login")
    private String host = "";

    @Option(
            names = "--at",
            paramLabel = "PATH",
            description = "Where the host mounts the home (default: /home/ACCOUNT).",
            defaultValue = "")
    private String at = "";

    @Option(
            names = "--keyring",
            paramLabel = "FILE",
            description = "Write the host's keyring to FILE, and the bare key to FILE.secret, both with mode 0600; '-'"
                    + " prints the keyring (default: neither).",
            defaultValue = "")
    private String keyring = "";

    @Option(names = "--forget", description = "Take the host's key away; the home stays.")
    private boolean forget;

    @Option(
            names = "--delete",
            description = "Remove the home with all its files, and the host's key; needs --yes. Refused while"
                    + " another volume stands for the home.")
    private boolean delete;

    @Option(names = "--yes", description = "Confirm --delete.")
    private boolean yes;

    enum Action {
        SHOW,
        FORGET,
        DELETE
    }

    /// @param json whether stdout is JSON
    /// @throws CommandLine.ParameterException if flags conflict or are invalid
    void check(CommandSpec command, boolean json) {
        if (forget && delete) {
            throw usage(command, "--forget and --delete do not go together");
        }
        if (delete != yes) {
            throw usage(
                    command, delete ? "--delete removes files forever: it needs --yes" : "--yes goes with --delete");
        }
        if (!host.matches("[A-Za-z0-9][A-Za-z0-9._-]{0,62}")) {
            throw usage(command, "--host must be a name of letters, digits, '.', '_' and '-'");
        }
        try {
            var _ = sizeBytes();
        } catch (IllegalArgumentException wrong) {
            throw usage(command, "--size: " + wrong.getMessage());
        }
        if (json && printsKeyring()) {
            throw usage(
                    command, "--keyring - and --json do not go together, both are for stdout: give --keyring a FILE");
        }
        if (!at.isEmpty() && !Path.of(at).isAbsolute()) {
            throw usage(command, "--at must be absolute");
        }
    }

    private static CommandLine.ParameterException usage(CommandSpec command, String message) {
        return new CommandLine.ParameterException(command.commandLine(), message);
    }

    Action action() {
        return delete ? Action.DELETE : forget ? Action.FORGET : Action.SHOW;
    }

    /// Returns the name of the host's volume; no claim has such a name.
    String volumeName() {
        return "home-at-" + host;
    }

    /// Returns the requested size; 0 if none was given.
    long sizeBytes() {
        return size.isEmpty() ? 0 : ByteSize.bytes(size);
    }

    Path mountPoint(String account) {
        return at.isEmpty() ? Path.of("/home", account) : Path.of(at);
    }

    boolean printsKeyring() {
        return keyring.equals("-");
    }

    boolean writesKeyring() {
        return !keyring.isEmpty() && !printsKeyring();
    }

    /// Returns where the host has its keyring: the file that is written now, or the default path of Ceph's clients.
    Path keyringAtHost(VolumeKey key) {
        return writesKeyring()
                ? Path.of(keyring).toAbsolutePath()
                : Path.of("/etc/ceph", "ceph.client." + key.userId() + ".keyring");
    }
}
