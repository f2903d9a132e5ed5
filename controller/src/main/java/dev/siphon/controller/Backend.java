package dev.siphon.controller;

import dev.siphon.controller.ceph.CephAdapter;
import dev.siphon.controller.ceph.fs.ClientIdentity;
import dev.siphon.controller.identity.Directory;
import dev.siphon.controller.identity.FileDirectory;
import dev.siphon.controller.key.FileKeyStore;
import dev.siphon.controller.key.KeyStore;
import dev.siphon.controller.ldap.LdapAdapter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/// The clusters, directory and keys, connected to.
///
/// @param ceph the ports to all clusters
/// @param directory knows the accounts
/// @param keys where the keys of volumes are kept; empty if the driver mints none
public record Backend(CephAdapter ceph, Directory directory, Optional<KeyStore> keys) implements AutoCloseable {
    /// How often to see whether LDAP answers.
    private static final Duration LOOK_AT_LDAP = Duration.ofSeconds(10);

    /// Begins to connect, and does not wait for it.
    ///
    /// @param identity who this process is to the MDS daemons
    /// @param timeLeft what is left of the caller's deadline
    public static Backend open(
            BackendConfig config, ClientIdentity identity, Supplier<Duration> timeLeft, PrometheusRegistry metrics) {
        return new Backend(
                CephAdapter.open(config.clusters(), identity, config.limits(), config.keyType(), timeLeft, metrics),
                directory(config.directory(), timeLeft, metrics),
                config.keyFolder().map(FileKeyStore::new));
    }

    private static Directory directory(
            DirectoryChoice choice, Supplier<Duration> timeLeft, PrometheusRegistry metrics) {
        return switch (choice) {
            case DirectoryChoice.InFiles files -> new FileDirectory(files.passwd(), files.group());
            case DirectoryChoice.InLdap ldap -> LdapAdapter.open(ldap.config(), LOOK_AT_LDAP, timeLeft, metrics);
        };
    }

    /// Takes no further call; waits some seconds at most.
    @Override
    public void close() {
        if (directory instanceof LdapAdapter connected) {
            connected.close();
        }
        ceph.close();
    }
}
