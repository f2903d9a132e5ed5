package dev.siphon.cli;

import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.Descriptors.ServiceDescriptor;
import com.google.protobuf.DynamicMessage;
import csi.v1.Csi;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.protobuf.ProtoUtils;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// The unary RPCs of CSI by their short name, which is unique across its services.
final class CsiMethods {
    private final Map<String, MethodDescriptor> byName = new TreeMap<>();

    CsiMethods() {
        for (ServiceDescriptor service : Csi.getDescriptor().getServices()) {
            for (MethodDescriptor method : service.getMethods()) {
                if (!method.isServerStreaming() && !method.isClientStreaming()) {
                    byName.put(method.getName(), method);
                }
            }
        }
    }

    Optional<MethodDescriptor> find(String name) {
        return Optional.ofNullable(byName.get(name));
    }

    /// Returns one line per RPC: its service, its name, and the fields of its request.
    List<String> describe() {
        return byName.values().stream()
                .map(method -> String.format(
                        "%-15s %-32s %s",
                        method.getService().getName(),
                        method.getName(),
                        String.join(
                                " ",
                                method.getInputType().getFields().stream()
                                        .map(field -> field.getName())
                                        .toList())))
                .sorted()
                .toList();
    }

    /// Returns the gRPC descriptor of a method, to call it without generated stubs.
    static io.grpc.MethodDescriptor<DynamicMessage, DynamicMessage> toGrpc(MethodDescriptor method) {
        return io.grpc.MethodDescriptor.<DynamicMessage, DynamicMessage>newBuilder()
                .setType(MethodType.UNARY)
                .setFullMethodName(io.grpc.MethodDescriptor.generateFullMethodName(
                        method.getService().getFullName(), method.getName()))
                .setRequestMarshaller(ProtoUtils.marshaller(DynamicMessage.getDefaultInstance(method.getInputType())))
                .setResponseMarshaller(ProtoUtils.marshaller(DynamicMessage.getDefaultInstance(method.getOutputType())))
                .build();
    }
}
