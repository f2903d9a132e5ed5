package dev.siphon.node.mount;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.DriverException.InvalidRequest;
import dev.siphon.csi.VolumeId;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

public class CephCredentialsTest {
    /// Keys that no cluster has issued.
    public static final String AES_KEY = key(1, 16);

    public static final String AES256K_KEY = key(2, 32);

    private static String key(int type, int length) {
        byte[] octets = new byte[12 + length];
        octets[0] = (byte) type;
        octets[10] = (byte) length;
        for (int i = 12; i < octets.length; i++) {
            octets[i] = (byte) (i * 37);
        }
        return Base64.getEncoder().encodeToString(octets);
    }

    static Stream<Arguments> refused() {
        return Stream.of(
                Arguments.of("nothing", Map.of(), "userID"),
                Arguments.of("no user", Map.of("userKey", AES_KEY), "userID"),
                Arguments.of("no key", Map.of("userID", "u"), "userKey"),
                Arguments.of("empty key", Map.of("userID", "u", "userKey", ""), "userKey"),
                Arguments.of("entity for a user", Map.of("userID", "client.u", "userKey", AES_KEY), "userID"),
                Arguments.of("option in the user", Map.of("userID", "u,secret=x", "userKey", AES_KEY), "userID"),
                Arguments.of("flag for a user", Map.of("userID", "-o", "userKey", AES_KEY), "userID"),
                Arguments.of("line in the user", Map.of("userID", "u]\n[client.v", "userKey", AES_KEY), "userID"),
                Arguments.of("no base64", Map.of("userID", "u", "userKey", "not a key!"), "userKey"),
                Arguments.of("no cephx key", Map.of("userID", "u", "userKey", "c2VjcmV0"), "userKey"),
                Arguments.of("cut", Map.of("userID", "u", "userKey", AES_KEY.substring(0, 36)), "userKey"),
                Arguments.of("unknown type", Map.of("userID", "u", "userKey", key(3, 16)), "userKey"),
                Arguments.of("wrong length", Map.of("userID", "u", "userKey", key(1, 32)), "userKey"),
                Arguments.of("line feed", Map.of("userID", "u", "userKey", AES_KEY + "\n"), "userKey"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void refused(String name, Map<String, String> secrets, String field) {
        InvalidRequest e = assertThrows(InvalidRequest.class, () -> CephCredentials.fromSecrets(secrets), name);
        String message = String.valueOf(e.getMessage());
        assertTrue(message.contains(field), message);
        secrets.values().stream()
                .filter(value -> value.length() > 4)
                .forEach(value -> assertFalse(message.contains(value), message));
    }

    @ParameterizedTest(name = "{0} of {1}: {2}")
    @CsvSource({
        "s1:lab:fs:a1:v1, siphon.fs.a1.v1, s1:lab:fs:a1:v1",
        "s1:lab:fs:a1:v1, siphon.fs.a1.v1, ''",
        "static:lab:fs:/shared, shared, ''",
        "static:lab:fs:/shared, shared, static:lab:fs:/shared",
        "static:lab:fs:/datasets/i00000000000000a, siphon-packer.fs.i00000000000000a, ''",
        "static:lab:fs:/datasets/i00000000000000a, siphon-packer.fs.i00000000000000a, "
                + "static:lab:fs:/datasets/i00000000000000a",
    })
    void secretsOfAVolumeStageIt(String volume, String userId, String secretOf) {
        assertEquals(userId, ofVolume(volume, userId, secretOf).userId());
    }

    @ParameterizedTest(name = "{0} of {1}: {2}")
    @CsvSource({
        "s1:lab:fs:a1:v2, siphon.fs.a1.v1, s1:lab:fs:a1:v1",
        "s1:lab:fs:a1:v1, siphon.fs.a1.v1, s1:lab:fs:a1",
        "static:lab:fs:/datasets/x, siphon-dataset.fs.d, "
                + "dataset:lab:fs:0123456789abcdef0123456789abcdef01234567:/datasets/x",
        "static:lab:fs:/datasets/i00000000000000b, siphon-packer.fs.i00000000000000a, ''",
        "static:lab:fs:/datasets, siphon-packer.fs.i00000000000000a, ''",
        "static:lab:fs:/datasets/i00000000000000a/b, siphon-packer.fs.i00000000000000a/b, ''",
        "s1:lab:fs:a1:v1, siphon-packer.fs.i00000000000000a, ''",
    })
    void secretsOfAnotherVolumeDoNot(String volume, String userId, String secretOf) {
        DriverException refused =
                assertThrows(DriverException.class, () -> ofVolume(volume, userId.replace("/", "."), secretOf));
        assertEquals(DriverException.AccessDenied.class, refused.getClass());
        assertFalse(String.valueOf(refused.getMessage()).contains(AES_KEY));
    }

    private static CephCredentials ofVolume(String volume, String userId, String secretOf) {
        return CephCredentials.ofVolume(
                VolumeId.parse(volume), Map.of("userID", userId, "userKey", AES_KEY, "volumeID", secretOf));
    }

    @Test
    void bothKindsOfKeyAreKnown() {
        assertEquals(CephKey.Kind.AES, CephKey.parse("k", AES_KEY).kind());
        assertEquals(CephKey.Kind.AES256K, CephKey.parse("k", AES256K_KEY).kind());
        assertEquals(60, AES256K_KEY.length());
    }

    @Test
    void theKeyDoesNotShowItself() {
        CephCredentials credentials = CephCredentials.fromSecrets(Map.of("userID", "u", "userKey", AES_KEY));
        assertFalse(credentials.toString().contains(AES_KEY));
        assertEquals("***", credentials.key().toString());
        assertEquals(AES_KEY, credentials.key().reveal());
    }

    @Test
    void furtherSecretsAreLeftAlone() {
        Map<String, String> secrets = new HashMap<>(Map.of("userID", "u.a-b_1", "userKey", AES256K_KEY));
        secrets.put("adminKey", "x");
        assertEquals("u.a-b_1", CephCredentials.fromSecrets(secrets).userId());
    }
}
