package dev.siphon.csi.fuzz;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.protobuf.InvalidProtocolBufferException;
import csi.v1.CreateVolumeRequest;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import dev.siphon.csi.Grants.Grant;
import dev.siphon.csi.Grants.GroupKey;
import dev.siphon.csi.Grants.Shared;
import dev.siphon.csi.Monitors;
import dev.siphon.csi.NodeId;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.dataset.DatasetReplica;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.EncryptedSecret;
import dev.siphon.csi.dataset.Manifest;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/// Fuzzes what controller and node both read: ids, manifests, grants, questions and replies about datasets.
final class ValuesParsingFuzzTest {
    private static final Digest DIGEST = Digest.of(ByteBuffer.wrap(new byte[100]));
    private static final VolumeId.DatasetVolume DATASET =
            new VolumeId.DatasetVolume("lab", "cephfs", DIGEST.beginning(), Optional.empty(), "/datasets/x");
    private static final VolumeContext CONTEXT =
            VolumeContext.fromMap(DATASET, Map.of("monitors", "[v2:10.0.0.1:3300/0,v1:10.0.0.1:6789/0]"));

    @Test
    void manifest() {
        String one = new Manifest(100, 1, List.of(DIGEST)).text();
        String many = new Manifest(40L * Manifest.CHUNK_BYTES, 1000, Collections.nCopies(40, DIGEST)).text();
        ParserFuzz.of(
                        "a manifest",
                        ParserFuzz.texts(one, many),
                        bytes -> {
                            String text = ParserFuzz.text(bytes);
                            Manifest.parse(text).root();
                            Manifest.imageBytes(text);
                        },
                        DriverException.InvalidRequest.class)
                .run();
    }

    @Test
    void grants() {
        Grant grant = new Grant("jürgen", new TreeSet<>(List.of("a", "b")));
        Shared all = new Shared(DATASET, true, new TreeSet<>());
        Shared some = new Shared(DATASET, false, new TreeSet<>(List.of("a", "b")));
        Grants grants =
                new Grants(Map.of(new GroupKey("lab", "cephfs", "aone"), grant), Map.of("x", all, "u1.y", some));
        ParserFuzz.of(
                        "grants",
                        ParserFuzz.texts(grants.toJson()),
                        bytes -> Grants.parse(ParserFuzz.text(bytes)).toJson(),
                        DriverException.BackendFault.class)
                .run();
    }

    @Test
    void grantOfOneAccount() {
        Grant grant = new Grant("jürgen", new TreeSet<>(List.of("a", "b")));
        ParserFuzz.of(
                        "a grant",
                        ParserFuzz.texts(grant.toJson()),
                        bytes -> Grant.parse(ParserFuzz.text(bytes)).toJson(),
                        DriverException.BackendFault.class)
                .run();
    }

    @Test
    void ids() {
        List<byte[]> valid = ParserFuzz.texts(
                "s1:lab:cephfs:aone:pvc-1",
                "s2:lab:cephfs:aone:pvc-1",
                "static:lab:cephfs:/data",
                DATASET.toString(),
                DATASET.forUse("0123456789av").toString(),
                "s1:lab:cephfs:aone:pvc-1@snap-1",
                "node-1@192.0.2.1",
                "node-1@fd00::1");
        ParserFuzz.of("ids", valid, bytes -> {
                    String text = ParserFuzz.text(bytes);
                    VolumeId.tryParse(text);
                    VolumeId.DatasetVolume.tryParse(text);
                    SnapshotId.tryParse(text);
                    NodeId.tryParse(text);
                })
                .run();
    }

    @Test
    void idsOfVolumes() {
        ParserFuzz.of(
                        "ids of volumes",
                        ParserFuzz.texts("s1:lab:cephfs:aone:pvc-1", "static:lab:cephfs:/data", DATASET.toString()),
                        bytes -> {
                            VolumeId.checkFormat("volume_id", ParserFuzz.text(bytes));
                            VolumeId.parse(ParserFuzz.text(bytes));
                        },
                        DriverException.InvalidRequest.class,
                        DriverException.InUse.class)
                .run();
    }

    @Test
    void monitors() {
        ParserFuzz.of(
                        "monitors",
                        ParserFuzz.texts(
                                "[v2:10.0.0.1:3300/0,v1:10.0.0.1:6789/0],[v2:[fd00::1]:3300/0]",
                                "mon.example.org,10.0.0.1:6789,[fd00::1]"),
                        bytes -> Monitors.parse(ParserFuzz.text(bytes)),
                        DriverException.InvalidRequest.class)
                .run();
    }

