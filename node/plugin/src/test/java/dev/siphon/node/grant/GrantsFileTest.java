package dev.siphon.node.grant;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

final class GrantsFileTest extends GrantsSourceContract {
    @TempDir
    private Path folder;

    private GrantsFile source = new GrantsFile(Path.of("/nowhere"));

    @BeforeEach
    void open() {
        source = new GrantsFile(file());
    }

    @Override
    protected GrantsSource source() {
        return source;
    }

    @Override
    protected void publish(String text) {
        try {
            Path aside = folder.resolve("aside");
            Files.writeString(aside, text);
            Files.move(aside, file(), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    protected void remove() {
        try {
            Files.deleteIfExists(file());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    protected String place() {
        return file().toString();
    }

    private Path file() {
        return folder.resolve("grants.json");
    }
}
