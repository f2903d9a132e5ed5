package dev.siphon.controller;

import dev.siphon.controller.ceph.ClustersFile;
import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.controller.key.FileKeyStore;
import dev.siphon.controller.kubernetes.KubernetesAccess;
import dev.siphon.controller.ldap.LdapConfigFile;
import dev.siphon.csi.server.ConfigProblems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Option;

/// The flags for clusters, directory, keys and Kubernetes, for picocli's `@Mixin`. The controller and all
/// administrators' commands share them, and read them from the same environment.
public final class BackendOptions {
    @Option(
            names = "--clusters",
            required = true,
            defaultValue = "${env:SIPHON_CLUSTERS}",
            description = "The clusters file: JSON with id, monitors, user and keyringFile of each cluster (env"
                    + " SIPHON_CLUSTERS).")
    private Path clusters = Path.of("");

    @Option(
            names = "--directory-passwd",
            defaultValue = "${env:SIPHON_DIRECTORY_PASSWD:-/etc/passwd}",
            description = "The accounts, in the format of passwd(5) (default: /etc/passwd).")
    private Path passwd = Path.of("/etc/passwd");

    @Option(
            names = "--directory-group",
            defaultValue = "${env:SIPHON_DIRECTORY_GROUP:-/etc/group}",
            description = "Their groups, in the format of group(5) (default: /etc/group).")
    private Path group = Path.of("/etc/group");

    @Option(
            names = "--directory-config",
            defaultValue = "${env:SIPHON_DIRECTORY_CONFIG:-}",
            description = "A JSON file that says how to find accounts and groups in LDAP, instead of in files"
                    + " (env SIPHON_DIRECTORY_CONFIG; default: none).")
    private String directory = "";

    @Option(
            names = "--key-dir",
            defaultValue = "${env:SIPHON_KEY_DIR:-}",
            description = "Give each volume a cephx identity that opens only this volume. Its key is written to"
                    + " VOLUME_ID.json in this directory, which has mode 0700 (default: Siphon makes no keys, and"
                    + " whoever mounts brings one).")
    private String keyFolder = "";

    @Option(
            names = "--key-type",
            defaultValue = "${env:SIPHON_KEY_TYPE:-}",
            description = "The type of these keys, aes or aes256k; the cluster must allow it. Nodes whose kernel cannot"
                    + " use aes256k take ceph-fuse; aes leaves CVE-2025-30156 open. In Kubernetes, auto chooses by the"
                    + " nodes' kernels (default: the cluster's).")
    private String keyType = "";

    @Option(
            names = "--kubernetes-namespace",
            paramLabel = "NS",
            defaultValue = "${env:SIPHON_KUBERNETES_NAMESPACE:-}",
            description = "Keep the keys of volumes as Secrets of this namespace, publish grants there, and read"
                    + " annotations of namespaces and PVCs; not with --key-dir (env SIPHON_KUBERNETES_NAMESPACE;"
                    + " default: no Kubernetes).")
    private String kubernetesNamespace = "";

    @Option(
            names = "--kubeconfig",
            paramLabel = "FILE",
            defaultValue = "${env:SIPHON_KUBECONFIG:-}",
            description = "How to reach the API server of that Kubernetes (env SIPHON_KUBECONFIG; default: the service"
                    + " account of the pod).")
    private String kubeconfig = "";

    @Option(
            names = "--dataset-keys-in-secrets",
            defaultValue = "${env:SIPHON_DATASET_KEYS_IN_SECRETS:-false}",
            description = "Keep dataset keys in the Secrets of claims, even if all nodes ask for their own. Set it"
                    + " before you go back to a version whose nodes do not ask (env"
                    + " SIPHON_DATASET_KEYS_IN_SECRETS; default: false).")
    private boolean datasetKeysInSecrets;

    @Option(
            names = "--command-timeout",
            defaultValue = "${env:SIPHON_COMMAND_TIMEOUT:-30}",
            description = "Seconds that one command to Ceph may take; a shorter deadline of the caller wins"
                    + " (default: 30).")
    private int commandSeconds;

