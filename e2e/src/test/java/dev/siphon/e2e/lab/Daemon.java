package dev.siphon.e2e.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/// A daemon of the lab that this process runs in, Ceph's or the directory's; what `lab.d/daemon` does.
public enum Daemon {
    MON,
    MGR,
    OSD,
    MDS,
    LDAP;

    /// Stops it from running without ending it (SIGSTOP): it holds its connections and answers nothing.
    public void pause() {
        signal("STOP");
    }

    /// Lets a paused one run on.
    public void resume() {
        signal("CONT");
    }

    /// Ends it at once (SIGKILL); not for the OSD, which holds its data in memory.
    public void kill() {
        signal("KILL");
    }

    /// Ends it (SIGTERM).
    public void terminate() {
        signal("TERM");
    }

    /// Starts one that has ended.
    public void start() {
        Command.run(script(), "start", id());
    }

    /// Puts it back to work, whatever state a test left it in.
    public void restore() {
        switch (state()) {
            case 'T' -> resume();
            case 'X' -> start();
            default -> {}
        }
    }

    /// The state letter of its process (proc_pid_stat(5)); `X` if there is none.
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
