package dev.siphon.csi;

import static dev.siphon.csi.PublishedProtos.assertSame;
import static dev.siphon.csi.PublishedProtos.withoutFileOptions;
import static dev.siphon.csi.PublishedProtos.withoutJsonNames;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import csi.v1.Csi;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// That our csi.proto is the published one of CSI 1.13.0 on the wire: the descriptors of both must be equal to
/// the last option. Two differences are allowed: options of the file as a whole, and one field's name.
final class CsiProtoTest {
    private static final String MODULE = "github.com/container-storage-interface/spec@v1.13.0";
    private static final String CHECKSUM = "h1:6ja3nYoACisewTPAAZkJ1pbf4+1ehhvt9Z/nYgWGHGw=";
    private static final String FILE = "csi.proto";

    /// Where `mutable_parameters` stands beside `parameters`: the two collide in generated Java.
    private static final Set<String> RENAMED =
            Set.of("CreateVolumeRequest", "ValidateVolumeCapabilitiesRequest", "Confirmed");

    @TempDir
    private static Path work;

    private static FileDescriptorProto published = FileDescriptorProto.getDefaultInstance();
    private static FileDescriptorProto ours = FileDescriptorProto.getDefaultInstance();

    @BeforeAll
    static void compileBoth() throws IOException, InterruptedException {
        PublishedProtos protos = PublishedProtos.in(work);
        published = protos.ofModule(MODULE, CHECKSUM, FILE, FILE);
        ours = protos.ours(FILE);
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
}
