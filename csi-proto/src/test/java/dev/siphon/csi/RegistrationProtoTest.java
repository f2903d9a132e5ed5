package dev.siphon.csi;

import static dev.siphon.csi.PublishedProtos.assertSame;
import static dev.siphon.csi.PublishedProtos.withoutFileOptions;
import static dev.siphon.csi.PublishedProtos.withoutJsonNames;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import pluginregistration.v1.Pluginregistration;

/// That our pluginregistration.proto is the kubelet's of Kubernetes 1.36 on the wire: the descriptors of both
/// must be equal, but for options of the file as a whole and for the order in which messages are written down.
final class RegistrationProtoTest {
    private static final String MODULE = "k8s.io/kubelet@v0.36.1";
    private static final String CHECKSUM = "h1:FcHiG9wv92xerRPNxztuhYWqwS4IilOQNPxTPQewYgo=";
    private static final String PUBLISHED = "pkg/apis/pluginregistration/v1/api.proto";
    private static final String FILE = "pluginregistration.proto";

    @TempDir
    private static Path work;

    private static FileDescriptorProto published = FileDescriptorProto.getDefaultInstance();
    private static FileDescriptorProto ours = FileDescriptorProto.getDefaultInstance();

    @BeforeAll
    static void compileBoth() throws IOException, InterruptedException {
        PublishedProtos protos = PublishedProtos.in(work);
        published = protos.ofModule(MODULE, CHECKSUM, PUBLISHED, FILE);
        ours = protos.ours(FILE);
    }

    @Test
    void everyDescriptorEqualsThePublishedOne() {
        assertSame(sorted(published), sorted(ours));
    }

    @Test
    void theStubsAreMadeFromThisFile() {
        assertSame(withoutJsonNames(ours), Pluginregistration.getDescriptor().toProto());
    }

    @Test
    void aSingleChangedNumberIsFound() {
        FileDescriptorProto.Builder changed = ours.toBuilder();
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
