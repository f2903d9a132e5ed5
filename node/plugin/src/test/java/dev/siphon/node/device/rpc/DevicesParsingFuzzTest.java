package dev.siphon.node.device.rpc;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.siphon.csi.fuzz.ParserFuzz;
import java.util.List;
import org.junit.jupiter.api.Test;
import podresources.v1.ContainerDevices;
import podresources.v1.ContainerResources;
import podresources.v1.ListPodResourcesResponse;
import podresources.v1.NUMANode;
import podresources.v1.PodResources;
import podresources.v1.TopologyInfo;

/// Fuzzes the kubelet's replies about devices of pods.
final class DevicesParsingFuzzTest {
    @Test
    void devices() {
        PodResources pod = PodResources.newBuilder()
                .setNamespace("a")
                .setName("p")
                .addContainers(ContainerResources.newBuilder()
                        .addDevices(ContainerDevices.newBuilder()
                                .setResourceName("nvidia.com/gpu")
                                .addDeviceIds("GPU-1")
                                .setTopology(TopologyInfo.newBuilder()
                                        .addNodes(NUMANode.newBuilder().setID(1)))))
                .build();
        ParserFuzz.of(
                        "devices of pods",
                        List.of(ListPodResourcesResponse.newBuilder()
                                .addPodResources(pod)
                                .build()
                                .toByteArray()),
                        bytes -> ListPodResourcesResponse.parseFrom(bytes)
                                .getPodResourcesList()
                                .forEach(KubeletPodDevices::held),
                        InvalidProtocolBufferException.class)
                .run();
    }
}
