package dev.siphon.controller.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.siphon.csi.DriverException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FileAccountDirectoryTest extends AccountDirectoryContract {
    @TempDir
    private Path folder = Path.of("");

    @BeforeEach
    void write() throws IOException {
        passwd("""
                # people
                u1:x:10001:10001::/home/u1:/bin/sh
                u2:x:10002:10002::/home/u2:/bin/sh
                u3:x:10003:20003::/home/u3:/bin/sh
                high:x:4294967294:10004::/:/bin/sh
                """);
        group("lab:x:20001:u1,u2\nothers:x:10001:\nempty:x:20002:\n");
    }

    private void passwd(String text) throws IOException {
        Files.writeString(folder.resolve("passwd"), text);
    }

    private void group(String text) throws IOException {
        Files.writeString(folder.resolve("group"), text);
    }

    @Override
    protected AccountDirectory directory() {
        return new FileAccountDirectory(folder.resolve("passwd"), folder.resolve("group"));
    }

    @Test
    void whoseFirstGroupItIsIsInIt() throws IOException {
        group("lab:x:20003:u1\n");
        for (String member : List.of("u1", "u3")) {
            assertEquals(
                    Set.of("lab"), directory().account(member).orElseThrow().groups());
        }
        assertEquals(Set.of(), directory().account("u2").orElseThrow().groups());
    }

    @Test
    void largeNumbersAreUnsigned() {
        assertEquals(
                "4294967294",
                Integer.toUnsignedString(
                        directory().account("high").orElseThrow().uid()));
    }

    @Test
    void aReusedNameWithAnotherUidIsAnotherAccount() throws IOException {
        String before = directory().account("u1").orElseThrow().id();
        passwd("u1:x:30001:10001::/home/u1:/bin/sh\n");
        assertNotEquals(before, directory().account("u1").orElseThrow().id());
    }

    @Test
    void twoLinesForOneNameAreRefused() throws IOException {
        passwd("u1:x:1:1:::\nu1:x:2:2:::\n");
        assertThrows(DriverException.BackendFault.class, () -> directory().account("u1"));
    }

    @Test
    void aFileThatCannotBeReadIsUnavailable() throws IOException {
        Files.delete(folder.resolve("passwd"));
        assertThrows(DriverException.BackendUnavailable.class, () -> directory().account("u1"));
    }
}
