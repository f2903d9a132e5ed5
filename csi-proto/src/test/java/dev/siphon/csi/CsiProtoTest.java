package dev.siphon.csi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
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
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// That our csi.proto is the published one of CSI 1.13.0 on the wire: the published file, from its Go module, and
/// ours are compiled by the build's own protoc, and their descriptors must be equal to the last option. Two
/// differences are allowed: options of the file as a whole, which say how each language names things, and one
/// field's name.
final class CsiProtoTest {
    private static final String MODULE = "github.com/container-storage-interface/spec@v1.13.0";
    private static final String CHECKSUM = "h1:6ja3nYoACisewTPAAZkJ1pbf4+1ehhvt9Z/nYgWGHGw=";

    /// Where `mutable_parameters` stands beside `parameters`: the two collide in generated Java.
    private static final Set<String> RENAMED =
            Set.of("CreateVolumeRequest", "ValidateVolumeCapabilitiesRequest", "Confirmed");

    private static final List<String> IMPORTS = List.of("descriptor", "timestamp", "wrappers");

    @TempDir
    private static Path work;

    private static FileDescriptorProto published = FileDescriptorProto.getDefaultInstance();
    private static FileDescriptorProto ours = FileDescriptorProto.getDefaultInstance();

    @BeforeAll
    static void compileBoth() throws IOException, InterruptedException {
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
        published = compile(protoc, moduleFolder(), "published");
        ours = compile(protoc, Path.of(property("siphon.proto.folder")), "ours");
    }

    @Test
    void everyDescriptorEqualsThePublishedOne() {
        assertSame(withJavaName(published), withoutFileOptions(ours));
    }

    @Test
    void theStubsAreMadeFromThisFile() {
        assertSame(withoutJsonNames(ours), Csi.getDescriptor().toProto());
    }

    @Test
    void aSingleChangedNumberIsFound() {
        FileDescriptorProto.Builder changed = ours.toBuilder();
        FieldDescriptorProto.Builder field =
                changed.getMessageTypeBuilder(changed.getMessageTypeCount() - 1).getFieldBuilder(0);
        field.setNumber(field.getNumber() + 100);
        assertThrows(
                AssertionError.class, () -> assertSame(withJavaName(published), withoutFileOptions(changed.build())));
    }

    /// Names the first difference and what stands before it; all of it would be 100 KB.
    private static void assertSame(FileDescriptorProto expected, FileDescriptorProto actual) {
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

    private static String text(FileDescriptorProto file) {
        return TextFormat.printer().printToString(file);
    }

    private static FileDescriptorProto withoutFileOptions(FileDescriptorProto file) {
        return file.toBuilder().clearOptions().build();
    }

    private static FileDescriptorProto withJavaName(FileDescriptorProto file) {
        FileDescriptorProto.Builder builder = withoutFileOptions(file).toBuilder();
        builder.getMessageTypeBuilderList().forEach(CsiProtoTest::rename);
        return builder.build();
    }

    private static void rename(DescriptorProto.Builder message) {
        message.getNestedTypeBuilderList().forEach(CsiProtoTest::rename);
        if (!RENAMED.contains(message.getName())) {
            return;
        }
        for (FieldDescriptorProto.Builder field : message.getFieldBuilderList()) {
            if (field.getName().equals("mutable_parameters")) {
                field.setName("modifiable_parameters")
                        .setJsonName("modifiableParameters")
                        .setTypeName(
                                field.getTypeName().replace("MutableParametersEntry", "ModifiableParametersEntry"));
            }
        }
        for (DescriptorProto.Builder entry : message.getNestedTypeBuilderList()) {
            if (entry.getName().equals("MutableParametersEntry")) {
                entry.setName("ModifiableParametersEntry");
            }
        }
    }

    /// Generated code leaves out JSON names that follow from the field's name, as all of CSI's do.
    private static FileDescriptorProto withoutJsonNames(FileDescriptorProto file) {
        FileDescriptorProto.Builder builder = file.toBuilder();
        builder.getMessageTypeBuilderList().forEach(CsiProtoTest::clearJsonNames);
        builder.getExtensionBuilderList().forEach(FieldDescriptorProto.Builder::clearJsonName);
        return builder.build();
    }

    private static void clearJsonNames(DescriptorProto.Builder message) {
        message.getNestedTypeBuilderList().forEach(CsiProtoTest::clearJsonNames);
        message.getFieldBuilderList().forEach(FieldDescriptorProto.Builder::clearJsonName);
    }

    /// Has the Go client fetch the published module, which checks its sum, and tells where it put it.
    private static Path moduleFolder() throws IOException, InterruptedException {
        String answer = run(List.of("go", "mod", "download", "-json", MODULE));
        assertEquals(CHECKSUM, field(answer, "Sum"));
        return Path.of(field(answer, "Dir"));
    }

    private static String field(String json, String name) {
        Matcher matcher = Pattern.compile("\"" + name + "\": \"([^\"]*)\"").matcher(json);
        if (!matcher.find()) {
            throw new AssertionError("no " + name + " in " + json);
        }
        return matcher.group(1);
    }

    private static FileDescriptorProto compile(Path protoc, Path folder, String name)
            throws IOException, InterruptedException {
        // a copy of its own: the module cache is read-only, and protoc wants the file below its include folder
        Path source = Files.createDirectory(work.resolve(name));
        Files.copy(folder.resolve("csi.proto"), source.resolve("csi.proto"), StandardCopyOption.REPLACE_EXISTING);
        Path out = work.resolve(name + ".descriptors");
        run(List.of(
                protoc.toString(),
                "-I" + source,
                "-I" + work.resolve("include"),
                "--descriptor_set_out=" + out,
                "csi.proto"));
        ExtensionRegistry extensions = ExtensionRegistry.newInstance();
        Csi.registerAllExtensions(extensions);
        return FileDescriptorSet.parseFrom(Files.readAllBytes(out), extensions).getFile(0);
    }

    private static String run(List<String> command) throws IOException, InterruptedException {
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
