package dev.siphon.controller.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.key.NoSessions;
import dev.siphon.csi.DriverException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

final class AddressBlocklistTest {
    private final PartialFailures failures = new PartialFailures();

    /// The clusters `served` and `silent` fail to block; the others succeed.
    private static final class Sessions extends NoSessions {
        @Override
        public void block(String cluster, String address, Duration time) {
            if (cluster.equals("served")) {
                throw new DriverException.InUse("mon.a is there; nothing was blocked");
            }
            if (cluster.equals("silent")) {
                throw new DriverException.BackendUnavailable("no mon answers");
            }
        }
    }

    private AddressBlocklist block(String... clusters) {
        return AddressBlocklist.in(List.of(clusters), new Sessions(), "192.0.2.7", Duration.ofHours(1), failures);
    }

    private String printed() {
        CommandSpec command = CommandSpec.create();
        StringWriter text = new StringWriter();
        boolean _ = failures.print(
                new CommandLine(command).setErr(new PrintWriter(text)).getCommandSpec());
        return text.toString();
    }

    @Test
    void everyClusterIsAskedWhateverOneSays() {
        AddressBlocklist block = block("served", "silent", "yes", "zes");
        assertEquals(List.of("yes", "zes"), block.clusters());
        assertTrue(printed().contains("cluster silent: the address is not blocked: no mon answers"), printed());
        String refused = assertThrows(DriverException.InUse.class, block::requireUnserved)
                .getMessage();
        assertTrue(refused.contains("cluster served: mon.a is there"), refused);
        assertTrue(refused.contains("it is blocked in yes, zes"), refused);
    }

    @Test
    void whereNobodyServesThereKeysMayBeRevoked() {
        AddressBlocklist block = block("yes", "silent");
        block.requireUnserved();
        assertEquals(List.of("yes"), block.clusters());
    }
}
