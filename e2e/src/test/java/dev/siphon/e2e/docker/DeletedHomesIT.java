package dev.siphon.e2e.docker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.siphon.e2e.lab.Command;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Volumes are deleted; homes stay until they are deleted themselves.
@Tag("containers")
final class DeletedHomesIT {
    @Test
    void aHomeOutlivesItsVolume() {
        try (HomeVolume home = HomeVolume.create("u4")) {
            var _ = home.run("tiny", "touch", "file");
            home.detach();

            home.delete();

            assertEquals(1, home.homes());
        }
    }

    @Test
    void aHomeIsNotDeletedUnlessThatIsMeant() {
        try (HomeVolume home = HomeVolume.create("u5")) {
            Command.Result refused = home.login("--delete");

            assertNotEquals(0, refused.exit(), refused::output);
            assertEquals(1, home.homes());
        }
    }

    @Test
    void aDeletedHomeLeavesNothing() {
        try (HomeVolume home = HomeVolume.create("u6")) {
            var _ = home.run("tiny", "touch", "file");
            Command.Result host = home.login("--keyring=" + home.file("keyring"));
            assertEquals(0, host.exit(), host::output);
            home.detach();
            home.delete();

            Command.Result deleted = home.login("--delete", "--yes");

            assertEquals(0, deleted.exit(), deleted::output);
            assertEquals(List.of(), home.left());
        }
    }
}
