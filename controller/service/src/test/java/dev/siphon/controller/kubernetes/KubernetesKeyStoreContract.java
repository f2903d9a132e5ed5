package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.key.KeyStore;
import dev.siphon.controller.key.KeyStoreContract;
import dev.siphon.controller.key.VolumeKey;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;
import io.fabric8.kubernetes.api.model.PersistentVolumeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// What [KubernetesKeyStore] does beyond the contract of all stores.
abstract class KubernetesKeyStoreContract extends KeyStoreContract {
    private final List<KubernetesAdapter> opened = new ArrayList<>();
    private final List<String> persistentVolumes = new ArrayList<>();
    private final String unique = UUID.randomUUID().toString();

    abstract TestCluster cluster();

    @Override
    protected KeyStore open() {
        KubernetesAdapter adapter = cluster().adapter();
        opened.add(adapter);
        return adapter.keys();
    }

    @BeforeEach
    void removeSecrets() {
        cluster().admin().secrets().inNamespace(cluster().access().namespace()).delete();
    }

    @AfterEach
    void removeWhatWasMade() {
        persistentVolumes.forEach(
                name -> cluster().admin().persistentVolumes().withName(name).delete());
        opened.forEach(KubernetesAdapter::close);
    }

    private Resource<Secret> secret(String name) {
        return cluster()
                .admin()
                .secrets()
                .inNamespace(cluster().access().namespace())
                .withName(name);
    }

    private void make(Secret secret) {
        cluster()
                .admin()
                .secrets()
                .inNamespace(cluster().access().namespace())
                .resource(secret)
                .create();
    }

