package dev.siphon.cli;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.util.JsonFormat;
import dev.siphon.csi.client.UnixSocketChannel;
import dev.siphon.csi.server.JsonLogging;
import dev.siphon.csi.server.UnixEndpoint;
import io.grpc.CallOptions;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// Calls one RPC of a CSI driver, any driver, and prints the response as JSON: for administrators and for the demo.
@Command(
        name = "csi",
        description = {
            "Calls an RPC of a CSI driver and prints its response as JSON.",
            "Without RPC, lists the RPCs and the fields of their requests."
        })
public final class CsiCommand implements Callable<Integer> {
    private final CsiMethods methods = new CsiMethods();

    @CommandLine.Spec
    private CommandLine.Model.@Nullable CommandSpec spec;

    @Option(
            names = "--endpoint",
            defaultValue = "${env:CSI_ENDPOINT:-unix:///csi/csi.sock}",
            description = "The driver's unix socket (default: unix:///csi/csi.sock).")
    private String endpoint = "";

    @Option(
            names = "--secrets-file",
            paramLabel = "FILE",
            description = "The request's secrets: a JSON object, or YAML lines 'key: value'.")
    private @Nullable Path secretsFile;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "60",
            description = "The deadline of the call (default: 60).")
    private int timeoutSeconds;

    @Parameters(index = "0", arity = "0..1", paramLabel = "RPC", description = "Such as CreateVolume.")
    private @Nullable String rpc;

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "REQUEST",
            defaultValue = "{}",
            description = "The request as JSON with the field names of csi.proto, or '-' for stdin (default: {}).")
    private String request = "";

    @Override
    public Integer call() throws IOException {
        JsonLogging.start(Level.ERROR);
        var out = Objects.requireNonNull(spec).commandLine().getOut();
        if (rpc == null) {
            methods.describe().forEach(out::println);
            return CommandLine.ExitCode.OK;
        }
        String name = rpc;
        MethodDescriptor method = methods.find(name).orElseThrow(() -> usage("there is no unary RPC " + name));
        DynamicMessage message = message(method);
        out.println(JsonFormat.printer().preservingProtoFieldNames().print(send(method, message)));
        out.flush();
        return CommandLine.ExitCode.OK;
    }

    private DynamicMessage message(MethodDescriptor method) throws IOException {
        DynamicMessage.Builder builder = DynamicMessage.newBuilder(method.getInputType());
        try {
            JsonFormat.parser().merge(request.equals("-") ? stdin() : request, builder);
        } catch (InvalidProtocolBufferException e) {
            throw usage("the request does not fit " + method.getInputType().getName() + ": " + e.getMessage());
        }
        Optional.ofNullable(secretsFile).ifPresent(path -> addSecrets(builder, path));
        return builder.build();
    }

    private void addSecrets(DynamicMessage.Builder builder, Path path) {
        FieldDescriptor field = builder.getDescriptorForType().findFieldByName("secrets");
        if (field == null) {
            throw usage(builder.getDescriptorForType().getName() + " takes no secrets");
        }
        try {
            for (Map.Entry<String, String> secret : SecretsFile.read(path).entrySet()) {
                builder.addRepeatedField(
                        field,
                        DynamicMessage.newBuilder(field.getMessageType())
                                .setField(field.getMessageType().findFieldByNumber(1), secret.getKey())
                                .setField(field.getMessageType().findFieldByNumber(2), secret.getValue())
                                .build());
            }
        } catch (IllegalArgumentException e) {
            throw usage(Objects.requireNonNull(e.getMessage()));
        }
    }

    private DynamicMessage send(MethodDescriptor method, DynamicMessage message) {
        UnixEndpoint address;
        try {
            address = UnixEndpoint.parse(endpoint);
        } catch (IllegalArgumentException e) {
            throw usage(Objects.requireNonNull(e.getMessage()));
        }
        try (UnixSocketChannel channel = UnixSocketChannel.open(address)) {
            return ClientCalls.blockingUnaryCall(
                    channel.channel(),
                    CsiMethods.toGrpc(method),
                    CallOptions.DEFAULT.withDeadlineAfter(timeoutSeconds, TimeUnit.SECONDS),
                    message);
        } catch (StatusRuntimeException e) {
            String description = e.getStatus().getDescription();
            throw new CallFailure(e.getStatus().getCode() + ": " + (description == null ? "no message" : description));
        }
    }

    private static String stdin() throws IOException {
        try (InputStream in = System.in) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private CommandLine.ParameterException usage(String message) {
        return new CommandLine.ParameterException(Objects.requireNonNull(spec).commandLine(), message);
    }
}
