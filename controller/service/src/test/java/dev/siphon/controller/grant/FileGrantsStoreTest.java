package dev.siphon.controller.grant;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

final class FileGrantsStoreTest extends GrantsStoreContract {
    @TempDir
    private Path folder = Path.of("");

    private Path file() {
        return folder.resolve("grants.json");
    }

    @Override
    protected GrantsStore open() {
        return new FileGrantsStore(file());
    }

    @Override
    protected String read() {
        try {
            return Files.readString(file());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    protected void spoil(String text) {
        try {
            Files.writeString(file(), text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