    private static String encoded(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    private void makePersistentVolume(String name, String driver, VolumeId volume) {
        cluster()
                .admin()
                .persistentVolumes()
                .resource(new PersistentVolumeBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .endMetadata()
                        .withNewSpec()
                        .withAccessModes("ReadWriteMany")
                        .withCapacity(Map.of("storage", new Quantity("1Gi")))
                        .withNewCsi()
                        .withDriver(driver)
                        .withVolumeHandle(volume.toString())
                        .endCsi()
                        .endSpec()
                        .build())
                .create();
        persistentVolumes.add(name);
    }

    @Test
    void aVolumeThatAnAdministratorGivesToAClaimSaysToWhichNamespace() {
        KeyStore store = open();
        makePersistentVolume("given-" + unique, "cephfs.siphon.dev", VOLUME);
        var _ = cluster()
                .admin()
                .persistentVolumes()
                .withName("given-" + unique)
                .edit(volume -> {
                    volume.getSpec()
                            .setClaimRef(new ObjectReferenceBuilder()
                                    .withNamespace("team")
                                    .withName("data")
                                    .build());
                    return volume;
                });
        assertEquals(Optional.empty(), store.claimedFrom(VOLUME));
        assertTrue(store.hasPlaceFor(VOLUME));
        assertEquals(Optional.of("team"), store.claimedFrom(VOLUME));
        KeyStore next = open();
        next.named(VOLUME, "given-" + unique);
        assertTrue(next.hasPlaceFor(VOLUME));
        assertEquals(Optional.empty(), next.claimedFrom(VOLUME), "one that was made here is nobody's to give");
    }

    @Test
    void aSecretOfBeforeThatNamesNoVolumeIsAKeyAndNamesItOnceItIsReplaced() {
        KeyStore store = open();
        store.named(VOLUME, "pvc-" + unique);
        store.put(VOLUME, key(VOLUME, "sesame"));
        Secret before = secret("pvc-" + unique).get();
        before.getData().remove("volumeID");
        var _ = cluster()
                .admin()
                .secrets()
                .inNamespace(cluster().access().namespace())
                .resource(before)
                .update();
        assertEquals("sesame", open().find(VOLUME).orElseThrow().secret());

        store.put(VOLUME, key(VOLUME, "another"));
        assertEquals(
                encoded(VOLUME.toString()),
                secret("pvc-" + unique).get().getData().get("volumeID"));
    }

    @Test
    void theSecretIsCalledLikeThePersistentVolumeAndHoldsWhatNodesTake() {
        KeyStore store = open();
        store.named(VOLUME, "pvc-" + unique);
        store.put(VOLUME, key(VOLUME, "sesame"));
        Secret made = secret("pvc-" + unique).get();
        assertEquals("siphon.dev/volume-key", made.getType());
        assertEquals(
                Map.of(
                        "userID",
                        encoded("siphon.cephfs.a1.v1"),
                        "userKey",
                        encoded("sesame"),
                        "volumeID",
                        encoded(VOLUME.toString())),
                made.getData());
        assertEquals("siphon", made.getMetadata().getLabels().get("app.kubernetes.io/managed-by"));
        assertEquals(VOLUME.toString(), made.getMetadata().getAnnotations().get("siphon.dev/volume"));
        assertFalse(Boolean.TRUE.equals(made.getImmutable()));

        store.put(VOLUME, key(VOLUME, "another"));
        Secret replaced = secret("pvc-" + unique).get();
        assertEquals(made.getMetadata().getUid(), replaced.getMetadata().getUid(), "it is changed in its place");
        assertEquals(encoded("another"), replaced.getData().get("userKey"));
        open().remove(VOLUME);
        assertEquals(
                Optional.empty(), Optional.ofNullable(secret("pvc-" + unique).get()));
    }

    @Test
    void whetherAVolumeMayHaveAKeyIsKnownWithoutAsking() {
        open().put(VOLUME, key(VOLUME, "first"));
        KubernetesAdapter adapter = cluster().adapter();
        KeyStore store = adapter.keys();
        assertTrue(store.mayHave(OTHER), "nothing was listed yet");
        assertEquals(List.of(VOLUME), store.volumes());
        adapter.close();
        assertTrue(store.mayHave(VOLUME));
        assertFalse(store.mayHave(OTHER));
        store.named(OTHER, "pvc-2");
        assertTrue(store.hasPlaceFor(OTHER));
    }

    @Test
    void aSecretThatIsNotSiphonsIsLeftAsItIs() {
        make(new SecretBuilder()
                .withNewMetadata()
                .withName("pvc-1")
                .withAnnotations(Map.of("siphon.dev/volume", VOLUME.toString()))
                .endMetadata()
                .withData(Map.of("userKey", encoded("of somebody")))
                .build());
        KeyStore store = open();
        store.named(VOLUME, "pvc-1");
        assertEquals(Optional.empty(), store.find(VOLUME));
        DriverException.InUse refused =
                assertThrows(DriverException.InUse.class, () -> store.put(VOLUME, key(VOLUME, "sesame")));
        assertTrue(refused.getMessage().contains("/pvc-1 is not Siphon's"), refused.getMessage());
        assertFalse(refused.getMessage().contains("sesame"), refused.getMessage());
        store.remove(VOLUME);
        assertEquals(
                Map.of("userKey", encoded("of somebody")), secret("pvc-1").get().getData());
    }

    @Test
    void aNameThatTwoVolumesHaveIsTheSecretOfTheFirst() {
        KeyStore store = open();
        for (VolumeId.Provisioned volume : List.of(VOLUME, OTHER)) {
            store.named(volume, "home-at-login");
            store.put(volume, key(volume, "of " + volume.subvolume()));
        }
        store.put(OTHER, key(OTHER, "of v2, again"));
        assertEquals(encoded("of v1"), secret("home-at-login").get().getData().get("userKey"));
        assertEquals(Optional.of(key(VOLUME, "of v1")), open().find(VOLUME));
        assertEquals(Optional.of(key(OTHER, "of v2, again")), open().find(OTHER));
        assertEquals(2, open().volumes().size());
        open().remove(OTHER);
        assertEquals(List.of(VOLUME), open().volumes());
    }

    @Test
    void aSecretThatWasDeletedByHandIsMissedAndMadeAnew() {
        KeyStore store = open();
        store.named(VOLUME, "pvc-1");
        store.put(VOLUME, key(VOLUME, "first"));
        secret("pvc-1").delete();
        assertTrue(store.mayHave(VOLUME));
        assertEquals(Optional.empty(), store.find(VOLUME));
        assertEquals(Optional.empty(), store.since(VOLUME));
        store.put(VOLUME, key(VOLUME, "second"));
        assertEquals(encoded("second"), secret("pvc-1").get().getData().get("userKey"));
    }

    @Test
    void whatNobodyHasNamedIsCalledLikeItsPersistentVolume() {
        makePersistentVolume("pv-other-" + unique, "another.driver", VOLUME);
        makePersistentVolume("pv-" + unique, "cephfs.siphon.dev", OTHER);
        KeyStore store = open();
        assertFalse(store.hasPlaceFor(VOLUME));
        assertTrue(store.hasPlaceFor(OTHER));
        store.put(OTHER, key(OTHER, "sesame"));
        assertEquals(encoded("sesame"), secret("pv-" + unique).get().getData().get("userKey"));
        assertFalse(store.hasPlaceFor(VOLUME));
        store.put(VOLUME, key(VOLUME, "by an administrator"));
        assertEquals(Optional.of(key(VOLUME, "by an administrator")), open().find(VOLUME));
    }

    @Test
    void aNameThatNoSecretCanHaveIsReplaced() {
        KeyStore store = open();
        store.named(VOLUME, "A volume/of another CO");
        assertTrue(store.hasPlaceFor(VOLUME));
        store.put(VOLUME, key(VOLUME, "sesame"));
        assertEquals(Optional.of(key(VOLUME, "sesame")), open().find(VOLUME));
    }

    @Test
    void aBrokenSecretIsNoKeyAndIsReplaced() {
        KeyStore store = open();
        store.named(VOLUME, "pvc-1");
        store.put(VOLUME, key(VOLUME, "first"));
        Secret broken = new SecretBuilder(secret("pvc-1").get())
                .editMetadata()
                .addToLabels("team", "storage")
                .endMetadata()
                .withData(Map.of("userKey", encoded("alone")))
                .build();
        cluster()
                .admin()
                .secrets()
                .inNamespace(cluster().access().namespace())
                .resource(broken)
                .update();
        assertEquals(Optional.empty(), store.find(VOLUME));
        assertEquals(Optional.empty(), store.since(VOLUME));
        assertEquals(List.of(VOLUME), store.volumes());
        assertEquals(Map.of(), store.userIds());
        store.put(VOLUME, key(VOLUME, "second"));
        assertEquals(Optional.of(key(VOLUME, "second")), store.find(VOLUME));
        assertEquals("storage", secret("pvc-1").get().getMetadata().getLabels().get("team"), "another's label stays");
    }

    @Test
    void moreSecretsThanFitOnAPageAreAllListed() {
        KeyStore store = open();
        Set<VolumeId.Provisioned> all = new HashSet<>();
        for (int i = 0; i < 260; i++) {
            VolumeId.Provisioned volume = volume("v" + i);
            store.named(volume, "pvc-" + i);
            store.put(volume, key(volume, "sesame"));
            all.add(volume);
        }
        assertEquals(all, Set.copyOf(open().volumes()));
        assertEquals(all, open().userIds().keySet());
    }

    @Test
    void aStaticVolumesSecretIsNobodysBusiness() {
        make(new SecretBuilder()
                .withNewMetadata()
                .withName("imagenet-key")
                .endMetadata()
                .withData(Map.of("userID", encoded("imagenet"), "userKey", encoded("by hand")))
                .build());
        assertEquals(List.of(), open().volumes());
        assertEquals(Optional.<VolumeKey>empty(), open().find(VOLUME));
    }
}
