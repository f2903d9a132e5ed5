package dev.siphon.controller.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.identity.Account;
import dev.siphon.controller.volume.VolumeRequest.ResolvedVolumeSpec;
import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class ResolvedVolumeSpecTest {
    private static Account account(String name, OptionalLong allowanceBytes) {
        return new Account(name, "id", 0, 20_001, Set.of(), allowanceBytes);
    }

    private static int mode(String owner, Map<String, String> parameters) {
        return ResolvedVolumeSpec.of(
                        World.unused(), account(owner, OptionalLong.empty()), World.request("one", parameters))
                .mode();
    }

    @Test
    void whatAGroupOwnsItsMembersWrite() {
        assertEquals(02770, mode("group:lab", Map.of()));
        assertEquals(0750, mode("group:lab", Map.of("mode", "0750")));
        assertEquals(0700, mode("u1", Map.of()));
    }

    @Test
    void anAllowanceOfNothingIsNotNoLimit() {
        InMemoryCeph ceph = new InMemoryCeph();
        ControllerDomain domain = ControllerDomain.over(
                ceph.ports(),
                new Owners(
                        new InMemoryDirectory(Map.of("u1", account("u1", OptionalLong.of(0)))),
                        Optional.empty(),
                        Optional.empty()),
                Callers.NONE,
                () -> Duration.ofSeconds(30));
        var refused = assertThrows(
                DriverException.QuotaExhausted.class, () -> domain.volumes().create(World.request("one")));
        assertTrue(refused.getMessage().contains("account u1 may hold nothing"), refused.getMessage());
    }
}
