package dev.siphon.csi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.siphon.csi.DriverException.InvalidRequest;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MonitorsTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '=',
            value = {
                "10.0.0.1                                = [v2:10.0.0.1:3300,v1:10.0.0.1:6789]",
                "10.0.0.1:6789                           = [v1:10.0.0.1:6789]",
                "10.0.0.1:3300                           = [v2:10.0.0.1:3300]",
                "10.0.0.1:7000                           = [v1:10.0.0.1:7000]",
                "v2:10.0.0.1:7000/0                      = [v2:10.0.0.1:7000]",
                "[v2:10.0.0.1:3300/0,v1:10.0.0.1:6789/0] = [v2:10.0.0.1:3300,v1:10.0.0.1:6789]",
                "[v2:10.0.0.1:3300/0,v1:10.0.0.1:6789/0],10.0.0.2 "
                        + "= [v2:10.0.0.1:3300,v1:10.0.0.1:6789],[v2:10.0.0.2:3300,v1:10.0.0.2:6789]",
                "[fd00::1]                               = [v2:[fd00::1]:3300,v1:[fd00::1]:6789]",
                "[fd00::1]:6789                          = [v1:[fd00::1]:6789]",
                "[v2:[fd00::1]:3300/0,v1:[fd00::1]:6789/0],[fd00::2]:3300 "
                        + "= [v2:[fd00::1]:3300,v1:[fd00::1]:6789],[v2:[fd00::2]:3300]",
                "mon-a.lab,mon-b.lab:6789                = [v2:mon-a.lab:3300,v1:mon-a.lab:6789],[v1:mon-b.lab:6789]",
            })
    void everyFormOfMonHostIsRead(String monHost, String spelledOut) {
        assertEquals(spelledOut, Monitors.parse(monHost).toString());
        assertEquals(Monitors.parse(monHost), Monitors.parse(spelledOut), "what it writes it reads");
    }

    @Test
    void aListIsSplitBetweenMonitorsAlone() {
        String list = "[v2:10.0.0.1:3300,v1:10.0.0.1:6789],10.0.0.2,[fd00::1]:3300";
        assertEquals(
                List.of("[v2:10.0.0.1:3300,v1:10.0.0.1:6789]", "10.0.0.2", "[fd00::1]:3300"), Monitors.split(list));
        assertEquals(List.of(), Monitors.split(""));
        assertEquals(
                Set.of("10.0.0.1", "10.0.0.2", "fd00::1"), Monitors.parse(list).hosts());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ",",
                "10.0.0.1,",
                ",10.0.0.1",
                "10.0.0.1,,10.0.0.2",
                "10.0.0.1:0",
                "10.0.0.1:65536",
                "10.0.0.1:99999999999",
                "10.0.0.1:x",
                "v3:10.0.0.1:3300",
                "[v2:10.0.0.1:3300",
                "[v2:10.0.0.1:3300,10.0.0.1]",
                "[v2:10.0.0.1:3300]10.0.0.2",
                "10.0.0.1 10.0.0.2",
                "10.0.0.1 -o fsname=x",
                "-m",
                "a b",
                "fd00::1",
                "10.0.0.1:/path",
            })
    void anythingElseIsRefused(String monHost) {
        assertThrows(InvalidRequest.class, () -> Monitors.parse(monHost));
    }

    @Test
    void aListThatIsTooLongIsRefused() {
        assertThrows(InvalidRequest.class, () -> Monitors.parse("10.0.0.1," + "10.0.0.2,".repeat(120) + "10.0.0.3"));
    }
}
