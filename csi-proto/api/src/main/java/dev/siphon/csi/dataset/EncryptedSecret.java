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

/// Encrypts a secret for one reader, to pass it through a place that others may read. Uses DHKEM(X25519,
/// HKDF-SHA256) of RFC 9180, section 4.1, and AES-256-GCM with the shared secret. Each key is used once.
public final class EncryptedSecret {
    private static final String CURVE = "X25519";
    private static final String KEM_NAME = "DHKEM";
    private static final String CIPHER = "AES/GCM/NoPadding";

    /// RFC 9180, table 2: the length of the encapsulation, from which the reader derives the shared secret.
    private static final int ENCAPSULATION_BYTES = 32;

    private static final int KEY_BYTES = 32;

    /// Each key is used once, so the nonce may be constant.
    private static final GCMParameterSpec ONCE = new GCMParameterSpec(128, new byte[12]);

    private EncryptedSecret() {}

    /// The receiver of secrets, with a key pair that never leaves this process.
    public static final class Reader {
        private final KeyPair keys;

        public Reader() {
            try {
                keys = KeyPairGenerator.getInstance(CURVE).generateKeyPair();
            } catch (GeneralSecurityException e) {
                throw new DriverException.BackendFault("this Java runtime cannot create keys of " + CURVE, e);
            }
        }

        /// Returns the public key to encrypt secrets with: its `SubjectPublicKeyInfo` (RFC 8410) in base64.
        public String publicKey() {
            return Base64.getEncoder().encodeToString(keys.getPublic().getEncoded());
        }

        /// Decrypts the text of [EncryptedSecret#encrypt].
        ///
        /// @param about the same text as when it was encrypted
        /// @throws DriverException.BackendFault (INTERNAL) if it was encrypted for another reader, or with
        ///     another `about`
        public String decrypt(String encrypted, String about) {
            try {
                ByteBuffer bytes = ByteBuffer.wrap(Base64.getDecoder().decode(encrypted));
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
                        "the secret was not encrypted for this process, or not for " + about);
            }
        }
    }

    /// Encrypts a secret.
    ///
    /// @param publicKey the reader's public key
    /// @param about the purpose of the secret; it can be decrypted for no other
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `publicKey` is not a valid key
    public static String encrypt(String publicKey, String secret, String about) {
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
            throw new DriverException.InvalidRequest("publicKey is not a public key of " + CURVE);
        }
    }

    private static Cipher cipher(int mode, SecretKey key, String about) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance(CIPHER);
        cipher.init(mode, key, ONCE);
        cipher.updateAAD(about.getBytes(StandardCharsets.UTF_8));
        return cipher;
    }
}
