package dev.siphon.controller.ceph;

import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.stream.JsonReader;
import dev.siphon.controller.ceph.call.CephErrno;
import dev.siphon.controller.ceph.rados.CephCommand;
import dev.siphon.controller.ceph.rados.CephCommand.Daemon;
import dev.siphon.controller.ceph.rados.CephConnection;
import dev.siphon.controller.ceph.rados.CommandReply;
import dev.siphon.controller.key.Identities;
import dev.siphon.controller.key.KeyTypes;
import dev.siphon.controller.key.MintedIdentity;
import dev.siphon.controller.key.VolumeCaps;
import dev.siphon.controller.key.VolumeKey;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import java.io.IOException;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Pattern;

/// Implements [Identities] with the mons' `auth` commands (`src/mon/MonCommands.h`, ceph-authtool(8) for caps).
final class CephIdentities implements Identities {
    /// Lists all identities.
    static final CephCommand LIST = CephCommand.read(Daemon.MON, "auth ls");

    private static final String TYPE = "client.";

    /// The characters that a cap accepts without quotes (`src/osd/OSDCap.cc`, `src/mds/MDSAuthCaps.cc`).
    private static final Pattern WORD = Pattern.compile("[A-Za-z0-9_./-]+");

    /// A retired identity may only run a command that no mgr has. Without `mon` it cannot mount anything.
    private static final List<String> RETIRED = List.of("mgr", "allow command \"retired by siphon\"");

    /// The mon's words about a type that it does not make (`AuthMonitor::get_cipher_type`, `src/mon/AuthMonitor.cc`).
    private static final Pattern OF_TYPE = Pattern.compile("key (with )?type");

    private final Function<String, CephConnection> connections;
    private final KeyTypes keyTypes;

    CephIdentities(Function<String, CephConnection> connections, KeyTypes keyTypes) {
        this.connections = connections;
        this.keyTypes = keyTypes;
    }

    @Override
    public VolumeKey mint(String cluster, String userId, VolumeCaps volumeCaps) {
        return mint(cluster, userId, caps(volumeCaps));
    }

    @Override
    public Optional<VolumeKey> mintUnlessRetired(String cluster, String userId, VolumeCaps volumeCaps) {
        List<String> caps = caps(volumeCaps);
        CommandReply reply = create(cluster, userId, caps);
        if (reply.is(CephErrno.EINVAL) && isRetired(cluster, userId)) {
            return Optional.empty();
        }
        return Optional.of(reply.is(CephErrno.EINVAL) ? mint(cluster, userId, caps) : key(userId, reply));
    }

    private boolean isRetired(String cluster, String userId) {
        CommandReply reply = connections.apply(cluster).call(get(userId));
        return reply.returnCode() == 0
                && caps(reply.json().getAsJsonArray().get(0).getAsJsonObject())
                        .equals(Map.of(RETIRED.getFirst(), RETIRED.getLast()));
    }

    /// The caps differ from those of the replaced identity, so [#mint] removes that first.
    @Override
    public void retire(String cluster, String userId) {
        var _ = mint(cluster, userId, RETIRED);
    }

    private VolumeKey mint(String cluster, String userId, List<String> caps) {
        CommandReply reply = create(cluster, userId, caps);
        if (reply.is(CephErrno.EINVAL) && !refusesType(reply) && exists(cluster, userId)) {
            remove(cluster, userId);
            reply = create(cluster, userId, caps);
        }
        return key(userId, reply);
    }

    private CommandReply create(String cluster, String userId, List<String> caps) {
        CephCommand command = command("auth get-or-create", userId).with("caps", caps);
        CephConnection connection = connections.apply(cluster);
        Optional<CommandReply> typed = keyTypes.requested(cluster, userId)
                .map(type -> connection.call(command.with("key_type", type)))
                // a mon makes no aes keys right after it was elected, and its own file may forbid them
                .filter(reply -> !(keyTypes.mayFallBack() && refusesType(reply)));
        return typed.orElseGet(() -> connection.call(command));
    }

    /// Whether the cluster makes no keys of that type. Caps other than those of an existing identity are EINVAL too.
    static boolean refusesType(CommandReply reply) {
        return reply.is(CephErrno.EINVAL) && OF_TYPE.matcher(reply.words()).find();
    }

    private static VolumeKey key(String userId, CommandReply reply) {
        JsonObject made = reply.json().getAsJsonArray().get(0).getAsJsonObject();
        return new VolumeKey(userId, made.get("key").getAsString());
    }

