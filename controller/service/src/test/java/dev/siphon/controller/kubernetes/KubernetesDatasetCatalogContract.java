package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.controller.dataset.DatasetCatalog;
import dev.siphon.controller.dataset.ReaderIds;
import dev.siphon.controller.key.DatasetKeyStore;
import dev.siphon.controller.key.VolumeKey;
import dev.siphon.controller.kubernetes.resource.DatasetObject;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.Digest;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// [KubernetesDatasetCatalog] and the key store of dataset volumes, over an API server.
abstract class KubernetesDatasetCatalogContract {
    private static final String DIGEST = "0123456789abcdef".repeat(4);

    private final List<KubernetesAdapter> opened = new ArrayList<>();
    private final List<String> made = new ArrayList<>();
    private final String unique = UUID.randomUUID().toString();

    abstract TestCluster cluster();

    @AfterEach
    void removeWhatWasMade() {
        made.forEach(name -> cluster().admin().raw("/" + KubernetesDatasetCatalog.PATH + "/" + name, "DELETE", "{}"));
        made.clear();
        opened.forEach(KubernetesAdapter::close);
        opened.clear();
    }

    KubernetesAdapter adapter() {
        KubernetesAdapter adapter = cluster().adapter();
        opened.add(adapter);
        return adapter;
    }

    private DatasetCatalog datasets() {
        return adapter().datasets();
    }

    private String declare(String name, String readers) {
        return declare(name, "/datasets/" + name, readers);
    }

    private String declare(String name, String path, String readers) {
        String unlike = name + "-" + unique;
        cluster().admin().raw("/" + KubernetesDatasetCatalog.PATH, "POST", """
                        {"apiVersion": "siphon.dev/v1alpha1", "kind": "Dataset", "metadata": {"name": "%s"},
                         "spec": {"fsName": "cephfs", "path": "%s", "digest": "%s", "bytes": 7,
                                  "readers": [%s]}}
                        """.formatted(
                        unlike, path, DIGEST, readers));
        made.add(unlike);
        return unlike;
    }

    @Test
    void aDatasetIsFoundAsItIsDeclared() {
        String name = declare("u1.pictures", "\"u1\", \"group:vision\"");
        Dataset found = datasets().find(name).orElseThrow();
        assertEquals(
                new Dataset(
                        name,
                        Optional.empty(),
                        "cephfs",
                        "/datasets/u1.pictures",
                        new Digest(DIGEST),
                        7,
                        Set.of("u1", "group:vision")),
                found);
        assertTrue(datasets().all().datasets().contains(found));
        assertEquals(Optional.empty(), datasets().find("none-" + unique));
    }

