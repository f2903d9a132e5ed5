package dev.siphon.e2e.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import csi.v1.CapacityRange;
import csi.v1.ControllerExpandVolumeRequest;
import csi.v1.ControllerGetVolumeRequest;
import csi.v1.Volume;
import dev.siphon.e2e.driver.LeavesNothingBehind;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Lab;
import io.grpc.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/// Offboarding: an account is frozen, its volumes are handed over and exported, and nothing is deleted. `siphon
/// audit` reports no defects.
@ExtendWith(LeavesNothingBehind.class)
@Timeout(180)
final class OffboardIT {
    private static final int U6 = 10006;
    private static final int U7 = 10007;
    private static final Duration KEYS_WITHIN = Duration.ofSeconds(20);

    @TempDir
    private Path keys = Path.of("");

    /// Runs `siphon` with `--json`, as an administrator would beside the controller.
    private List<JsonObject> siphon(Setup setup, int exit, String... words) {
        Command.Result result = attempt(setup, words);
        assertEquals(exit, result.exit(), result.output());
        return result.output()
                .lines()
                .filter(line -> line.startsWith("{"))
                .map(line -> JsonParser.parseString(line).getAsJsonObject())
                .toList();
    }

    private Command.Result attempt(Setup setup, String... words) {
        return setup.siphon(
                keys, Stream.concat(Stream.of(words), Stream.of("--json")).toArray(String[]::new));
    }

    private Path key(Volume volume) {
        return keys.resolve(volume.getVolumeId() + ".json");
    }

    private void awaitKey(Volume volume) {
        dev.siphon.e2e.lab.Await.until("a key is minted", KEYS_WITHIN, () -> Files.exists(key(volume)));
    }

    private static Status.Code code(Supplier<?> call) {
        return Outcome.of(call).code();
    }