    @Option(
            names = "--threads-per-cluster",
            defaultValue = "${env:SIPHON_THREADS_PER_CLUSTER:-32}",
            description = "Commands to one cluster that may run at once (default: 32).")
    private int threads;

    /// Reads the flags; adds errors to `problems`.
    public ConfigProblems.ParsedValue<BackendConfig> read(ConfigProblems problems) {
        var file = problems.read("--clusters", () -> clusters(clusters));
        var accounts = directory.isEmpty() ? files(problems) : ldap(problems);
        var limits = problems.read("--command-timeout, --threads-per-cluster", () -> limits(commandSeconds, threads));
        var keys = problems.read("--key-dir", () -> given(keyFolder).map(BackendOptions::forKeys));
        var kubernetes = kubernetes(problems);
        return problems.readIfNone(() -> new BackendConfig(
                file.get(),
                limits.get(),
                accounts.get(),
                keys.get(),
                given(keyType),
                datasetKeysInSecrets,
                kubernetes.get()));
    }

    /// Returns the source of accounts, for people.
    public String directoryInWords() {
        return directory.isEmpty() ? passwd + " and " + group + ", as --directory-config is not given" : directory;
    }

    /// Whether Kubernetes is configured.
    boolean hasKubernetes() {
        return !kubernetesNamespace.isEmpty();
    }

    private ConfigProblems.ParsedValue<Optional<KubernetesAccess>> kubernetes(ConfigProblems problems) {
        if (hasKubernetes() && !keyFolder.isEmpty()) {
            problems.add("--key-dir", "does not go with --kubernetes-namespace, where keys are Secrets");
        }
        if (!hasKubernetes() && !kubeconfig.isEmpty()) {
            problems.add("--kubeconfig", "needs --kubernetes-namespace");
        }
        return problems.read(
                "--kubernetes-namespace, --kubeconfig",
                () -> given(kubernetesNamespace).map(namespace -> {
                    KubernetesAccess access =
                            new KubernetesAccess(namespace, given(kubeconfig).map(Path::of));
                    access.check();
                    return access;
                }));
    }

    private ClustersFile clusters(Path path) {
        ClustersFile file = ClustersFile.read(path);
        if (!file.rook().isEmpty() && !hasKubernetes()) {
            throw new IllegalArgumentException(
                    path + ": \"rook\" needs --kubernetes-namespace; without it, list the monitors");
        }
        if (file.defaultCluster().isEmpty()) {
            throw new IllegalArgumentException(path + " lists several clusters: mark one with \"default\": true");
        }
        return file;
    }

    private ConfigProblems.ParsedValue<AccountDirectoryOption> files(ConfigProblems problems) {
        var accounts = problems.read("--directory-passwd", () -> readable(passwd));
        var groups = problems.read("--directory-group", () -> readable(group));
        return problems.readIfNone(() -> new AccountDirectoryOption.InFiles(accounts.get(), groups.get()));
    }

    private ConfigProblems.ParsedValue<AccountDirectoryOption> ldap(ConfigProblems problems) {
        return problems.read(
                "--directory-config", () -> new AccountDirectoryOption.InLdap(LdapConfigFile.read(Path.of(directory))));
    }

    private static Optional<String> given(String text) {
        return Optional.of(text).filter(value -> !value.isEmpty());
    }

    private static Path forKeys(String text) {
        Path folder = Path.of(text);
        var _ = new FileKeyStore(folder);
        return folder;
    }

    private static Path readable(Path path) {
        if (!Files.isReadable(path)) {
            throw new IllegalArgumentException("cannot be read: " + path);
        }
        return path;
    }

    private static CallLimits limits(int seconds, int slots) {
        if (seconds < 1 || slots < 1 || slots > 1024) {
            throw new IllegalArgumentException("need at least 1 second, and 1 to 1024 threads");
        }
        CallLimits defaults = CallLimits.DEFAULT;
        return new CallLimits(
                slots,
                Duration.ofSeconds(seconds),
                defaults.silence(),
                defaults.lost(),
                defaults.connect(),
                defaults.spareHandles());
    }
}