    @Test
    void sealedSecret() {
        EncryptedSecret.Reader reader = new EncryptedSecret.Reader();
        ParserFuzz.of(
                        "a sealed secret",
                        ParserFuzz.texts(EncryptedSecret.encrypt(reader.publicKey(), "AQBx", "about")),
                        bytes -> reader.decrypt(ParserFuzz.text(bytes), "about"),
                        DriverException.BackendFault.class)
                .run();
    }

    @Test
    void publicKey() {
        ParserFuzz.of(
                        "a public key",
                        ParserFuzz.texts(new EncryptedSecret.Reader().publicKey()),
                        bytes -> EncryptedSecret.encrypt(ParserFuzz.text(bytes), "AQBx", "about"),
                        DriverException.InvalidRequest.class)
                .run();
    }

    /// The controller's replies to nodes: JSON that an API server has validated.
    @Test
    void answers() {
        JsonObject refused =
                new DatasetAccess.Refused("request", new DriverException.NotFound("there is none")).toStatus();
        ParserFuzz.of(
                        "answers about datasets",
                        ParserFuzz.texts(given() + "", refused + ""),
                        bytes -> DatasetAccess.Answer.ofStatus(object(bytes)),
                        JsonParseException.class,
                        DriverException.BackendFault.class)
                .run();
    }

    private static JsonObject given() {
        String key = new EncryptedSecret.Reader().publicKey();
        return DatasetAccess.Given.encrypt("request", key, DATASET, CONTEXT, "siphon.u.lab", "AQBx")
                .toStatus();
    }

    /// Reports of nodes about their replicas.
    @Test
    void reports() {
        JsonObject asking = DatasetReplica.Report.asking(
                        new DatasetReplica.Question("request", "key"), Optional.of("no space"))
                .toStatus();
        ParserFuzz.of(
                        "reports of replicas",
                        ParserFuzz.texts(
                                asking + "",
                                DatasetReplica.Report.filling(7, 1L << 40, "/cache")
                                                .toStatus() + ""),
                        bytes -> DatasetReplica.Report.ofStatus(object(bytes)),
                        JsonParseException.class)
                .run();
    }

    @Test
    void questions() {
        JsonObject asked = new DatasetAccess.Asked("u1.x", "node-1", "pod", "uid", "key", "request").toSpec();
        ParserFuzz.of(
                        "questions of nodes",
                        ParserFuzz.texts(asked + ""),
                        bytes -> DatasetAccess.Asked.ofSpec(object(bytes)),
                        JsonParseException.class,
                        DriverException.InvalidRequest.class)
                .run();
    }

    @Test
    void orders() {
        JsonObject order = new DatasetReplica.Order("u1.x", "node-1", DATASET, true, Optional.empty()).toSpec();
        order.add("access", given());
        ParserFuzz.of(
                        "orders to nodes",
                        ParserFuzz.texts(order + ""),
                        bytes -> DatasetReplica.Order.ofSpec(object(bytes)),
                        JsonParseException.class,
                        DriverException.InvalidRequest.class,
                        DriverException.BackendFault.class)
                .run();
    }

    @Test
    void datasets() {
        JsonObject valid = Dataset.parse(
                        "u1/x",
                        JsonParser.parseString("{\"fsName\":\"cephfs\",\"path\":\"/datasets/x\",\"digest\":\""
                                        + DIGEST.hex() + "\",\"bytes\":1,\"readers\":[\"u1\",\"group:g\",\"*\"]}")
                                .getAsJsonObject())
                .toSpec();
        ParserFuzz.of(
                        "a dataset",
                        ParserFuzz.texts(valid + ""),
                        bytes -> Dataset.parse("u1/x", object(bytes)).volume("lab"),
                        JsonParseException.class,
                        DriverException.InvalidRequest.class)
                .run();
    }

    /// Requests as gRPC passes them on: generated messages, whose parser limits depth and lengths.
    @Test
    void requests() {
        CreateVolumeRequest valid = CreateVolumeRequest.newBuilder()
                .setName("pvc-1")
                .putAllParameters(CONTEXT.toMap())
                .putSecrets("userKey", "AQBx")
                .build();
        ParserFuzz.of(
                        "requests of CSI",
                        List.of(valid.toByteArray()),
                        bytes -> {
                            CreateVolumeRequest create = CreateVolumeRequest.parseFrom(bytes);
                            VolumeContext.fromMap(DATASET, create.getParametersMap());
                        },
                        InvalidProtocolBufferException.class,
                        DriverException.InvalidRequest.class)
                .run();
    }

    private static JsonObject object(byte[] bytes) {
        JsonElement read = JsonParser.parseString(ParserFuzz.text(bytes));
        return read.isJsonObject() ? read.getAsJsonObject() : new JsonObject();
    }
}
