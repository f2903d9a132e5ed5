package dev.siphon.e2e.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import csi.v1.CapacityRange;
import csi.v1.ControllerExpandVolumeRequest;
import csi.v1.ControllerGetVolumeRequest;
import csi.v1.CreateVolumeRequest;
import csi.v1.DeleteVolumeRequest;
import csi.v1.Volume;
import dev.siphon.csi.VolumeId;
import dev.siphon.e2e.driver.LeavesNothingBehind;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.lab.Command;
import io.grpc.Status.Code;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/// Homes: one per account, for any number of claims.
@ExtendWith(LeavesNothingBehind.class)
final class HomesIT {
    private static final int U1 = 10001;
    /// No other test here uses it, so that its name leads to one group.
    private static final String LOGGED_IN = "u9";
    private static final long MIB = 1L << 20;

    @TempDir
    private Path keys = Path.of("");

    @Test
    void severalVolumesOfOneAccountAreOneHomeThatStays() {
        try (Setup setup = Setup.start()) {
            Volume first = setup.volume(home("pvc-1", Requests.GIB));
            setup.atEnd(() -> deleteHome(setup, first));
            setup.atEnd(() -> setup.delete(first));
            Volume second = setup.volume(home("pvc-2", 2 * Requests.GIB));
            assertNotEquals(first.getVolumeId(), second.getVolumeId());
            assertEquals(first.getVolumeContextMap(), second.getVolumeContextMap());
            Path here = setup.mounts().mount(first);
            Contents.write(U1, here);
            Map<String, String> written = Contents.read(here);
            assertEquals(written, Contents.read(setup.mounts().mount(second)));

            unmount(setup, first);
            unmount(setup, second);
            setup.delete(first);
            setup.delete(second);
            Volume third = setup.volume(home("pvc-3", Requests.GIB));

            assertEquals(2 * Requests.GIB, third.getCapacityBytes());
            assertEquals(written, Contents.read(setup.mounts().mount(third)));
            unmount(setup, third);
            setup.delete(third);
        }
    }

    @Test
    void aHomeGrowsAndIsRemovedOnlyOnPurpose() {
        try (Setup setup = Setup.start()) {
            Volume alias = setup.volume(home("pvc-1", Requests.GIB));
            setup.atEnd(() -> deleteHome(setup, alias));
            setup.atEnd(() -> setup.delete(alias));
            String home = homeOf(alias);
            var grown = setup.controller()
                    .controller()
                    .controllerExpandVolume(ControllerExpandVolumeRequest.newBuilder()
                            .setVolumeId(alias.getVolumeId())
                            .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(3 * Requests.GIB))
                            .build());
            assertEquals(3 * Requests.GIB, grown.getCapacityBytes());

            assertEquals(
                    Code.FAILED_PRECONDITION,
                    delete(setup, Requests.delete(home)).code());
            Outcome<?> used = delete(setup, deletion(home));
            assertEquals(Code.FAILED_PRECONDITION, used.code());
            assertTrue(used.message().contains(alias.getVolumeId()), used.message());
            Outcome<?> snapshot = Outcome.of(() ->
                    setup.controller().controller().createSnapshot(Requests.snapshot("of-alias", alias.getVolumeId())));
            assertEquals(Code.INVALID_ARGUMENT, snapshot.code());
        }
    }

    @Test
    void aLoginHostsHomeGrowsAndGoesWithItsLastHostAlsoWhenItsAccountIsGone() throws IOException {
        try (Setup setup = Setup.start("--key-dir=" + keys)) {
            JsonObject made = JsonParser.parseString(siphon(setup, 0, "--host=login1", "--size=100Mi", "--json"))
                    .getAsJsonObject();
            String home = made.get("home").getAsString();
            setup.atEnd(() -> removeAll(setup, home));
            JsonObject grown = JsonParser.parseString(siphon(setup, 0, "--host=login1", "--size=200Mi", "--json"))
                    .getAsJsonObject();
            assertEquals(List.of(100 * MIB, 200 * MIB), List.of(bytes(made), bytes(grown)));
            assertEquals(made.get("identity"), grown.get("identity"));
            siphon(setup, 0, "--host=login2");
            Map<String, String> before = keys();
            assertEquals(2, before.size());

            String refused = siphon(setup, 1, "--host=login1", "--delete", "--yes");
            assertTrue(refused.contains("is in use as volume"), refused);
            assertEquals(before, keys());
            siphon(setup, 0, "--host=login1");
            assertEquals(before, keys());

            Files.writeString(setup.folder().file("passwd"), "");
            siphon(setup, 0, "--host=login2", "--forget");
            assertEquals(1, keys().size());
            siphon(setup, 0, "--host=login1", "--delete", "--yes");
            assertEquals(Map.of(), keys());
            assertEquals(
                    Code.NOT_FOUND,
                    Outcome.of(() -> setup.controller()
                                    .controller()
                                    .controllerGetVolume(ControllerGetVolumeRequest.newBuilder()
                                            .setVolumeId(home)
                                            .build()))
                            .code());
        }
    }

    private static long bytes(JsonObject shown) {
        return shown.get("bytes").getAsLong();
    }

    /// Returns the keys of volumes that the controller stores.
    private Map<String, String> keys() throws IOException {
        Map<String, String> all = new TreeMap<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(keys, "*.json")) {
            for (Path file : files) {
                all.put(file.getFileName().toString(), Files.readString(file));
            }
        }
        return all;
    }

    private void removeAll(Setup setup, String home) {
        try {
            for (String file : keys().keySet()) {
                delete(setup, Requests.delete(file.replace(".json", ""))).get();
            }
            delete(setup, deletion(home)).get();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String siphon(Setup setup, int exit, String... flags) {
        Command.Result result = setup.siphon(
                keys,
                Stream.concat(Stream.of("home", LOGGED_IN), Stream.of(flags)).toArray(String[]::new));
        assertEquals(exit, result.exit(), result.output());
        return result.output();
    }

    private static CreateVolumeRequest home(String name, long bytes) {
        return Requests.volume(name, "u1", bytes).toBuilder()
                .putParameters("kind", "home")
                .build();
    }

    private static void unmount(Setup setup, Volume volume) {
        setup.mounts().unpublish(volume, "pod");
        setup.mounts().unstage(volume);
    }

    private static String homeOf(Volume alias) {
        if (!(VolumeId.parse(alias.getVolumeId()) instanceof VolumeId.Provisioned id)) {
            throw new AssertionError(alias.getVolumeId());
        }
        return new VolumeId.Provisioned(
                        id.cluster(), id.fileSystem(), id.group(), alias.getVolumeContextOrThrow("dataPath"))
                .toString();
    }

    private static DeleteVolumeRequest deletion(String home) {
        return Requests.delete(home).toBuilder().putSecrets("deleteHome", home).build();
    }

    private static void deleteHome(Setup setup, Volume alias) {
        delete(setup, deletion(homeOf(alias))).get();
    }

    private static Outcome<?> delete(Setup setup, DeleteVolumeRequest request) {
        return Outcome.of(() -> setup.controller().controller().deleteVolume(request));
    }
}
