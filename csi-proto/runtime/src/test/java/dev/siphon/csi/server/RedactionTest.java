package dev.siphon.csi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.Message;
import com.google.protobuf.UnknownFieldSet;
import csi.v1.CapacityRange;
import csi.v1.CreateVolumeRequest;
import csi.v1.Csi;
import csi.v1.NodeStageVolumeRequest;
import csi.v1.ProbeResponse;
import csi.v1.VolumeCapability;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class RedactionTest {
    private static final String SECRET = "AQB1secret";
    private static final String OPEN = "open text";

    static List<String> requests() {
        return Csi.getDescriptor().getMessageTypes().stream()
                .map(Descriptor::getName)
                .filter(name -> name.endsWith("Request"))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("requests")
    void noSecretOfAnyRequestIsShownAndAllElseIs(String name) {
        Descriptor type = Csi.getDescriptor().findMessageTypeByName(name);
        DynamicMessage.Builder builder = DynamicMessage.newBuilder(type);
        boolean open = false;
        for (FieldDescriptor field : type.getFields()) {
            boolean secret = field.getOptions().getExtension(Csi.csiSecret);
            if (field.isMapField()) {
                builder.addRepeatedField(field, entry(field, secret ? SECRET : OPEN));
                open |= !secret;
            } else if (field.getType() == FieldDescriptor.Type.STRING && !field.isRepeated()) {
                builder.setField(field, secret ? SECRET : OPEN);
                open |= !secret;
            }
        }
        String shown = Redaction.json(builder.build()).toString();
        assertFalse(shown.contains(SECRET), shown);
        assertEquals(open, shown.contains(OPEN), shown);
    }

    @Test
    void everyMapCalledSecretsIsMarked() {
        for (Descriptor type : Csi.getDescriptor().getMessageTypes()) {
            FieldDescriptor field = type.findFieldByName("secrets");
            assertTrue(field == null || field.getOptions().getExtension(Csi.csiSecret), type.getName());
        }
    }

    @Test
    void whatIsNotSecretKeepsItsForm() {
        CreateVolumeRequest request = CreateVolumeRequest.newBuilder()
                .setName("pvc-1")
                .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(1L << 40))
                .addVolumeCapabilities(VolumeCapability.newBuilder()
                        .setMount(VolumeCapability.MountVolume.newBuilder().addMountFlags("noatime"))
                        .setAccessMode(VolumeCapability.AccessMode.newBuilder()
                                .setMode(VolumeCapability.AccessMode.Mode.MULTI_NODE_MULTI_WRITER)))
                .putParameters("owner", "u1")
                .putSecrets("a", SECRET)
                .build();
        assertEquals(
                "{\"name\":\"pvc-1\",\"capacity_range\":{\"required_bytes\":1099511627776},"
                        + "\"volume_capabilities\":[{\"mount\":{\"mount_flags\":[\"noatime\"]},"
                        + "\"access_mode\":{\"mode\":\"MULTI_NODE_MULTI_WRITER\"}}],"
                        + "\"parameters\":{\"owner\":\"u1\"},\"secrets\":\"***\"}",
                Redaction.json(request).toString());
    }

    @Test
    void aKeyPassedAsMountFlagIsNotShown() {
        NodeStageVolumeRequest request = NodeStageVolumeRequest.newBuilder()
                .setVolumeCapability(VolumeCapability.newBuilder()
                        .setMount(VolumeCapability.MountVolume.newBuilder()
                                .addMountFlags("noatime,secret=" + SECRET + ",rasize=1")
                                .addMountFlags("secret=" + SECRET)))
                .build();
        String shown = Redaction.json(request).toString();
        assertFalse(shown.contains(SECRET), shown);
        assertTrue(shown.contains("noatime,secret=***,rasize=***"), shown);
    }

    @Test
    void aKeyPassedAsMountOptionOfAClassOrAVolumeIsNotShown() {
        String shown = Redaction.json(CreateVolumeRequest.newBuilder()
                                .putParameters("mountOptions", "noatime,secret=" + SECRET)
                                .build())
                        .toString()
                + Redaction.json(NodeStageVolumeRequest.newBuilder()
                        .putVolumeContext("mountOptions", "secret=" + SECRET)
                        .build());
        assertEquals(
                "{\"parameters\":{\"mountOptions\":\"noatime,secret=***\"}}"
                        + "{\"volume_context\":{\"mountOptions\":\"secret=***\"}}",
                shown);
    }

    @Test
    void fieldsOfALaterCsiAreLeftOut() {
        Message request = CreateVolumeRequest.newBuilder()
                .setUnknownFields(UnknownFieldSet.newBuilder()
                        .addField(
                                99,
                                UnknownFieldSet.Field.newBuilder()
                                        .addLengthDelimited(com.google.protobuf.ByteString.copyFromUtf8(SECRET))
                                        .build())
                        .build())
                .build();
        assertEquals("{}", Redaction.json(request).toString());
    }

    @Test
    void wrappedValuesAreShown() {
        assertEquals(
                "{\"ready\":{\"value\":true}}",
                Redaction.json(ProbeResponse.newBuilder()
                                .setReady(com.google.protobuf.BoolValue.of(true))
                                .build())
                        .toString());
    }

    private static Message entry(FieldDescriptor field, String value) {
        return DynamicMessage.newBuilder(field.getMessageType())
                .setField(field.getMessageType().findFieldByNumber(1), "key")
                .setField(field.getMessageType().findFieldByNumber(2), value)
                .build();
    }
}
