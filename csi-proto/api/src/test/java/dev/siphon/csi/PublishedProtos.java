package dev.siphon.csi;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.ExtensionRegistry;
import com.google.protobuf.TextFormat;
import csi.v1.Csi;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;

/// Compares descriptors of published .proto files, written by `make published`, with those generated from ours.
public final class PublishedProtos {
    private PublishedProtos() {}

    /// Returns the published descriptor without JSON names. Generated code omits them, and here they follow from
    /// the field names.
    ///
    /// @param file the name of our .proto file
    public static FileDescriptorProto published(String file) throws IOException {
        String resource = "/published/" + file.replace(".proto", ".textproto");
        ExtensionRegistry extensions = ExtensionRegistry.newInstance();
        Csi.registerAllExtensions(extensions);
        FileDescriptorSet.Builder set = FileDescriptorSet.newBuilder();
        try (InputStream in = Objects.requireNonNull(PublishedProtos.class.getResourceAsStream(resource), resource)) {
            TextFormat.merge(new InputStreamReader(in, StandardCharsets.UTF_8), extensions, set);
        }
        FileDescriptorProto.Builder published = set.getFileBuilder(0);
        published.getMessageTypeBuilderList().forEach(PublishedProtos::clearJsonNames);
        published.getExtensionBuilderList().forEach(FieldDescriptorProto.Builder::clearJsonName);
        return published.build();
    }

    /// Reports the first difference and the lines before it; the full text would be 100 KB.
    public static void assertSame(FileDescriptorProto expected, FileDescriptorProto actual) {
        List<String> wanted = text(expected).lines().toList();
        List<String> got = text(actual).lines().toList();
        for (int i = 0; i < Math.max(wanted.size(), got.size()); i++) {
            String line = i < wanted.size() ? wanted.get(i) : "the end";
            List<String> before =
                    wanted.subList(Math.max(0, Math.min(i, wanted.size()) - 12), Math.min(i, wanted.size()));
            assertEquals(
                    line, i < got.size() ? got.get(i) : "the end", () -> "after\n" + String.join("\n", before) + "\n");
        }
    }

    /// File options control only the names in each language, not the wire format.
    public static FileDescriptorProto withoutFileOptions(FileDescriptorProto file) {
        return file.toBuilder().clearOptions().build();
    }

    private static void clearJsonNames(DescriptorProto.Builder message) {
        message.getNestedTypeBuilderList().forEach(PublishedProtos::clearJsonNames);
        message.getFieldBuilderList().forEach(FieldDescriptorProto.Builder::clearJsonName);
    }

    private static String text(FileDescriptorProto file) {
        return TextFormat.printer().printToString(file);
    }
}
