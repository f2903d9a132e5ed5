package dev.siphon.controller.dataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.grant.NamespaceGrants;
import dev.siphon.controller.identity.AccountDirectory;
import dev.siphon.controller.ldap.LabDirectory;
import dev.siphon.controller.volume.Volumes.Volume;
import dev.siphon.csi.DriverException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A real OpenLDAP gives readers' names to other accounts.
@Timeout(60)
final class ReusedNamesIT {
    private static final int UID = 40_050;

    @TempDir
    private Path folder = Path.of("");

    @Test
    void aNewEntryOfAReadersNameReadsNothingUntilThatIsConfirmed() {
        DatasetsWorld world = new DatasetsWorld(folder, true);
        world.kubernetes.annotate("user-heir", Map.of());
        world.declare(Map.of("heir.mine", List.of("heir")));
        NamespaceGrants published = world.published();
        LabDirectory.with(ldap -> {
            String former = LabDirectory.addAccount("uid=heir", "heir", UID);
            world.grants(published, ldap).reconcile();
            assertEquals(Set.of("user-heir"), readers(world));
            var _ = made(world, ldap);
            LabDirectory.remove(former);

            String successor = LabDirectory.addAccount("uid=heir", "heir", UID);
            try {
                assertThrows(DriverException.AccessDenied.class, () -> made(world, ldap), "before anybody has looked");
                world.grants(published, ldap).reconcile();
                assertEquals(Set.of(), readers(world));
                assertEquals(
                        Set.of("heir"), world.datasets().readers("heir.mine").changed());
                world.seen.clear();
                world.grants(published, ldap).reconcile();
                assertEquals(Set.of("user-heir"), readers(world));
                assertTrue(made(world, ldap).context().orElseThrow().readOnly());
            } finally {
                LabDirectory.remove(successor);
            }
        });
    }

    private static Set<String> readers(DatasetsWorld world) {
        return world.store().last().dataset("heir.mine").orElseThrow().namespaces();
    }

    private static Volume made(DatasetsWorld world, AccountDirectory ldap) {
        DatasetVolumes volumes = world.volumes(ldap);
        return volumes.create(volumes.check(DatasetsWorld.request("user-heir", Map.of()), "heir.mine"));
    }
}
