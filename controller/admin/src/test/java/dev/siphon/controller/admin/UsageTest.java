package dev.siphon.controller.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/// Flags that would be ignored, or would mix two outputs on stdout, are refused before any cluster is contacted.
class UsageTest {
    private static final String VOLUME = "s1:lab:cephfs:a1:v1";

    private static void refused(Callable<Integer> command, String said, String... words) {
        StringWriter err = new StringWriter();
        int exit = new CommandLine(command)
                .setErr(new PrintWriter(err, true))
                .execute(Stream.concat(Stream.of("--clusters=/nowhere"), Stream.of(words))
                        .toArray(String[]::new));
        assertEquals(2, exit, err.toString());
        assertTrue(err.toString().startsWith(said), err.toString());
    }

    @Test
    void anAddressIsBlockedOnlyWhereOneIsNamed() {
        for (List<String> which : List.of(List.of(VOLUME), List.of("--node", "worker-1"))) {
            refused(
                    new KeyRevokeCommand(),
                    "--block-address needs --node ADDRESS",
                    Stream.concat(which.stream(), Stream.of("--block-address", "24"))
                            .toArray(String[]::new));
        }
    }

    @Test
    void anAddressIsBlockedForAnHourAtLeast() {
        for (String hours : List.of("-3", "0")) {
            String said = "--block-address: must be at least 1 hour";
            refused(new KeyRevokeCommand(), said, VOLUME, "--block-address", hours);
            refused(new KeyRevokeCommand(), said, "--node", "10.0.0.7", "--block-address", hours);
        }
    }

    @Test
    void noKeyIsOlderThanNow() {
        refused(new KeyRotateCommand(), "--all-older-than: must be at least 0 days", "--all-older-than", "-5");
        refused(new KeyRotateCommand(), "--wait: must be at least 0 seconds", VOLUME, "--wait", "-1");
    }

    @Test
    void aCheckWaitsForASecondAtLeast() {
        refused(new CheckControllerCommand(), "--timeout: must be at least 1 second", "--timeout", "0");
    }

    @Test
    void jsonAndAKeyringDoNotShareStdout() {
        refused(new HomeCommand(), "--keyring - and --json do not go together", "u1", "--json", "--keyring", "-");
    }
}
