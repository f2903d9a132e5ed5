package dev.siphon.e2e.isolation;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import csi.v1.Volume;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.lab.Await;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/// What keys of volumes open, and what an account can write, with the kernel's client. Runs in a guest: it is the
/// node, and the attacker found a key there.
@Tag("kernel")
@Timeout(600)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class KernelIsolationIT {
    private static final long ALLOWANCE = 32 * Requests.MIB;

    /// Bytes written beyond an allowance until the MDS has told each mount about the other's writes: those of some
    /// seconds.
    private static final long BEYOND = 24 * Requests.MIB;

    private static final Duration BETWEEN_PIECES = Duration.ofMillis(250);

    private final KeyedDriver driver = KeyedDriver.start();

    @AfterAll
    void end() {
        driver.close();
    }

    @TestFactory
    Stream<DynamicTest> nobodyReachesFilesThatAreAnothers() {
        Victims victims = Victims.of(driver);
        return CephAttacks.throughFiles().stream()
                .map(attack -> dynamicTest(attack.title(), () -> victims.attack(attack, (_, _) -> {})));
    }

    @Test
    void twoVolumesOfAnAccountStopAtItsAllowanceTogether() throws IOException {
        List<Volume> volumes = List.of(volume("half"), volume("other-half"));
        List<FileChannel> open = new ArrayList<>();
        try {
            for (Volume volume : volumes) {
                Path mounted = driver.mountsWith(volume, "allowance").mount(volume);
                open.add(FileChannel.open(
                        mounted.resolve("file"), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE));
            }
            long written = writeInTurns(open);
            assertTrue(written > ALLOWANCE / 2, () -> "refused after " + written + " bytes");
            assertTrue(written <= ALLOWANCE + BEYOND, () -> written + " bytes were written of " + ALLOWANCE);
        } finally {
            for (FileChannel each : open) {
                each.close();
            }
        }
    }

    /// Writes slowly to each file in turn, a MiB at a time, until each refuses. Quotas lag by the writes of some
    /// seconds.
    private static long writeInTurns(List<FileChannel> files) {
        ByteBuffer piece = ByteBuffer.allocate((int) Requests.MIB);
        List<FileChannel> left = new ArrayList<>(files);
        long written = 0;
        while (!left.isEmpty() && written <= 2 * ALLOWANCE) {
            FileChannel file = left.removeFirst();
            try {
                written += file.write(piece.clear());
                file.force(false);
                left.add(file);
                Await.pass(BETWEEN_PIECES);
            } catch (IOException refused) {
                assertTrue(refused.toString().contains("quota exceeded"), refused::toString);
            }
        }
        return written;
    }

    private Volume volume(String name) {
        return driver.volume(Requests.volume(name, "u7", ALLOWANCE).toBuilder()
                .putParameters("allowance", Long.toString(ALLOWANCE))
                .putParameters("overcommit", "true")
                .putParameters("mounter", "kernel")
                .build());
    }
}