    private static void assertNothingIsMade(Setup setup, Volume volume) {
        var controller = setup.controller().controller();
        String id = volume.getVolumeId();
        Map<String, Supplier<?>> calls = Map.of(
                "CreateVolume", () -> controller.createVolume(Requests.volume("more", "u6", Requests.GIB)),
                "again", () -> controller.createVolume(Requests.volume("leaves", "u6", Requests.GIB)),
                "clone",
                        () -> controller.createVolume(
                                Requests.fromVolume(Requests.volume("copy", "u6", Requests.GIB), id)),
                "CreateSnapshot", () -> controller.createSnapshot(Requests.snapshot("snap", id)),
                "Expand",
                        () -> controller.controllerExpandVolume(ControllerExpandVolumeRequest.newBuilder()
                                .setVolumeId(id)
                                .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(2 * Requests.GIB))
                                .build()));
        calls.forEach((name, call) -> assertEquals(Status.Code.FAILED_PRECONDITION, code(call), name));
        assertEquals(
                Status.Code.OK,
                code(() -> controller.controllerGetVolume(
                        ControllerGetVolumeRequest.newBuilder().setVolumeId(id).build())));
    }

    @Test
    void aFrozenAccountKeepsItsVolumesAndGetsNothing() throws IOException {
        try (Setup setup = Setup.start("--key-dir=" + keys)) {
            Volume volume = setup.volume("leaves", "u6", Requests.GIB);
            Volume others = setup.volume("stays", "u7", Requests.GIB);
            List.of(volume, others).forEach(this::awaitKey);

            for (int time = 0; time < 2; time++) {
                JsonObject frozen = siphon(setup, 0, "user", "offboard", "u6").getFirst();
                assertEquals("frozen", frozen.get("state").getAsString());
                assertEquals(1, frozen.get("volumes").getAsInt());
                assertEquals(1 - time, frozen.get("keys").getAsInt());
            }
            assertFalse(Files.exists(key(volume)));
            assertTrue(Files.exists(key(others)));
            assertNothingIsMade(setup, volume);
            setup.volume("goes-on", "u7", Requests.GIB);
            List<JsonObject> found = siphon(setup, 0, "audit", "--pause=1");
            assertEquals(
                    List.of("frozen"),
                    found.stream()
                            .map(each -> each.get("finding").getAsString())
                            .toList());

            Path inTheWay = Files.createDirectory(key(volume));
            assertEquals(
                    1, attempt(setup, "user", "offboard", "u6", "--unfreeze").exit());
            assertNothingIsMade(setup, volume);
            Files.delete(inTheWay);
            siphon(setup, 0, "user", "offboard", "u6", "--unfreeze");
            awaitKey(volume);
            setup.volume("back", "u6", Requests.GIB);
            assertEquals(List.of(), siphon(setup, 0, "audit", "--pause=1"));
            assertEquals(
                    1, attempt(setup, "user", "offboard", "u8", "--unfreeze").exit());
            assertEquals(1, attempt(setup, "user", "offboard", "nobody-at-all").exit());
        }
    }

    @Test
    void volumesAreHandedOverAndExported(@TempDir Path folder) throws IOException {
        try (Setup setup = Setup.start("--key-dir=" + keys)) {
            Volume volume = setup.volume("handed", "u6", Requests.GIB);
            Path mounted = setup.mounts().mount(volume);
            Contents.write(U6, mounted);
            assertEquals(0, Contents.as(U6, mounted, script()).exit());
            Map<String, String> contents = Contents.read(mounted);
            setup.mounts().unpublish(volume, "pod");
            setup.mounts().unstage(volume);
            siphon(setup, 0, "user", "offboard", "u6");

            JsonObject copy = siphon(setup, 0, "user", "offboard", "u6", "--hand-over", "u7")
                    .getFirst();
            assertEquals(volume.getVolumeId(), copy.get("volume").getAsString());
            Volume made = setup.volume(Requests.fromVolume(
                            Requests.volume(
                                    "handover-" + volume.getVolumeId().replaceAll(".*:", ""), "u7", Requests.GIB),
                            volume.getVolumeId())
                    .toBuilder()
                    .putParameters("copyAcrossAccounts", "true")
                    .build());
            assertEquals(copy.get("copy").getAsString(), made.getVolumeId());
            assertNotEquals(volume.getVolumeId(), made.getVolumeId());
            Path at = setup.mounts().mount(made);
            assertEquals(contents, Contents.read(at));
            assertEquals(Set.of(U7 + ":" + U7), Contents.owners(at));

            Path target = Files.createDirectory(folder.resolve("export"));
            JsonObject exported = siphon(setup, 0, "user", "offboard", "u6", "--export", target.toString())
                    .getFirst();
            Path extracted = Files.createDirectory(folder.resolve("extracted"));
            Command.run(
                    "tar",
                    "--numeric-owner",
                    "--xattrs",
                    "-xpf",
                    exported.get("file").getAsString(),
                    "-C",
                    extracted.toString());
            assertEquals(contents, Contents.read(extracted));
            assertEquals(Set.of(U6 + ":" + U6), Contents.owners(extracted));
            assertEquals(
                    Files.getAttribute(extracted.resolve("dir/big"), "unix:ino"),
                    Files.getAttribute(extracted.resolve("dir/sub/hard"), "unix:ino"));
            assertTrue(Files.isSameFile(extracted.resolve("dir/sub/small"), extracted.resolve("dir/link")));
            Path archive = Path.of(exported.get("file").getAsString());
            String subvolume = volume.getVolumeId().replaceAll(".*:", "");
            assertEquals(target.resolve("lab").resolve(Lab.here().fileSystem()).resolve(subvolume + ".tar"), archive);
            try (Stream<Path> written = Files.list(archive.getParent())) {
                assertEquals(List.of(archive), written.toList(), "nothing half-done is left");
            }
            assertEquals(
                    2,
                    attempt(setup, "user", "offboard", "u6", "--hand-over", "").exit(),
                    "an unset variable");
            assertEquals(
                    2,
                    attempt(setup, "user", "offboard", "u6", "--hand-over", "u6")
                            .exit(),
                    "to itself");
            assertEquals(
                    0,
                    siphon(setup, 0, "audit", "--pause=1").stream()
                            .filter(each -> each.get("severity").getAsString().equals("defect"))
                            .count());
        }
    }

    /// Creates names that ustar cannot hold, and a sparse file.
    private static String script() {
        return "mkdir -p " + "long-name-of-a-folder/".repeat(8) + "; printf deep > "
                + "long-name-of-a-folder/".repeat(8)
                + "file; printf x > 'Zo\u00eb and \u4e16\u754c'; truncate -s 5M hole";
    }
}