    @Test
    void manyAreListed() {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < 260; i++) {
            names.add(declare("d" + i, "\"*\""));
        }
        assertTrue(
                datasets().all().datasets().stream().map(Dataset::name).toList().containsAll(names));
    }

    @Test
    void oneThatIsDeclaredWrongIsLeftOutAndSaid() {
        String wrong = declare("wrong", "/../d", "\"*\"");
        String good = declare("good", "\"*\"");
        DatasetCatalog.Declared all = datasets().all();
        List<String> names = all.datasets().stream().map(Dataset::name).toList();
        assertTrue(names.contains(good) && !names.contains(wrong), names.toString());
        assertTrue(all.wrong().containsKey(wrong), all.wrong().toString());
        String said = assertThrows(DriverException.InUse.class, () -> datasets().find(wrong))
                .getMessage();
        assertTrue(said.contains(wrong), said);
    }

    @Test
    void oneWhoseImageIsRefusedIsLeftOutAndSaid() {
        String name = declare("refused", "\"*\"");
        for (String state : List.of("reads", "refused: from byte 0 on", "done")) {
            cluster()
                    .admin()
                    .raw("/" + KubernetesDatasetCatalog.PATH + "/" + name + "/status", "PUT", status(name, state));
            boolean refused = state.startsWith("refused");
            DatasetCatalog.Declared all = datasets().all();
            assertEquals(
                    !refused,
                    all.datasets().stream().anyMatch(each -> each.name().equals(name)),
                    state);
            assertEquals(refused, all.wrong().containsKey(name), state);
            if (refused) {
                String said = assertThrows(
                                DriverException.InUse.class, () -> datasets().find(name))
                        .getMessage();
                assertTrue(said.contains("was read back and is refused: from byte 0 on"), said);
            }
        }
        assertTrue(datasets().find(name).isPresent());
    }

    private String status(String name, String readBack) {
        JsonObject object = JsonParser.parseString(
                        cluster().admin().raw("/" + KubernetesDatasetCatalog.PATH + "/" + name))
                .getAsJsonObject();
        JsonObject status = new JsonObject();
        status.addProperty("readBack", readBack);
        object.add("status", status);
        return object.toString();
    }

    @Test
    void whatHasBecomeOfADeclarationIsWrittenAtIt() {
        String name = declare("said", "\"*\"");
        DatasetCatalog datasets = datasets();
        var _ = datasets.all();
        datasets.report(name, new DatasetCatalog.DatasetStatus(false, "no such directory"));
        assertEquals("false no such directory", status(name));
        datasets.report(name, new DatasetCatalog.DatasetStatus(true, ""));
        assertEquals("true ", status(name));
        Dataset found = datasets.find(name).orElseThrow();
        assertEquals("/datasets/said", found.path(), "what is declared stays");
        datasets.report("gone-" + unique, new DatasetCatalog.DatasetStatus(true, ""));
    }

    @Test
    void whomNamesMeantIsKeptUntilAnAdministratorSaysOtherwise() {
        String name = declare("seen", "\"u1\", \"u2\"");
        DatasetCatalog datasets = datasets();
        assertEquals(ReaderIds.NONE, datasets.readers(name), "as versions before left it");
        var _ = datasets.all();
        Map<String, String> seen = Map.of("u1", "a1", "u2", "a2");
        datasets.note(name, new ReaderIds(seen, Set.of()));
        datasets.report(name, new DatasetCatalog.DatasetStatus(true, ""));
        assertEquals(new ReaderIds(seen, Set.of()), datasets.readers(name));

        var _ = datasets.all();
        ReaderIds changed = new ReaderIds(seen, Set.of("u1"));
        datasets.note(name, changed);
        assertEquals(changed, datasets().all().seen().get(name));
        assertEquals("true ", status(name));
        JsonObject condition = condition(name);
        assertEquals("True", condition.get("status").getAsString());
        String said = condition.get("message").getAsString();
        String patch = "{\"status\":{\"readers\":{\"u1\":null}}}";
        assertTrue(
                said.contains(
                        "kubectl patch dataset " + name + " --subresource=status --type=merge -p '" + patch + "'"),
                said);

        cluster()
                .admin()
                .resources(DatasetObject.class)
                .withName(name)
                .subresource("status")
                .patch(PatchContext.of(PatchType.JSON_MERGE), patch);
        assertEquals(
                new ReaderIds(Map.of("u2", "a2"), Set.of("u1")),
                datasets.all().seen().get(name));
        ReaderIds confirmed = new ReaderIds(Map.of("u1", "b1"), Set.of());
        datasets.note(name, confirmed);
        assertEquals(confirmed, datasets.readers(name), "u2 is a reader no more");
        assertEquals("False", condition(name).get("status").getAsString());
        datasets.note("gone-" + unique, confirmed);
    }

    private JsonObject condition(String name) {
        return JsonParser.parseString(cluster().admin().raw("/" + KubernetesDatasetCatalog.PATH + "/" + name))
                .getAsJsonObject()
                .getAsJsonObject("status")
                .getAsJsonArray("conditions")
                .get(0)
                .getAsJsonObject();
    }

    private String status(String name) {
        JsonObject status = JsonParser.parseString(
                        cluster().admin().raw("/" + KubernetesDatasetCatalog.PATH + "/" + name))
                .getAsJsonObject()
                .getAsJsonObject("status");
        return status.get("ready").getAsString() + " " + status.get("message").getAsString();
    }

    @Test
    void theKeyOfAVolumeIsASecretThatGoesWithIt() {
        String name = "pvc-" + unique;
        VolumeId.DatasetVolume volume =
                new VolumeId.DatasetVolume("lab", "cephfs", DIGEST.substring(0, 40), Optional.of("0123456789av"), "/d");
        adapter().datasetKeys(false).put(volume, name, Optional.of(new VolumeKey("siphon-dataset.x", "secret")));
        adapter().datasetKeys(false).put(volume, name, Optional.of(new VolumeKey("siphon-dataset.x", "another")));
        assertEquals(
                Optional.of("another"),
                secret(name)
                        .map(found -> new String(
                                Base64.getDecoder().decode(found.getData().get("userKey")), StandardCharsets.UTF_8)));
        assertEquals(List.of(), adapter().keys().volumes(), "it is no provisioned volume's");
        assertTrue(adapter().datasetKeys(false).hasAny(volume.withoutClaim()));
        assertEquals(
                1, adapter().datasetKeys(false).users(volume.withoutClaim()).size());
        VolumeId.DatasetVolume other = volume.forUse("vvvvvvvvvvvv");
        assertThrows(
                DriverException.InUse.class,
                () -> adapter()
                        .datasetKeys(false)
                        .put(other, name, Optional.of(new VolumeKey("siphon-dataset.y", "third"))));
        adapter().datasetKeys(false).remove(volume);
        adapter().datasetKeys(false).remove(volume);
        assertEquals(Optional.empty(), secret(name));
        assertFalse(adapter().datasetKeys(false).hasAny(volume.withoutClaim()));
    }

    @Test
    void whereAllNodesAskTheSecretOfAVolumeHasNoKey() {
        String name = "pvc-" + unique;
        VolumeId.DatasetVolume volume =
                new VolumeId.DatasetVolume("lab", "cephfs", DIGEST.substring(0, 40), Optional.of("0123456789av"), "/d");
        DatasetKeyStore store = adapter().datasetKeys(false);
        store.put(volume, name, Optional.of(new VolumeKey("siphon-dataset.x", "secret")));
        assertTrue(store.shown(true).contains(volume));
        store.replace(volume, Optional.empty());
        assertEquals(Set.of("volumeID"), secret(name).orElseThrow().getData().keySet());
        assertFalse(store.shown(true).contains(volume));
        assertTrue(store.shown(false).contains(volume));
        assertTrue(store.hasAny(volume.withoutClaim()), "the dataset is in use");
        store.put(volume, name, Optional.of(new VolumeKey("siphon-dataset.x", "another")));
        assertTrue(store.shown(true).contains(volume), "a node came that does not ask");
        store.remove(volume);
        assertEquals(Optional.empty(), secret(name));
    }

    private Optional<Secret> secret(String name) {
        return Optional.ofNullable(cluster()
                .admin()
                .secrets()
                .inNamespace(cluster().access().namespace())
                .withName(name)
                .get());
    }
}
