package dev.siphon.csi;

import static dev.siphon.csi.PublishedProtos.assertSame;
import static dev.siphon.csi.PublishedProtos.withoutFileOptions;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import csi.v1.Csi;
import java.io.IOException;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// Checks that our csi.proto equals CSI 1.13.0 on the wire: both descriptors must match in every option. Two
/// differences are allowed: file options and one field name.
final class CsiProtoTest {
    /// Messages in which `mutable_parameters` collides with `parameters` in generated Java.
    private static final Set<String> RENAMED =
            Set.of("CreateVolumeRequest", "ValidateVolumeCapabilitiesRequest", "Confirmed");

    private static FileDescriptorProto published = FileDescriptorProto.getDefaultInstance();
    private static final FileDescriptorProto OURS = Csi.getDescriptor().toProto();

    @BeforeAll
    static void read() throws IOException {
        published = PublishedProtos.published(OURS.getName());
    }

    @Test
    void everyDescriptorEqualsThePublishedOne() {
        assertSame(withJavaName(published), withoutFileOptions(OURS));
    }

    @Test
    void aSingleChangedNumberIsFound() {
        FileDescriptorProto.Builder changed = OURS.toBuilder();
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
