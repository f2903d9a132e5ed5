package dev.siphon.controller.kubernetes.resource;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fabric8.kubernetes.client.CustomResource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

final class CustomResourceDefinitionsTest {
    static final Iterable<Class<? extends CustomResource<?, ?>>> TYPES = CustomResourceDefinitions.types();

    /// `make definitions` writes the files.
    @ParameterizedTest
    @FieldSource("TYPES")
    void theChartSaysWhatTheTypesSay(Class<? extends CustomResource<?, ?>> type, @TempDir Path folder)
            throws IOException {
        String text = CustomResourceDefinitions.text(type, folder);
        Path file = CustomResourceDefinitions.file(type);
        if (Boolean.getBoolean("siphon.definitions.write")) {
            Files.writeString(file, text);
        }
        assertEquals(text, Files.readString(file), file + " is another one than the types': run `make definitions`");
    }

    /// `make definitions` writes this page too.
    @Test
    void theReferenceHasEachField(@TempDir Path folder) throws IOException {
        ObjectReference reference = new ObjectReference();
        TYPES.forEach(type -> reference.add(CustomResourceDefinitions.text(type, folder)));
        if (Boolean.getBoolean("siphon.definitions.write")) {
            Files.writeString(ObjectReference.FILE, reference.page());
        }
        assertEquals(List.of(), reference.undescribed(), "fields without a @JsonPropertyDescription");
        assertEquals(
                reference.page(),
                Files.readString(ObjectReference.FILE),
                ObjectReference.FILE + " lacks a change: run `make definitions`");
    }
}
