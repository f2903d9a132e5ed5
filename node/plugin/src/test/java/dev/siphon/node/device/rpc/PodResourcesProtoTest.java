package dev.siphon.node.device.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import dev.siphon.csi.PublishedProtos;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import podresources.v1.Podresources;

/// Checks that our subset of podresources.proto equals the kubelet's of Kubernetes 1.36 on the wire.
final class PodResourcesProtoTest {
    private static FileDescriptorProto published = FileDescriptorProto.getDefaultInstance();
    private static final FileDescriptorProto OURS = Podresources.getDescriptor().toProto();

    @BeforeAll
    static void read() throws IOException {
        published = PublishedProtos.published(OURS.getName());
    }

    /// Returns what `file` contains and the published file lacks or defines differently.
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
        assertEquals(published.getPackage(), OURS.getPackage());
        assertEquals(published.getService(0).getName(), OURS.getService(0).getName());
        assertEquals(List.of(), foreign(OURS));
        assertFalse(OURS.getMessageTypeList().isEmpty());
    }

    @Test
    void aSingleChangedNumberIsFound() {
        FileDescriptorProto.Builder changed = OURS.toBuilder();
        changed.getMessageTypeBuilderList().stream()
                .filter(message -> message.getName().equals("ContainerDevices"))
                .forEach(message -> message.getFieldBuilder(1).setNumber(100));
        assertTrue(foreign(changed.build()).contains("ContainerDevices.device_ids"));
    }
}
