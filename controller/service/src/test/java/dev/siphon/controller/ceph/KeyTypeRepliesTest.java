package dev.siphon.controller.ceph;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.controller.ceph.rados.CommandReply;
import dev.siphon.controller.key.CephCiphers;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Replies of mons about types of keys.
final class KeyTypeRepliesTest {
    private static final String BOTH = """
            {"auth_allowed_ciphers": [{"name": "aes", "value": 1}, {"name": "aes256k", "value": 2}],
             "auth_preferred_cipher": {"name": "aes256k", "value": 2}}
            """;

    private static CephCiphers ciphers(String dump, String options) {
        return ClusterStatus.ciphers(json(dump), json(options));
    }

    private static JsonObject json(String text) {
        return JsonParser.parseString(text).getAsJsonObject();
    }

    @Test
    void newAesKeysAreMadeUnlessSomebodyForbidsIt() {
        assertEquals(new CephCiphers("aes256k", Set.of("aes", "aes256k"), true), ciphers(BOTH, "{}"));
        String option = "{\"mon_auth_allow_insecure_key\": {\"value\": \"%s\", \"section\": \"mon\"}}";
        assertEquals(true, ciphers(BOTH, option.formatted("true")).makesAes());
        assertEquals(false, ciphers(BOTH, option.formatted("false")).makesAes());
        assertEquals(new CephCiphers("aes", Set.of("aes"), true), ciphers("{}", "{}"), "Ceph 18");
        String only =
                "{\"auth_allowed_ciphers\": [{\"name\": \"aes256k\"}], \"auth_preferred_cipher\": {\"name\": \"aes256k\"}}";
        assertEquals(new CephCiphers("aes256k", Set.of("aes256k"), false), ciphers(only, "{}"));
    }

    /// The words are those of Ceph 20.2.4.
    @ParameterizedTest
    @CsvSource({
        "-22, 'creating key with insecure key type (\"aes\") not allowed',                                         true",
        "-22, 'refusing to create key with type (aes) that cannot be used for auth (auth_allowed_ciphers)',        true",
        "-22, 'key for client.siphon.fs.a.v exists but cap mds does not match',                                    false",
        "0,   'key type',                                                                                          false",
    })
    void aRefusedTypeIsToldFromOtherCaps(int code, String words, boolean refused) {
        assertEquals(refused, CephIdentities.refusesType(new CommandReply("auth get-or-create", code, "", words)));
    }
}
