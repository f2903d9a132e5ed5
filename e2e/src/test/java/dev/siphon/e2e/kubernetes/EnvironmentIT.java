package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// A Python environment with PyTorch becomes a dataset, and pods whose image has no Python run it: the steps of
/// docs/how-to/datasets.md. The lab has no conda. The environment is the tree of PyTorch's image, which brings its
/// own Python and C library, as conda's do.
@Tag("kubernetes")
@AloneOnCluster
final class EnvironmentIT {
    private static final Cluster CLUSTER = Cluster.here();
    private static final String PAGE = "how-to/datasets.md";
    private static final String DATASET = "u27/torch-v1";
    private static final Duration SEALING = Duration.ofMinutes(4);

    /// Takes the place of `conda create`: the Python of the image has no shell beside it.
    private static final String BUILDER = """
            image: siphon.test/pytorch:1
                  command: [python3, -c]
                  args:
                    - |
                      import pathlib, shutil
                      env = pathlib.Path("/opt/env/torch")
                      shutil.copytree("/usr", env, symlinks=True, ignore=shutil.ignore_patterns("share", "systemd"))
                      python = env / "bin/python"
                      python.write_text(f'''#!/bin/sh
                      export PYTHONHOME={env}
                      exec {env}/lib64/ld-linux-x86-64.so.2 --library-path {env}/lib/x86_64-linux-gnu:{env}/lib {env}/bin/python3 "$@"
                      ''')
                      python.chmod(0o755)
            """;

    private static final Pattern IMPORTED = Pattern.compile("(?m)^[0-9]+[.][0-9]+\\S* [0-9.]+$");
    private static final String IMPORT = "import torch; print(torch.__version__)";

    @SuppressWarnings("NullAway.Init")
    private static Installation siphon;

    @SuppressWarnings("NullAway.Init")
    private static Tenant tenant;

    @BeforeAll
    static void buildAndSeal() {
        siphon = Installation.in(CLUSTER);
        SnapshotController.addTo(siphon, CLUSTER);
        tenant = Tenant.ofAccount(CLUSTER, 27);
        DocumentedBlock build = DocumentedBlock.yamlBelow("### 1. Build it on a volume", PAGE)
                .replacing("10001", Integer.toString(tenant.uid()));
        apply(new DocumentedBlock(build.script()
                .replaceFirst("(?s)image: condaforge.*?(?= {6}volumeMounts)", BUILDER.replace("$", "\\$"))));
        var _ = tenant.podCalled("build-env").succeeded();
        apply(DocumentedBlock.yamlBelow("### 2. Seal it", PAGE));
        SnapshotController.awaitReady(tenant, SEALING, "torch-v1");
    }

    private static void apply(DocumentedBlock block) {
        CLUSTER.apply(tenant.namespace(), block.script());
    }

    private static DocumentedBlock use(String pod) {
        return DocumentedBlock.yamlBelow("### 3. Use it", PAGE)
                .replacing("name: train", "name: " + pod)
                .replacing("image: debian:13-slim", "image: siphon.test/pause:1")
                .replacing("u1/torch-v1", DATASET);
    }

    @AfterAll
    static void end() {
        tenant.deleteSnapshots();
        tenant.close();
    }

    /// Does not wait until it is on a disk: the first bytes come from CephFS.
    @Test
    void aPodWithoutPythonImportsTorch() {
        String digest = CLUSTER.kubectl("get", "dataset", DATASET.replace('/', '.'), "-o", "jsonpath={.spec.digest}")
                .strip();
        var _ = siphon.onNode("siphon", "cache", "evict", digest);
        apply(timed(use("train")));

        assertImported(tenant.podCalled("train"));
    }

    /// For comparison: the environment as a layer of the image, on the node's own disk.
    @Test
    void aPodWithTheEnvironmentInItsImageImportsIt() {
        apply(timed(use("layer"))
                .replacing("image: siphon.test/pause:1", "image: siphon.test/pytorch:1")
                .replacing("/opt/env/torch/bin/python", "python3"));

        assertImported(tenant.podCalled("layer"));
    }

    @Test
    void aGatedPodImportsItFromADisk() {
        apply(timed(use("gated")).replacing("spec:\n", "spec:\n  schedulingGates: [{name: siphon.dev/dataset}]\n"));
        TestPod pod = tenant.podCalled("gated");

        assertImported(pod);
        var _ = pod.told("^DatasetWarm: dataset u27.torch-v1 is on a disk of ");
    }

    /// Prints the seconds too.
    private static DocumentedBlock timed(DocumentedBlock use) {
        return use.replacing(
                IMPORT,
                "import time; begun = time.monotonic(); import torch; print(torch.__version__, time.monotonic() - begun)");
    }

    private static void assertImported(TestPod pod) {
        String log = pod.succeeded().log();
        assertTrue(IMPORTED.matcher(log).find(), log);
        System.out.println("version and seconds of the import by pod " + pod.name() + ": " + log.strip());
        pod.delete();
    }

    @Test
    void nobodyWritesToIt() {
        apply(use("writer").replacing(IMPORT, "open(\"/opt/env/torch/more\", \"w\")"));

        TestPod writer = tenant.podCalled("writer");
        String said = writer.says("OSError");

        assertEquals("OSError: [Errno 30] Read-only file system: '/opt/env/torch/more'", said);
        writer.delete();
    }
}
