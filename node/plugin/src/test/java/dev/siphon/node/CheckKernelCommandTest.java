package dev.siphon.node;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.csi.KernelKeys;
import dev.siphon.node.ceph.KernelClient;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class CheckKernelCommandTest {
    @ParameterizedTest
    @CsvSource({"true, 7.0.1, aes aes256k", "true, 6.1.0, aes", "false, 7.0.1, none"})
    void theControllerReadsWhatANodeSays(boolean hasCeph, String release, String words) {
        KernelKeys keys = CheckKernelCommand.keys(KernelClient.byRelease(hasCeph, release));
        assertEquals(words, keys.toString());
        assertEquals(Optional.of(keys), KernelKeys.parse(words + "\n"));
    }
}
