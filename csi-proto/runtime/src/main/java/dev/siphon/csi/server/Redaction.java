package dev.siphon.csi.server;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import csi.v1.Csi;
import csi.v1.VolumeCapability;
import dev.siphon.csi.MountOptions;
import java.util.List;
import java.util.Map;

/// Copies messages without their secrets, for logs. Fields that csi.proto marks `csi_secret` become `***`. The
/// descriptors are searched for the mark, so a secret field of a later CSI is covered once it is in csi.proto.
///
/// Mount flags, and mount options in parameters and volume contexts, carry no such mark, but a person may pass a
/// key in them (`secret=`). Only their names are kept. Unknown fields are omitted.
public final class Redaction {
    private static final String HIDDEN = "***";
    private static final FieldDescriptor MOUNT_FLAGS = VolumeCapability.MountVolume.getDescriptor()
            .findFieldByNumber(VolumeCapability.MountVolume.MOUNT_FLAGS_FIELD_NUMBER);

    private Redaction() {}

    /// Returns `message` as JSON with the proto's field names, without its secrets.
    public static JsonObject json(Message message) {
        JsonObject out = new JsonObject();
        for (Map.Entry<FieldDescriptor, Object> entry : message.getAllFields().entrySet()) {
            FieldDescriptor field = entry.getKey();
            out.add(field.getName(), isSecret(field) ? new JsonPrimitive(HIDDEN) : field(field, entry.getValue()));
        }
        return out;
    }

    private static boolean isSecret(FieldDescriptor field) {
        return field.getOptions().getExtension(Csi.csiSecret);
    }

    private static JsonElement field(FieldDescriptor field, Object value) {
        if (field.isMapField()) {
            return map(field, (List<?>) value);
        }
        if (field.isRepeated()) {
            JsonArray array = new JsonArray();
            ((List<?>) value).forEach(element -> array.add(element(field, element)));
            return array;
        }
        return element(field, value);
    }

    private static JsonObject map(FieldDescriptor field, List<?> entries) {
        JsonObject out = new JsonObject();
        FieldDescriptor key = field.getMessageType().findFieldByNumber(1);
        FieldDescriptor value = field.getMessageType().findFieldByNumber(2);
        for (Object entry : entries) {
            Message pair = (Message) entry;
            String name = String.valueOf(pair.getField(key));
            JsonElement shown = element(value, pair.getField(value));
            out.add(name, name.equals(MountOptions.KEY) ? new JsonPrimitive(nameOfFlags(shown.getAsString())) : shown);
        }
        return out;
    }

    private static JsonElement element(FieldDescriptor field, Object value) {
        return switch (value) {
            case Message message -> json(message);
            case EnumValueDescriptor constant -> new JsonPrimitive(constant.getName());
            case Number number -> new JsonPrimitive(number);
            case Boolean flag -> new JsonPrimitive(flag);
            case String text when field.equals(MOUNT_FLAGS) -> new JsonPrimitive(nameOfFlags(text));
            case String text -> new JsonPrimitive(text);
            default -> new JsonPrimitive(value.getClass().getSimpleName());
        };
    }

    private static String nameOfFlags(String flags) {
        return flags.replaceAll("=[^,]*", "=" + HIDDEN);
    }
}
