package dev.siphon.csi.server;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.encoder.EncoderBase;
import com.google.gson.JsonElement;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.KeyValuePair;

/// Encodes a log event as one line of JSON: `time`, `level`, `logger`, `message`, then each key-value as a field,
/// and `stack` if there is an exception.
final class JsonLineEncoder extends EncoderBase<ILoggingEvent> {
    private static final byte[] NOTHING = new byte[0];

    @Override
    public byte[] headerBytes() {
        return NOTHING;
    }

    @Override
    public byte[] footerBytes() {
        return NOTHING;
    }

    @Override
    public byte[] encode(ILoggingEvent event) {
        StringWriter text = new StringWriter(256);
        try (JsonWriter json = new JsonWriter(text)) {
            json.setHtmlSafe(false);
            json.beginObject();
            json.name("time").value(event.getInstant().toString());
            json.name("level").value(event.getLevel().toString());
            json.name("logger").value(simpleName(event.getLoggerName()));
            json.name("message").value(event.getFormattedMessage());
            List<KeyValuePair> pairs = event.getKeyValuePairs();
            if (pairs != null) {
                for (KeyValuePair pair : pairs) {
                    value(json.name(pair.key), pair.value);
                }
            }
            IThrowableProxy thrown = event.getThrowableProxy();
            if (thrown != null) {
                json.name("stack").value(ThrowableProxyUtil.asString(thrown));
            }
            json.endObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.append('\n').toString().getBytes(StandardCharsets.UTF_8);
    }

    // no switch over types: the first one in a process costs 30 ms, and each process logs before it serves
    private static void value(JsonWriter json, @Nullable Object value) throws IOException {
        if (value instanceof Number number) {
            json.value(number);
        } else if (value instanceof Boolean flag) {
            json.value(flag);
        } else if (value instanceof JsonElement element) {
            json.jsonValue(element.toString());
        } else {
            json.value(value == null ? null : value.toString());
        }
    }

    private static String simpleName(String logger) {
        return logger.substring(logger.lastIndexOf('.') + 1);
    }
}
