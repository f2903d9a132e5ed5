package dev.siphon.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.node.kubernetes.ApiAccess;
import dev.siphon.node.registration.KubeletPlugin;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine.ParameterException;

final class KubernetesOptionsTest {
    private static NodeConfig read(String... flags) {
        return NodeFlags.read(List.of(flags));
    }

    private static void assertRefused(String problem, String... flags) {
        ParameterException refused = assertThrows(ParameterException.class, () -> read(flags));
        assertTrue(String.valueOf(refused.getMessage()).contains(problem), refused::getMessage);
    }

    @Test
    void withoutFlagsNothingOfKubernetesIsUsed() {
        NodeConfig config = read();
        assertEquals(Optional.empty(), config.registration());
        assertEquals(new GrantsSourceOption.Nowhere(), config.grants());
    }

    @Test
    void theKubeletIsToldOfTheEndpointUnlessItSeesItElsewhere() {
        KubeletPlugin own = read("--endpoint=unix:///csi/csi.sock", "--kubelet-registration-dir=/registration")
                .registration()
                .orElseThrow();
        assertEquals(
                "/registration/cephfs.siphon.dev-reg.sock", own.socket().path().toString());
        assertEquals(Path.of("/csi/csi.sock"), own.endpoint());
        KubeletPlugin other = read(
                        "--driver-name=other.example",
                        "--kubelet-registration-dir=/registration",
                        "--kubelet-endpoint=unix:///var/lib/kubelet/plugins/other.example/csi.sock")
                .registration()
                .orElseThrow();
        assertEquals(
                "/registration/other.example-reg.sock", other.socket().path().toString());
        assertEquals(Path.of("/var/lib/kubelet/plugins/other.example/csi.sock"), other.endpoint());
    }

    @Test
    void grantsComeFromAFileOrFromTheApi() {
        assertEquals(
                new GrantsSourceOption.File(Path.of("/grants/grants.json")),
                read("--grants-file=/grants/grants.json").grants());
        assertEquals(
                new GrantsSourceOption.Api(new ApiAccess.Kubeconfig(Path.of("/etc/kubeconfig")), "siphon"),
                read("--kubernetes-namespace=siphon", "--kubeconfig=/etc/kubeconfig")
                        .grants());
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "--kubernetes-namespace: excludes | --kubernetes-namespace=a --kubeconfig=/k --grants-file=/g/g",
                "--kubeconfig: needs --kubernetes-namespace | --kubeconfig=/k",
                "--kubeconfig: must be absolute | --kubernetes-namespace=a --kubeconfig=k",
                "--kubernetes-namespace: \"A\" must be | --kubernetes-namespace=A --kubeconfig=/k",
                "--kubernetes-namespace: \"a/b\" must be | --kubernetes-namespace=a/b --kubeconfig=/k",
                "--kubernetes-namespace: \"-a\" must be | --kubernetes-namespace=-a --kubeconfig=/k",
                "--kubelet-endpoint: needs --kubelet-registration-dir | --kubelet-endpoint=/a/b",
                "--kubelet-endpoint: endpoint | --kubelet-endpoint=http://a --kubelet-registration-dir=/a",
                "--kubelet-registration-dir: socket | --kubelet-registration-dir=a",
            })
    void whatCannotBeMeantIsRefused(String problem, String flags) {
        assertRefused(problem, flags.split(" ", -1));
    }

    @Test
    void allThatIsWrongIsSaidAtOnce() {
        String[] flags = {"--rpc-timeout=0", "--kubernetes-namespace=A", "--kubelet-registration-dir=a"};
        assertRefused("--rpc-timeout", flags);
        assertRefused("--kubernetes-namespace", flags);
    }
}
