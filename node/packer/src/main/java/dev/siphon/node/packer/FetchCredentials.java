package dev.siphon.node.packer;

import dev.siphon.node.fetch.Authorization;
import dev.siphon.node.fetch.BucketKey;
import dev.siphon.node.fetch.FetchFailure;
import dev.siphon.node.fetch.FetchFailure.Reason;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/// The keys of a Secret, each a file of a directory. No error shows what is in them.
record FetchCredentials(Path directory) {
    private static final int MAX_BYTES = 64 * 1024;

    /// Returns what a web server is shown.
    ///
    /// @throws FetchFailure WrongKey if the Secret has neither a token nor a name and password
    Authorization authorization() {
        if (has("token")) {
            return Authorization.bearer(text("token"));
        }
        if (has("username") && has("password")) {
            return Authorization.basic(text("username"), text("password"));
        }
        throw new FetchFailure(
                Reason.WRONG_KEY, "the Secret of the credentials needs the key token, or both username and password");
    }

    /// Returns how requests to a bucket are signed.
    ///
    /// @throws FetchFailure WrongKey if the Secret lacks a key
    BucketKey bucketKey() {
        if (!has("access-key") || !has("secret-key")) {
            throw new FetchFailure(
                    Reason.WRONG_KEY, "the Secret of the credentials needs both keys access-key and secret-key");
        }
        return new BucketKey.Signed(
                text("access-key"), text("secret-key"), has("session-token") ? text("session-token") : "");
    }

    private boolean has(String key) {
        return Files.exists(directory.resolve(key));
    }

    private String text(String key) {
        try (InputStream file = Files.newInputStream(directory.resolve(key))) {
            byte[] bytes = file.readNBytes(MAX_BYTES + 1);
            String text = new String(bytes, StandardCharsets.UTF_8).strip();
            if (bytes.length > MAX_BYTES || text.isEmpty()) {
                throw new FetchFailure(
                        Reason.WRONG_KEY, "the key " + key + " in the Secret of the credentials is empty or too long");
            }
            return text;
        } catch (NoSuchFileException _) {
            throw new FetchFailure(
                    Reason.WRONG_KEY, "the key " + key + " is no longer in the Secret of the credentials");
        } catch (IOException e) {
            throw new FetchFailure(Reason.IO, "reading the key " + key + " of the credentials failed: " + e);
        }
    }
}
