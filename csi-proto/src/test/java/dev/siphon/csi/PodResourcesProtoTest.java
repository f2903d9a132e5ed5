package dev.siphon.csi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// That what our podresources.proto has of the kubelet's of Kubernetes 1.36 is the same on the wire.
final class PodResourcesProtoTest {
    private static final String MODULE = "k8s.io/kubelet@v0.36.1";
    private static final String CHECKSUM = "h1:FcHiG9wv92xerRPNxztuhYWqwS4IilOQNPxTPQewYgo=";
    private static final String PUBLISHED = "pkg/apis/podresources/v1/api.proto";
    private static final String FILE = "podresources.proto";

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

    /// What of `file` is not in what was published, as it is there.
    private static List<String> foreign(FileDescriptorProto file) {
        List<String> foreign = new ArrayList<>();
        for (DescriptorProto message : file.getMessageTypeList()) {
            List<DescriptorProto> same = published.getMessageTypeList().stream()
                    .filter(each -> each.getName().equals(message.getName()))
                    .toList();
            message.getFieldList().stream()
                    .filter(field ->
                            same.stream().noneMatch(each -> each.getFieldList().contains(field)))
                    .forEach(field -> foreign.add(message.getName() + "." + field.getName()));
            if (same.isEmpty()) {
                foreign.add(message.getName());
            }
        }
        file.getService(0).getMethodList().stream()
                .filter(method -> !published.getService(0).getMethodList().contains(method))
                .forEach(method -> foreign.add(method.getName()));
        return foreign;
    }

    @Test
    void everythingIsAsPublished() {
        assertEquals(published.getPackage(), ours.getPackage());
        assertEquals(published.getService(0).getName(), ours.getService(0).getName());
        assertEquals(List.of(), foreign(ours));
        assertFalse(ours.getMessageTypeList().isEmpty());
    }

    @Test
    void aSingleChangedNumberIsFound() {
        FileDescriptorProto.Builder changed = ours.toBuilder();
        changed.getMessageTypeBuilderList().stream()
                .filter(message -> message.getName().equals("ContainerDevices"))
                .forEach(message -> message.getFieldBuilder(1).setNumber(100));
        assertTrue(foreign(changed.build()).contains("ContainerDevices.device_ids"));
    }
}
