package dev.siphon.cli;

import com.google.gson.JsonObject;
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
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
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

/// Calls an RPC of any CSI driver and prints the response as JSON. For administrators and the demo.
@Command(
        name = "csi",
        description = {
            "Calls an RPC of a CSI driver and prints its response as JSON.",
            "Without RPC, lists the RPCs and the fields of their requests.",
            "With '-' for RPC, calls one after another: each line of stdin is 'RPC' or 'RPC REQUEST'."
        })
public final class CsiCommand implements Callable<Integer> {
    private final CsiMethods methods = new CsiMethods();

    @CommandLine.Spec
    private CommandLine.Model.@Nullable CommandSpec spec;

    @Option(
            names = "--endpoint",
            paramLabel = "URI",
            defaultValue = "${env:CSI_ENDPOINT:-unix:///csi/csi.sock}",
            description = "The driver's Unix socket (default: unix:///csi/csi.sock).")
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
            description = "The deadline of each call; connecting before may take as long again (default: 60).")
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
    public Integer call() throws IOException, InterruptedException {
        JsonLogging.start(Level.ERROR);
        PrintWriter out = command().getOut();
        if (rpc == null) {
            methods.describe().forEach(out::println);
            return CommandLine.ExitCode.OK;
        }
        try (UnixSocketChannel channel = UnixSocketChannel.open(address())) {
            if (rpc.equals("-")) {
                return lines(channel, out);
            }
            out.println(JsonFormat.printer()
                    .preservingProtoFieldNames()
                    .print(send(channel, rpc, request.equals("-") ? stdin() : request)));
            return CommandLine.ExitCode.OK;
        } finally {
            out.flush();
        }
    }

    /// Prints one line of JSON per line of stdin: the response, or `{"error": "CODE: message"}`.
    private int lines(UnixSocketChannel channel, PrintWriter out) throws IOException, InterruptedException {
        int failed = 0;
        for (String line : stdin().lines().filter(text -> !text.isBlank()).toList()) {
            String[] call = line.strip().split("\\s+", 2);
            try {
                out.println(JsonFormat.printer()
                        .preservingProtoFieldNames()
                        .omittingInsignificantWhitespace()
                        .print(send(channel, call[0], call.length == 1 ? "{}" : call[1])));
            } catch (CallFailure e) {
                JsonObject error = new JsonObject();
                error.addProperty("error", e.getMessage());
                out.println(error);
                failed++;
            }
        }
        return failed == 0 ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }

    private DynamicMessage send(UnixSocketChannel channel, String name, String json) throws InterruptedException {
        MethodDescriptor method = methods.find(name).orElseThrow(() -> usage("there is no unary RPC " + name));
        DynamicMessage message = message(method, json);
        channel.connect(Duration.ofSeconds(timeoutSeconds));
        try {
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

    private DynamicMessage message(MethodDescriptor method, String json) {
        DynamicMessage.Builder builder = DynamicMessage.newBuilder(method.getInputType());
        try {
            JsonFormat.parser().merge(json, builder);
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

    private UnixEndpoint address() {
        try {
            return UnixEndpoint.parse(endpoint);
        } catch (IllegalArgumentException e) {
            throw usage(Objects.requireNonNull(e.getMessage()));
        }
    }

    private static String stdin() throws IOException {
        try (InputStream in = System.in) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private CommandLine.ParameterException usage(String message) {
        return new CommandLine.ParameterException(command(), message);
    }

    private CommandLine command() {
        return Objects.requireNonNull(spec).commandLine();
    }
}