    @Override
    public VolumeKey mintNew(String cluster, String userId, Map<String, String> caps) {
        List<String> words = new ArrayList<>();
        new TreeMap<>(caps).forEach((service, cap) -> words.addAll(List.of(service, cap)));
        return mintNew(cluster, userId, words);
    }

    @Override
    public VolumeKey mintNew(String cluster, String userId, VolumeCaps volumeCaps) {
        return mintNew(cluster, userId, caps(volumeCaps));
    }

    private VolumeKey mintNew(String cluster, String userId, List<String> caps) {
        if (exists(cluster, userId)) {
            throw new DriverException.OperationPending(
                    "identity client." + userId + " already exists: somebody else is replacing this key; retry");
        }
        return mint(cluster, userId, caps);
    }

    private boolean exists(String cluster, String userId) {
        return connections.apply(cluster).call(get(userId)).returnCode() == 0;
    }

    /// Returns the command that reads an identity, its key included.
    static CephCommand get(String userId) {
        return CephCommand.read(Daemon.MON, "auth get").with("entity", TYPE + userId);
    }

    @Override
    public void remove(String cluster, String userId) {
        CommandReply reply = connections.apply(cluster).call(command("auth rm", userId));
        if (!reply.is(CephErrno.ENOENT)) {
            reply.orThrow();
        }
    }

    @Override
    public List<String> startingWith(String cluster, String prefix) {
        return minted(cluster, prefix).stream().map(MintedIdentity::userId).toList();
    }

    @Override
    public List<MintedIdentity> minted(String cluster, String prefix) {
        List<MintedIdentity> found = new ArrayList<>();
        each(connections.apply(cluster).call(LIST), identity -> {
            String entity = identity.get("entity").getAsString();
            if (entity.startsWith(TYPE + prefix)) {
                found.add(new MintedIdentity(entity.substring(TYPE.length()), caps(identity)));
            }
        });
        return found.stream()
                .sorted(Comparator.comparing(MintedIdentity::userId))
                .toList();
    }

    /// Passes each identity of a reply to [#LIST] to `each`, its key included.
    static void each(CommandReply reply, Consumer<JsonObject> each) {
        try (JsonReader reader = new JsonReader(new StringReader(reply.orThrow().output()))) {
            each(reader, each);
        } catch (IOException | IllegalStateException | JsonParseException e) {
            throw new DriverException.BackendFault(reply.what() + " answered with something other than identities", e);
        }
    }

    /// Parses one identity at a time: 20,000 as one JSON tree take about 100 MB.
    private static void each(JsonReader reader, Consumer<JsonObject> each) throws IOException {
        reader.beginObject();
        while (reader.hasNext()) {
            if (!reader.nextName().equals("auth_dump")) {
                reader.skipValue();
                continue;
            }
            reader.beginArray();
            while (reader.hasNext()) {
                each.accept(JsonParser.parseReader(reader).getAsJsonObject());
            }
            reader.endArray();
        }
        reader.endObject();
    }

    /// Returns an identity's caps by service.
    static Map<String, String> caps(JsonObject identity) {
        Map<String, String> caps = new TreeMap<>();
        identity.getAsJsonObject("caps").asMap().forEach((service, cap) -> caps.put(service, cap.getAsString()));
        return caps;
    }

    private static CephCommand command(String prefix, String userId) {
        return CephCommand.change(Daemon.MON, prefix).with("entity", TYPE + userId);
    }

    /// Returns the caps of a volume's identity as alternating services and caps.
    static List<String> caps(VolumeCaps volumeCaps) {
        String here = "allow r fsname=" + word(volumeCaps.fileSystem());
        String mds = here + " path=" + word(volumeCaps.readablePath());
        if (volumeCaps.writable().isPresent()) {
            mds += ", allow rw fsname=" + volumeCaps.fileSystem() + " path="
                    + word(volumeCaps.writable().get());
        }
        String access = volumeCaps.writable().isPresent() ? "rw" : "r";
        String osd =
                "allow " + access + " pool=" + word(volumeCaps.pool()) + " namespace=" + word(volumeCaps.namespace());
        return List.of("mon", here, "mds", mds, "osd", osd);
    }

    /// Rejects a name that would change the cap: a comma or blank would start another one.
    private static String word(String text) {
        if (!WORD.matcher(text).matches()) {
            throw new DriverException.BackendFault(QuotedText.of(text) + " is not allowed in a cap");
        }
        return text;
    }
}
