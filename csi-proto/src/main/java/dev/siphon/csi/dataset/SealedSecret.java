package dev.siphon.csi.dataset;

import dev.siphon.csi.DriverException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PublicKey;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;
import javax.crypto.Cipher;
import javax.crypto.KEM;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;

/// A secret on its way through a place that others may read, which one reader alone can open: DHKEM(X25519,
/// HKDF-SHA256) of RFC 9180, section 4.1, and AES-256-GCM under the secret that this gives, each used once.
public final class SealedSecret {
    private static final String CURVE = "X25519";
    private static final String KEM_NAME = "DHKEM";
    private static final String CIPHER = "AES/GCM/NoPadding";

    /// RFC 9180, table 2: what the reader needs to come to the same secret, and how long that is.
    private static final int ENCAPSULATION_BYTES = 32;

    private static final int KEY_BYTES = 32;

    /// Every key is used once, so that the nonce may always be the same.
    private static final GCMParameterSpec ONCE = new GCMParameterSpec(128, new byte[12]);

    private SealedSecret() {}

    /// Who can open it: a pair of keys that never leaves this process.
    public static final class Reader {
        private final KeyPair keys;

        public Reader() {
            try {
                keys = KeyPairGenerator.getInstance(CURVE).generateKeyPair();
            } catch (GeneralSecurityException e) {
                throw new DriverException.BackendFault("this Java cannot make keys of " + CURVE, e);
            }
        }

        /// What a secret is sealed with, as text: its `SubjectPublicKeyInfo` (RFC 8410) in base64.
        public String publicKey() {
            return Base64.getEncoder().encodeToString(keys.getPublic().getEncoded());
        }

        /// Opens what [SealedSecret#seal] returned.
        ///
        /// @param about what it was said to be about
        /// @throws DriverException.BackendFault (INTERNAL) if it was sealed for another reader, or about
        ///     something else
        public String open(String sealed, String about) {
            try {
                ByteBuffer bytes = ByteBuffer.wrap(Base64.getDecoder().decode(sealed));
                byte[] encapsulation = new byte[ENCAPSULATION_BYTES];
                bytes.get(encapsulation);
                byte[] text = new byte[bytes.remaining()];
                bytes.get(text);
                SecretKey key = KEM.getInstance(KEM_NAME)
                        .newDecapsulator(keys.getPrivate())
                        .decapsulate(encapsulation, 0, KEY_BYTES, "AES");
                return new String(cipher(Cipher.DECRYPT_MODE, key, about).doFinal(text), StandardCharsets.UTF_8);
            } catch (GeneralSecurityException | IllegalArgumentException | java.nio.BufferUnderflowException _) {
                throw new DriverException.BackendFault(
                        "what came was not sealed for this process, or not for " + about);
            }
        }
    }

    /// Seals a secret.
    ///
    /// @param publicKey the reader's
    /// @param about what it is about; it can be opened for nothing else
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if that is no such key
    public static String seal(String publicKey, String secret, String about) {
        try {
            PublicKey reader = KeyFactory.getInstance(CURVE)
                    .generatePublic(new X509EncodedKeySpec(Base64.getDecoder().decode(publicKey)));
            KEM.Encapsulated made =
                    KEM.getInstance(KEM_NAME).newEncapsulator(reader).encapsulate(0, KEY_BYTES, "AES");
            byte[] text =
                    cipher(Cipher.ENCRYPT_MODE, made.key(), about).doFinal(secret.getBytes(StandardCharsets.UTF_8));
            ByteBuffer bytes = ByteBuffer.allocate(made.encapsulation().length + text.length)
                    .put(made.encapsulation())
                    .put(text);
            return Base64.getEncoder().encodeToString(bytes.array());
        } catch (GeneralSecurityException | IllegalArgumentException _) {
            throw new DriverException.InvalidRequest("publicKey is no public key of " + CURVE);
        }
    }

    private static Cipher cipher(int mode, SecretKey key, String about) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance(CIPHER);
        cipher.init(mode, key, ONCE);
        cipher.updateAAD(about.getBytes(StandardCharsets.UTF_8));
        return cipher;
    }
}
