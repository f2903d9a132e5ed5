package dev.siphon.node.rpc;

import static dev.siphon.csi.PublishedProtos.assertSame;
import static dev.siphon.csi.PublishedProtos.withoutFileOptions;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import dev.siphon.csi.PublishedProtos;
import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import pluginregistration.v1.Pluginregistration;

/// Checks that our pluginregistration.proto equals the kubelet's of Kubernetes 1.36 on the wire. File options and
/// the order of messages may differ.
final class RegistrationProtoTest {
    private static FileDescriptorProto published = FileDescriptorProto.getDefaultInstance();
    private static final FileDescriptorProto OURS =
            Pluginregistration.getDescriptor().toProto();

    @BeforeAll
    static void read() throws IOException {
        published = PublishedProtos.published(OURS.getName());
    }

    @Test
    void everyDescriptorEqualsThePublishedOne() {
        assertSame(sorted(published), sorted(OURS));
    }

    @Test
    void aSingleChangedNumberIsFound() {
        FileDescriptorProto.Builder changed = OURS.toBuilder();
        changed.getMessageTypeBuilderList().stream()
                .filter(message -> message.getName().equals("PluginInfo"))
                .forEach(message -> message.getFieldBuilder(0).setNumber(100));
        assertThrows(AssertionError.class, () -> assertSame(sorted(published), sorted(changed.build())));
    }

    private static FileDescriptorProto sorted(FileDescriptorProto file) {
        List<DescriptorProto> messages = file.getMessageTypeList().stream()
                .sorted(Comparator.comparing(DescriptorProto::getName))
                .toList();
        return withoutFileOptions(file).toBuilder()
                .clearMessageType()
                .addAllMessageType(messages)
                .build();
    }
}
