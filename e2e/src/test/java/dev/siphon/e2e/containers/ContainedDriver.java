package dev.siphon.e2e.containers;

import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.e2e.driver.CsiClient;
import dev.siphon.e2e.driver.NodeMounts;
import java.nio.file.Path;
import java.util.List;

/// Controller and node, each in a container of the driver's image with at most the rights of its pod in `deploy/`.
/// A third container runs Ceph.
final class ContainedDriver {
    /// The only account; its uid and gid follow.
    static final String ACCOUNT = "sanity";

    static final int ACCOUNT_UID = 10003;

    /// The controller's uid.
    private static final int CONTROLLER_UID = 64000;

    private final Containers containers;
    private final CephContainer ceph;
    private final ServedContainer node;
    private final ServedContainer controller;
    private final Path kubelet;
    private final Path sockets;

    private ContainedDriver(Containers containers, CephContainer ceph) {
        this.containers = containers;
        this.ceph = ceph;
        this.kubelet = containers.directory("kubelet", 0);
        this.sockets = containers.directory("controller", CONTROLLER_UID);
        this.node = startNode();
        this.controller = startController();
    }

    /// Starts Ceph, node and controller, and waits until they are ready.
    static ContainedDriver start(Containers containers) {
        // while Ceph's image is built and starts
        Thread.ofVirtual().start(LabImage.DRIVER::make);
        return new ContainedDriver(containers, CephContainer.start(containers));
    }

    private ServedContainer startNode() {
        UnixEndpoint endpoint = endpoint(kubelet);
        Path state = containers.directory("state", 0);
        return ServedContainer.start(
                containers,
                new EngineContainer(LabImage.DRIVER.reference())
                        .inNetworkOf(ceph.container())
                        .thatMounts()
                        .withReadOnlyRoot()
                        .mountingIn(kubelet)
                        .mountingIn(state)
                        .withCommand(
                                "siphon",
                                "node",
                                "--endpoint=" + endpoint,
                                "--node-id=contained",
                                "--state-dir=" + state,
                                "--ops-port=9811"),
                endpoint);
    }

    private ServedContainer startController() {
        UnixEndpoint endpoint = endpoint(sockets);
        Path keyring = makeIdentity();
        Path configuration = writeConfiguration(keyring);
        return ServedContainer.start(
                containers,
                new EngineContainer(LabImage.DRIVER.reference())
                        .inNetworkOf(ceph.container())
                        .confinedTo(CONTROLLER_UID)
                        .withReadOnlyRoot()
                        .reading(configuration)
                        .reading(keyring)
                        .writing(sockets)
                        .withCommand(
                                "siphon",
                                "controller",
                                "--endpoint=" + endpoint,
                                "--ops-port=9810",
                                "--clusters=" + configuration.resolve("clusters.json"),
                                "--directory-passwd=" + configuration.resolve("passwd"),
                                "--directory-group=" + configuration.resolve("group")),
                endpoint);
    }

    /// Returns the endpoint of the process that serves in this folder.
    static UnixEndpoint endpoint(Path directory) {
        return new UnixEndpoint(directory.resolve("csi.sock"));
    }

    /// Creates the controller's identity with the commands that the image prints for an administrator.
    private Path makeIdentity() {
        Path keyring = ceph.file("controller.keyring");
        String commands = node.container()
                .run("siphon", "ceph-caps", "--fs=" + CephContainer.FILE_SYSTEM, "--keyring=" + keyring, "--no-keys");
        ceph.administer(commands + "chown " + CONTROLLER_UID + " " + keyring);
        return keyring;
    }

    private Path writeConfiguration(Path keyring) {
        Path configuration = containers.directory("configuration", CONTROLLER_UID);
        Containers.write(configuration.resolve("clusters.json"), """
                {"clusters": [
                  {"id": "lab", "monitors": ["%s"], "user": "siphon", "keyringFile": "%s", "default": true}
                ]}
                """.formatted(CephContainer.ADDRESS, keyring));
        Containers.write(
                configuration.resolve("passwd"), "%1$s:x:%2$d:%2$d::/:/bin/false\n".formatted(ACCOUNT, ACCOUNT_UID));
        Containers.write(configuration.resolve("group"), "%s:x:%d:\n".formatted(ACCOUNT, ACCOUNT_UID));
        return configuration;
    }

    CsiClient controller() {
        return controller.client();
    }

    /// Returns a kubelet's calls to the node; close it before the containers.
    NodeMounts mounts() {
        return new NodeMounts(node.client(), kubelet.resolve("pods"), ceph.nodeStageSecrets());
    }

    /// Lists every subvolume.
    List<String> subvolumes() {
        return ceph.subvolumes();
    }

    /// Runs csi-sanity against the driver.
    SanityReport sanity() {
        return new CsiSanity(sockets, kubelet, ceph.nodeSecrets()).run(containers.directory("sanity", 0));
    }
}
