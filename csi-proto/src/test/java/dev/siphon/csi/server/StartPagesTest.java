package dev.siphon.csi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.server.StartPages.Mapping;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StartPagesTest {
    private static final String RADOS = "/usr/lib/librados.so.2.0.0";
    private static final String CACHE = "/opt/siphon/lib/controller.aot";

    private final List<String> smaps = new ArrayList<>();

    private void mapping(String begin, String end, String permissions, String file, int anonymousKb) {
        smaps.add(begin + "-" + end + " " + permissions + " 00001000 fe:00 10084468     " + file);
        smaps.add("Rss:                 640 kB");
        smaps.add("Anonymous:          " + String.format("%6d", anonymousKb) + " kB");
        smaps.add("Swap:                  0 kB");
        smaps.add("VmFlags: rd mr mw me");
    }

    private List<String> found() {
        return StartPages.asInFile(smaps).stream()
                .map(each -> Long.toHexString(each.begin) + "+" + Long.toHexString(each.bytes))
                .toList();
    }

    @Test
    void codeAndReadOnlyDataOfALoadedLibraryAreAsInTheFile() {
        mapping("1000", "2000", "r--p", RADOS, 0);
        mapping("2000", "5000", "r-xp", RADOS, 0);
        mapping("5000", "6000", "r--p", RADOS, 4);
        mapping("6000", "7000", "rw-p", RADOS, 4);

        assertEquals(List.of("1000+1000", "2000+3000"), found(), "and what relocations wrote to is not");
    }

    @Test
    void aLibraryThatIsBeingLoadedIsLeftAlone() {
        mapping("1000", "2000", "r--p", RADOS, 0);
        mapping("2000", "5000", "r-xp", RADOS, 0);
        mapping("5000", "7000", "r--p", RADOS, 0);

        assertEquals(List.of(), found());
    }

    @Test
    void aCacheThatWasPatchedIsLeftAlone() {
        mapping("1000", "2000", "rw-p", CACHE, 4);
        mapping("2000", "3000", "r--p", CACHE, 4);

        assertEquals(List.of(), found());
    }

    @Test
    void aPageInSwapWasWritten() {
        mapping("1000", "2000", "rw-p", CACHE, 4);
        mapping("2000", "3000", "r--p", CACHE, 0);
        assertEquals(List.of("2000+1000"), found());

        smaps.replaceAll(line -> line.startsWith("Swap:") ? "Swap:                  4 kB" : line);
        assertEquals(List.of(), found());
    }

    @Test
    void whatMayBeUnloadedIsLeftAlone() {
        mapping("1000", "2000", "r-xp", "/usr/lib/gconv/UTF-16.so", 0);
        mapping("2000", "3000", "rw-p", "/usr/lib/gconv/UTF-16.so", 0);
        mapping("3000", "4000", "r-xp", "", 0);

        assertEquals(List.of(), found());
    }

    @Test
    void thisProcessLosesPagesAndGoesOn() throws IOException {
        List<Mapping> before = StartPages.asInFile(Files.readAllLines(Path.of("/proc/self/smaps")));
        assertFalse(before.isEmpty(), "the virtual machine itself");
        assertTrue(before.stream().allMatch(each -> each.permissions.startsWith("r-")));

        long resident = residentBytes();
        new StartPages().letGo();

        assertTrue(residentBytes() < resident, "less is resident");
    }

    private static long residentBytes() throws IOException {
        return Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ", 3)[1]);
    }
}
