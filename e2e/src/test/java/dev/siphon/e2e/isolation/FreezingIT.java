package dev.siphon.e2e.isolation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import csi.v1.Volume;
import dev.siphon.e2e.driver.LeavesNothingBehind;
import dev.siphon.e2e.driver.NodeMounts;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.isolation.KeyedDriver.Secrets;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Command;
import io.grpc.Status;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/// Runs `siphon user offboard` while the account's volumes are mounted, and after the directory has lost the
/// account.
@Timeout(180)
@ExtendWith(LeavesNothingBehind.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class FreezingIT {
    private static final Duration KEYS_WITHIN = Duration.ofSeconds(30);

    private final KeyedDriver driver = KeyedDriver.start();

    @AfterAll
    void end() {
        driver.close();
    }

    @Test
    void whatIsMountedEndsAndComesBackWithAnotherKey() throws IOException {
        Volume volume = driver.volume("frozen", "u1");
        Volume beside = driver.volume("beside-frozen", "u2");
        Secrets before = driver.secrets(volume);
        NodeMounts mounts = driver.mountsWith(volume, "frozen");
        Path mounted = mounts.mount(volume);
        Path spared = driver.mountsWith(beside, "beside-frozen").mount(beside);
        Files.writeString(mounted.resolve("file"), "before");
        try (FileChannel open =
                FileChannel.open(mounted.resolve("open"), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            KeyCommandsIT.write(open);

            JsonObject frozen = siphon("user", "offboard", "u1");

            assertEquals("frozen", frozen.get("state").getAsString());
            assertEquals(1, frozen.get("keys").getAsInt());
            assertTrue(frozen.get("sessions_ended").getAsInt() > 0, frozen.toString());
            assertEquals("", frozen.get("note").getAsString());
            assertThrows(IOException.class, () -> KeyCommandsIT.write(open), "in a session that was open");
        } catch (IOException whatCouldNotBeWritten) {
            // close(2) reports the failed write once more
            assertFalse(whatCouldNotBeWritten.toString().isEmpty());
        }
        assertThrows(IOException.class, () -> Files.readString(mounted.resolve("file")));
        Files.writeString(spared.resolve("file"), "another account's");
        mounts.close();

        assertEquals(
                "goes on",
                siphon("user", "offboard", "u1", "--unfreeze").get("state").getAsString());
        Secrets after = driver.secrets(volume);
        assertNotEquals(before.key(), after.key());
        assertEquals(
                "before",
                Files.readString(
                        driver.mountsWith(volume, "unfrozen").mount(volume).resolve("file")));
    }

    @Test
    void anAccountThatIsGoneIsFrozenAllTheSame() throws IOException {
        Volume volume = driver.volume("of-nobody", "u5");
        for (String file : List.of("passwd", "group")) {
            Path accounts = driver.folder().file(file);
            Files.write(
                    accounts,
                    Files.readAllLines(accounts).stream()
                            .filter(line -> !line.startsWith("u5:"))
                            .toList());
        }
        Outcome<?> refused = Outcome.of(() ->
                driver.controller().controller().createVolume(Requests.volume("more-of-nobody", "u5", Requests.GIB)));
        assertEquals(Status.Code.INVALID_ARGUMENT, refused.code());

        JsonObject frozen = siphon("user", "offboard", "u5");

        assertEquals(1, frozen.get("volumes").getAsInt());
        assertEquals(1, frozen.get("keys").getAsInt());
        assertFalse(Files.exists(driver.keys().resolve(volume.getVolumeId() + ".json")));
        assertEquals(0, siphon("user", "offboard", "u5").get("keys").getAsInt(), "again");
        String audit = driver.siphon("audit", "--pause=1", "--json").output();
        assertTrue(audit.contains("\"frozen\""), audit);

        Path exported = Files.createDirectory(driver.folder().file("export"));
        assertTrue(Files.exists(Path.of(siphon("user", "offboard", "u5", "--export", exported.toString())
                .get("file")
                .getAsString())));
        siphon("user", "offboard", "u5", "--unfreeze");
        Await.until(
                "another key", KEYS_WITHIN, () -> Files.exists(driver.keys().resolve(volume.getVolumeId() + ".json")));
    }

    @Test
    void whoeverMakesTheMgrWaitIsFrozenWithoutIt() throws IOException, KeyHolder.Refused {
        Volume volume = driver.volume("held", "u3");
        KeyHolder thief = driver.finderOf(volume);
        try (HeldGroup held = HeldGroup.by(thief, volume.getVolumeId().split(":", -1)[3])) {
            assertTrue(held.isHeld());
            JsonObject frozen = siphon("user", "offboard", "u3");
            assertEquals("frozen", frozen.get("state").getAsString());
            assertEquals(1, frozen.get("keys").getAsInt());
            assertTrue(frozen.get("sessions_ended").getAsInt() > 0, frozen.toString());
        }
        assertFalse(Files.exists(driver.keys().resolve(volume.getVolumeId() + ".json")));
        siphon("user", "offboard", "u3", "--unfreeze");
    }

    private JsonObject siphon(String... words) {
        Command.Result result = driver.siphon(
                Stream.concat(Stream.of(words), Stream.of("--json")).toArray(String[]::new));
        assertEquals(0, result.exit(), result.output());
        return JsonParser.parseString(result.output()).getAsJsonObject();
    }
}
