package dev.siphon.node.mount;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class ImageKeysTest {
    private static final VolumeId.DatasetVolume VOLUME =
            new VolumeId.DatasetVolume("lab", "cephfs", "0".repeat(40), Optional.empty(), "/datasets/x");
    private static final CephCredentials OLD = credentials("AQBTmxFmAAAAABAAyPBkU9jjIUbLdrcRHrq1IQ==");
    private static final CephCredentials NEW = credentials("AQBTmxFmAAAAABAAyPBkU9jjIUbLdrcRHrq1Ig==");

    private final AtomicLong now = new AtomicLong();
    private final ImageKeys keys = new ImageKeys(now::get);

    private static CephCredentials credentials(String key) {
        return CephCredentials.fromSecrets(Map.of("userID", "reader", "userKey", key));
    }

    @Test
    void aKeyIsGoodForAWhile() {
        assertFalse(keys.have(VOLUME, OLD));
        keys.add(VOLUME, OLD);
        assertTrue(keys.have(VOLUME, OLD));
        now.addAndGet(ImageKeys.AGE.minus(Duration.ofSeconds(1)).toNanos());
        assertTrue(keys.have(VOLUME, OLD));
        now.addAndGet(Duration.ofSeconds(1).toNanos());
        assertFalse(keys.have(VOLUME, OLD), "it may have been taken away");
    }

    @Test
    void anotherKeyOfTheSameIdentityIsNot() {
        keys.add(VOLUME, OLD);
        assertFalse(keys.have(VOLUME, NEW));
        keys.add(VOLUME, NEW);
        assertTrue(keys.have(VOLUME, OLD));
        keys.forget(VOLUME.digest());
        assertFalse(keys.have(VOLUME, OLD));
        assertFalse(keys.have(VOLUME, NEW));
    }
}
