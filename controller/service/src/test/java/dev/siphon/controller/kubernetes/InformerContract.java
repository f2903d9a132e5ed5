package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.DatasetReplica;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// [Informer] over an API server with the custom resource DatasetReplica.
abstract class InformerContract {
    static final String COLLECTION = "/" + KubernetesWarmupCluster.REPLICAS + DatasetReplica.PLURAL;

    /// Shorter than in production, so that watches end during a test.
    private static final Duration WATCH = Duration.ofSeconds(2);

    private final String unique = UUID.randomUUID().toString();
    private final BackgroundTasks tasks = new BackgroundTasks();
    private final LinkedBlockingQueue<Long> changes = new LinkedBlockingQueue<>();
    private final List<String> gone = new ArrayList<>();
    private Optional<KubernetesApi> opened = Optional.empty();
    private Optional<BackgroundTasks.Task> following = Optional.empty();

    abstract TestCluster cluster();

    /// Returns the informer's access to the server.
    KubernetesAccess access() {
        return cluster().access();
    }

    @BeforeEach
    void open() {
        opened = Optional.of(new KubernetesApi(access(), () -> TestCluster.PATIENT));
        synchronized (gone) {
            gone.clear();
        }
    }

    @AfterEach
    void close() {
        following.ifPresent(BackgroundTasks.Task::close);
        opened.ifPresent(KubernetesApi::close);
        List.of("one", "two", "three").forEach(this::delete);
        assertEquals(0, tasks.failures().size(), () -> tasks.failures().toString());
    }

    final Informer<String> informer() {
        Informer.Source source = new Informer.Source(
                "DatasetReplicas",
                COLLECTION.substring(1),
                "",
                2, // forces several pages
                Keep.of("metadata.name", "spec.wanted"));
        return new Informer<>(opened.orElseThrow(), source, values(), System::nanoTime, WATCH);
    }

    /// Keeps NAME WANTED of this test's objects.
    private Informer.Values<String> values() {
        return new Informer.Values<>() {
            @Override
            public Optional<String> of(ObjectParts object, Optional<String> before) {
                return JsonParts.text(object.kept(), "metadata", "name")
                        .filter(name -> name.endsWith(unique))
                        .map(name -> name.replace("-" + unique, "") + " "
                                + JsonParts.text(object.kept(), "spec", "wanted")
                                        .orElse(""));
            }

            @Override
            public void gone(String before) {
                synchronized (gone) {
                    gone.add(before);
                }
            }
        };
    }

    final void follow(Informer<String> informer) {
        following = Optional.of(informer.follow(tasks, () -> changes.add(System.nanoTime())));
    }

    final void create(String name) {
        var _ = cluster().admin().raw(COLLECTION, "POST", """
                {"apiVersion": "siphon.dev/v1alpha1", "kind": "DatasetReplica", "metadata": {"name": "%s-%s"},
                 "spec": {"dataset": "u1.x", "node": "node-1", "volume": "v", "wanted": true}}
                """.formatted(name, unique));
    }

    final void change(String name) {
        var _ = object(name).patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\": {\"wanted\": false}}");
    }

    private Resource<GenericKubernetesResource> object(String name) {
        return cluster()
                .admin()
                .genericKubernetesResources(
                        KubernetesWarmupClusterContract.kind(DatasetReplica.KIND, DatasetReplica.PLURAL))
                .withName(name + "-" + unique);
    }

    final void delete(String name) {
        var _ = object(name).delete();
    }

    /// Waits until exactly these values are kept.
    final void await(Informer<String> informer, String... expected) throws InterruptedException {
        List<String> wanted = List.of(expected);
        long end = System.nanoTime() + TestCluster.PATIENT.toNanos();
        List<String> kept = List.of();
        while (System.nanoTime() < end) {
            try {
                kept = informer.all().stream().sorted().toList();
            } catch (DriverException.BackendUnavailable notYet) {
                assertTrue(notYet.getMessage().startsWith("DatasetReplicas are not known now"), notYet.getMessage());
            }
            if (kept.equals(wanted)) {
                return;
            }
            var _ = changes.poll(100, TimeUnit.MILLISECONDS);
        }
        assertEquals(wanted, kept);
    }

    @Test
    void beforeItFollowsEachReadingIsNew() {
        Informer<String> informer = informer();
        assertEquals(List.of(), informer.all());
        create("one");
        create("two");
        create("three");
        assertEquals(
                List.of("one true", "three true", "two true"),
                informer.all().stream().sorted().toList());
        change("one");
        delete("three");
        assertEquals(
                List.of("one false", "two true"),
                informer.all().stream().sorted().toList());
        assertEquals(List.of("three true"), gone);
    }

    @Test
    void itFollowsWhatIsMadeChangedAndRemoved() throws InterruptedException {
        create("one");
        Informer<String> informer = informer();
        follow(informer);
        await(informer, "one true");
        create("two");
        await(informer, "one true", "two true");
        change("two");
        await(informer, "one true", "two false");
        delete("one");
        await(informer, "two false");
        synchronized (gone) {
            assertEquals(List.of("one true"), gone);
        }
    }

    /// The server ends a watch after a while; the next one resumes from there.
    @Test
    void itFollowsThroughManyWatches() throws InterruptedException {
        Informer<String> informer = informer();
        follow(informer);
        await(informer);
        long end = System.nanoTime() + WATCH.multipliedBy(3).toNanos();
        for (int round = 0; round == 0 || System.nanoTime() < end; round++) {
            create("one");
            await(informer, "one true");
            delete("one");
            await(informer);
        }
    }

    /// A process ignores an object that it changed itself until the watch reports the change.
    @Test
    void whatWasDroppedIsKeptAgainWhenItChanges() throws InterruptedException {
        create("one");
        Informer<String> informer = informer();
        follow(informer);
        await(informer, "one true");
        String uid = object("one").get().getMetadata().getUid();
        informer.drop(uid);
        assertEquals(List.of(), informer.all());
        change("one");
        await(informer, "one false");
    }
}
