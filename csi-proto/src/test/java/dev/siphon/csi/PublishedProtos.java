package dev.siphon.csi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.ExtensionRegistry;
import com.google.protobuf.TextFormat;
import csi.v1.Csi;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Published .proto files, fetched from their Go modules, and our own, both compiled by the build's own protoc
/// to descriptors that can be compared.
final class PublishedProtos {
    private static final List<String> IMPORTS = List.of("descriptor", "timestamp", "wrappers");

    private final Path work;
    private final Path protoc;

    private PublishedProtos(Path work, Path protoc) {
        this.work = work;
        this.protoc = protoc;
    }

    /// @param work an empty folder
    static PublishedProtos in(Path work) throws IOException {
        for (String name : IMPORTS) {
            Path file = work.resolve("include/google/protobuf/" + name + ".proto");
            Files.createDirectories(Objects.requireNonNull(file.getParent()));
            try (InputStream in = Objects.requireNonNull(
                    Csi.class.getResourceAsStream("/google/protobuf/" + name + ".proto"), name)) {
                Files.copy(in, file);
            }
        }
        Path protoc = Files.copy(Path.of(property("siphon.protoc")), work.resolve("protoc"));
        Files.setPosixFilePermissions(protoc, PosixFilePermissions.fromString("rwx------"));
        return new PublishedProtos(work, protoc);
    }

    /// Has the Go client fetch the published module, which checks its sum, and compiles a file of it.
    ///
    /// @param module with its version
    /// @param checksum of the module
    /// @param file its path in the module
    /// @param as the name to compile it under, which is ours
    FileDescriptorProto ofModule(String module, String checksum, String file, String as)
            throws IOException, InterruptedException {
        String answer = run(List.of("go", "mod", "download", "-json", module));
        assertEquals(checksum, field(answer, "Sum"));
        return compile(Path.of(field(answer, "Dir")).resolve(file), as, "published");
    }

    /// Compiles a file of ours.
    FileDescriptorProto ours(String file) throws IOException, InterruptedException {
        return compile(Path.of(property("siphon.proto.folder")).resolve(file), file, "ours");
    }

    /// Names the first difference and what stands before it; all of it would be 100 KB.
    static void assertSame(FileDescriptorProto expected, FileDescriptorProto actual) {
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

    /// Options of the file as a whole say how each language names things, and nothing of what is on the wire.
    static FileDescriptorProto withoutFileOptions(FileDescriptorProto file) {
        return file.toBuilder().clearOptions().build();
    }

    /// Generated code leaves out JSON names that follow from the field's name, as all of these do.
    static FileDescriptorProto withoutJsonNames(FileDescriptorProto file) {
        FileDescriptorProto.Builder builder = file.toBuilder();
        builder.getMessageTypeBuilderList().forEach(PublishedProtos::clearJsonNames);
        builder.getExtensionBuilderList().forEach(FieldDescriptorProto.Builder::clearJsonName);
        return builder.build();
    }

    private static void clearJsonNames(DescriptorProto.Builder message) {
        message.getNestedTypeBuilderList().forEach(PublishedProtos::clearJsonNames);
        message.getFieldBuilderList().forEach(FieldDescriptorProto.Builder::clearJsonName);
    }

    private static String text(FileDescriptorProto file) {
        return TextFormat.printer().printToString(file);
    }

    private static String field(String json, String name) {
        Matcher matcher = Pattern.compile("\"" + name + "\": \"([^\"]*)\"").matcher(json);
        if (!matcher.find()) {
            throw new AssertionError("no " + name + " in " + json);
        }
        return matcher.group(1);
    }

    private FileDescriptorProto compile(Path file, String as, String name) throws IOException, InterruptedException {
        // a copy of its own: the module cache is read-only, and protoc wants the file below its include folder
        Path source = Files.createDirectory(work.resolve(name));
        Files.copy(file, source.resolve(as));
        Path out = work.resolve(name + ".descriptors");
        run(List.of(
                protoc.toString(), "-I" + source, "-I" + work.resolve("include"), "--descriptor_set_out=" + out, as));
        ExtensionRegistry extensions = ExtensionRegistry.newInstance();
        Csi.registerAllExtensions(extensions);
        return FileDescriptorSet.parseFrom(Files.readAllBytes(out), extensions).getFile(0);
    }

    private String run(List<String> command) throws IOException, InterruptedException {
        Path out = Files.createTempFile(work, "run", ".out");
        Process process = new ProcessBuilder(new ArrayList<>(command))
                .directory(work.toFile())
                .redirectErrorStream(true)
                .redirectOutput(out.toFile())
                .start();
        process.getOutputStream().close();
        boolean ended = process.waitFor(2, TimeUnit.MINUTES);
        process.destroyForcibly();
        String output = Files.readString(out);
        assertTrue(ended, () -> command + " does not end: " + output);
        assertEquals(0, process.exitValue(), () -> command + " failed: " + output);
        return output;
    }

    private static String property(String name) {
        return Objects.requireNonNull(System.getProperty(name), name + " is passed by the POM");
    }
}
