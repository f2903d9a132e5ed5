package dev.siphon.e2e.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/// A daemon of this process's lab, Ceph's or the directory's, controlled by `lab.d/daemon`.
public enum Daemon {
    MON,
    MGR,
    OSD,
    MDS,
    LDAP;

    /// Pauses the daemon (SIGSTOP): it keeps its connections and does not reply.
    public void pause() {
        signal("STOP");
    }

    /// Resumes a paused daemon.
    public void resume() {
        signal("CONT");
    }

    /// Kills the daemon (SIGKILL); not for the OSD, which holds its data in memory.
    public void kill() {
        signal("KILL");
    }

    /// Terminates the daemon (SIGTERM).
    public void terminate() {
        signal("TERM");
    }

    /// Starts a daemon that has ended.
    public void start() {
        Command.run(script(), "start", id());
    }

    /// Resumes or starts the daemon, whatever state a test left it in.
    public void restore() {
        switch (state()) {
            case 'T' -> resume();
            case 'X' -> start();
            default -> {}
        }
    }

    /// Returns the state letter of its process (proc_pid_stat(5)), or `X` without a process.
    private char state() {
        try {
            Path pidFile = Lab.here().run().resolve("daemon").resolve(id() + ".pid");
            Path stat = Path.of("/proc", Files.readString(pidFile).strip(), "stat");
            if (!Files.exists(stat)) {
                return 'X';
            }
            String text = Files.readString(stat);
            char state = text.charAt(text.lastIndexOf(')') + 2);
            return state == 'Z' ? 'X' : state;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void signal(String signal) {
        Command.run(script(), "sig", signal, id());
    }

    private String id() {
        return name().toLowerCase(Locale.ROOT);
    }

    private static String script() {
        return Project.folder().resolve("e2e/lab.d/daemon").toString();
    }
}
