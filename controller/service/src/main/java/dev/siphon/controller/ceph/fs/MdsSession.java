package dev.siphon.controller.ceph.fs;

import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import dev.siphon.csi.DriverException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// The needed part of a client's session as an MDS lists it (`session ls`, `Session::dump` of
/// `src/mds/SessionMap.cc`).
///
/// @param authenticated the identity that the MDS authenticated, without `client.`; empty if not listed
/// @param address `IP:PORT` or `[IP]:PORT`
/// @param says what the client reports about itself
record MdsSession(long id, Optional<String> authenticated, String address, Map<String, String> says) {
    private static final Set<String> SAID = Set.of("hostname", "root", "volume_id", "entity_id");

    /// Parses a reply. A client may report 16 MiB about itself; only the needed keys are kept.
    ///
    /// @throws DriverException.BackendFault (INTERNAL) if the reply is not a list of sessions
    static List<MdsSession> list(ByteBuffer reply) {
        List<MdsSession> sessions = new ArrayList<>();
        try (JsonReader in =
                new JsonReader(new InputStreamReader(new TruncatedJsonStrings(reply), StandardCharsets.UTF_8))) {
            in.beginArray();
            while (in.hasNext()) {
                if (in.peek() != JsonToken.BEGIN_OBJECT) {
                    throw new IllegalStateException("no object at " + in.getPath());
                }
                SessionParser reading = new SessionParser();
                members(in, reading::member);
                sessions.add(
                        new MdsSession(reading.id, reading.authenticated, reading.address, Map.copyOf(reading.says)));
            }
            in.endArray();
            if (in.peek() != JsonToken.END_DOCUMENT) {
                throw new IllegalStateException("more than a list");
            }
        } catch (IOException | IllegalStateException | NumberFormatException e) {
            throw new DriverException.BackendFault(
                    "the list of sessions that an MDS sent cannot be read: " + e.getMessage(), e);
        }
        return sessions;
    }

    /// Returns what the client reports under `key`, one of the kept keys.
    Optional<String> says(String key) {
        return Optional.ofNullable(says.get(key));
    }

    private interface Member {
        void read(String name, JsonReader in) throws IOException;
    }

    /// Reads the members of an object; skips any other value.
    private static void members(JsonReader in, Member each) throws IOException {
        if (in.peek() != JsonToken.BEGIN_OBJECT) {
            in.skipValue();
            return;
        }
        in.beginObject();
        while (in.hasNext()) {
            each.read(in.nextName(), in);
        }
        in.endObject();
    }

    private static Optional<String> text(JsonReader in) throws IOException {
        if (in.peek() == JsonToken.STRING) {
            return Optional.of(in.nextString());
        }
        in.skipValue();
        return Optional.empty();
    }

    private static final class SessionParser {
        private long id;
        private Optional<String> authenticated = Optional.empty();
        private String address = "";
        private final Map<String, String> says = new HashMap<>();

        void member(String name, JsonReader in) throws IOException {
            switch (name) {
                case "id" -> id = in.nextLong();
                case "auth_name" -> members(in, this::ofName);
                case "entity" -> members(in, this::ofEntity);
                case "client_metadata" -> members(in, this::said);
                default -> in.skipValue();
            }
        }

        private void ofName(String name, JsonReader in) throws IOException {
            if (name.equals("id")) {
                authenticated = text(in);
            } else {
                in.skipValue();
            }
        }

        /// `{"addr": {"addr": ...}}`.
        private void ofEntity(String name, JsonReader in) throws IOException {
            if (!name.equals("addr")) {
                in.skipValue();
            } else if (in.peek() == JsonToken.BEGIN_OBJECT) {
                members(in, this::ofEntity);
            } else {
                address = text(in).orElse("");
            }
        }

        private void said(String name, JsonReader in) throws IOException {
            if (SAID.contains(name)) {
                text(in).ifPresent(value -> says.put(name, value));
            } else {
                in.skipValue();
            }
        }
    }
}
