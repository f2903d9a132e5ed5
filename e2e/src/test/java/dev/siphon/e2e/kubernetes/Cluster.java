package dev.siphon.e2e.kubernetes;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Lab;
import dev.siphon.e2e.lab.Project;
import dev.siphon.node.linux.MountTable;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.EventList;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientTimeoutException;
import io.fabric8.kubernetes.client.dsl.FilterWatchListDeletable;
import io.fabric8.kubernetes.client.dsl.Informable;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.jdkhttp.JdkHttpClientFactory;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// The Kubernetes that `e2e/kubernetes` started in this lab, with its administrator's rights. The lab itself is the
/// first node.
final class Cluster {
    /// Time limit for anything that happens without further action.
    static final Duration PATIENCE = Duration.ofMinutes(2);

    private static final Cluster HERE = connect();

    private final Lab lab;
    private final KubernetesClient client;

    private Cluster(Lab lab, KubernetesClient client) {
        this.lab = lab;
        this.client = client;
    }

    /// @throws ExceptionInInitializerError if `e2e/kubernetes` has started none
    static Cluster here() {
        return HERE;
    }

    private static Cluster connect() {
        String kubeconfig = Optional.ofNullable(System.getenv("KUBECONFIG"))
                .orElseThrow(() -> new IllegalStateException("KUBECONFIG is not set: run e2e/kubernetes"));
        KubernetesClient client = new KubernetesClientBuilder()
                .withConfig(Config.fromKubeconfig(Path.of(kubeconfig).toFile()))
                .withHttpClientFactory(new JdkHttpClientFactory())
                .build();
        return new Cluster(Lab.here(), client);
    }

    Lab lab() {
        return lab;
    }

    KubernetesClient client() {
        return client;
    }

    /// Returns the name of the node that is the lab itself.
    String node() {
        return client.nodes().list().getItems().stream()
                .map(node -> node.getMetadata().getName())
                .filter(name -> !name.contains("-guest"))
                .findFirst()
                .orElseThrow();
    }

    /// Returns the URL of the API, for clients with their own token.
    String server() {
        return client.getConfiguration().getMasterUrl();
    }

    /// Returns the file with the CA certificate of that API.
    String certificateAuthority() {
        return client.getConfiguration().getCaCertFile();
    }

    /// Runs a `kubectl` that must succeed, for output that users see and commands of the manuals.
    ///
    /// @return its output
    String kubectl(String... words) {
        return Command.run(PATIENCE.plusSeconds(10), kubectlWords(words));
    }

    /// Runs a `kubectl` that may fail.
    Command.Result tryKubectl(String... words) {
        return Command.attempt(PATIENCE.plusSeconds(10), kubectlWords(words));
    }

    private static List<String> kubectlWords(String... words) {
        List<String> command = new ArrayList<>(List.of(labProgram(), "kubectl"));
        command.addAll(List.of(words));
        return command;
    }

    /// Runs a command as Ceph's administrator; it must succeed.
    String ceph(String... words) {
        List<String> command = new ArrayList<>(List.of("ceph"));
        command.addAll(List.of(words));
        return Command.run(PATIENCE, command);
    }

    /// Returns the names of all identities in Ceph.
    Stream<String> cephIdentities() {
        return identities().map(Cluster::entity);
    }

    /// Returns the names of identities with `text` in their caps.
    List<String> identitiesWith(String text) {
        return identities()
                .filter(each -> each.get("caps").toString().contains(text))
                .map(Cluster::entity)
                .toList();
    }

    private static String entity(JsonObject identity) {
        return identity.get("entity").getAsString();
    }

    private Stream<JsonObject> identities() {
        String said = ceph("auth", "ls", "-f", "json");
        // a line for people precedes the JSON
        return JsonParser.parseString(said.substring(said.indexOf('{')))
                .getAsJsonObject()
                .getAsJsonArray("auth_dump")
                .asList()
                .stream()
                .map(JsonElement::getAsJsonObject);
    }

    /// Returns the mount points of CephFS on the lab's node.
    List<String> cephMounts() {
        return MountTable.read().entries().stream()
                .filter(mount -> mount.type().contains("ceph"))
                .map(mount -> mount.mountPoint().toString())
                .toList();
    }

    private static String labProgram() {
        return Project.folder().resolve("e2e/lab").toString();
    }

    /// Applies the objects of a manifest in `namespace`.
    void apply(String namespace, String manifest) {
        var _ = client.load(new ByteArrayInputStream(manifest.getBytes(StandardCharsets.UTF_8)))
                .inNamespace(namespace)
                .forceConflicts()
                .serverSideApply();
    }

    /// Waits until a definition accepts objects. `kubectl wait` fails while the definition has no status yet.
    void awaitEstablished(String definition) {
        var _ = await(
                "definition " + definition + " is established",
                client.genericKubernetesResources("apiextensions.k8s.io/v1", "CustomResourceDefinition")
                        .withName(definition),
                found -> found != null
                        && found.<Object>get("status", "conditions") instanceof List<?> conditions
                        && conditions.stream()
                                .anyMatch(each -> each instanceof Map<?, ?> condition
                                        && "Established".equals(condition.get("type"))
                                        && "True".equals(condition.get("status"))));
    }

    /// Watches an object until it satisfies `condition`; `null` means that it does not exist.
    ///
    /// @return the object at that time
    /// @throws AssertionError if that takes longer than [#PATIENCE]
    <T extends HasMetadata> T await(String what, Resource<T> resource, Predicate<T> condition) {
        return await(what, PATIENCE, resource, condition);
    }

    <T extends HasMetadata> T await(String what, Duration atMost, Resource<T> resource, Predicate<T> condition) {
        try {
            return resource.waitUntilCondition(condition, atMost.toMillis(), TimeUnit.MILLISECONDS);
        } catch (KubernetesClientTimeoutException e) {
            throw new AssertionError("not within " + atMost + ": " + what, e);
        }
    }

    /// Does the same for all objects of a list.
    <T extends HasMetadata> List<T> awaitAll(String what, Informable<T> objects, Predicate<List<T>> condition) {
        return awaitAll(what, PATIENCE, objects, condition);
    }

    <T extends HasMetadata> List<T> awaitAll(
            String what, Duration atMost, Informable<T> objects, Predicate<List<T>> condition) {
        var future = objects.informOnCondition(condition);
        try {
            return future.get(atMost.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new AssertionError("not within " + atMost + ": " + what, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(what + " was interrupted", e);
        } catch (ExecutionException e) {
            throw new IllegalStateException(what, e);
        } finally {
            future.cancel(true);
        }
    }

    /// Waits until an event of an object matches `pattern`.
    ///
    /// @return the event, as `REASON: MESSAGE`
    String awaitEvent(String namespace, String object, String pattern) {
        return awaitEvents(namespace, object, pattern).getFirst();
    }

    /// Does the same, but returns all matching events at that time.
    List<String> awaitEvents(String namespace, String object, String pattern) {
        Predicate<String> wanted = Pattern.compile(pattern).asPredicate();
        return awaitAll(
                        "an event of " + object + " like " + pattern,
                        eventsOf(namespace, object),
                        events -> events.stream().map(Cluster::said).anyMatch(wanted))
                .stream()
                .map(Cluster::said)
                .filter(wanted)
                .toList();
    }

    private FilterWatchListDeletable<Event, EventList, Resource<Event>> eventsOf(String namespace, String object) {
        return client.v1().events().inNamespace(namespace).withField("involvedObject.name", object);
    }

    private static String said(Event event) {
        return event.getReason() + ": " + event.getMessage();
    }

    /// Describes the cluster after a failure.
    String describe() {
        StringBuilder text = new StringBuilder();
        for (String command : List.of(
                "get pods,pvc,pv -A -o wide",
                "get events -A --sort-by=.lastTimestamp",
                "-n siphon logs deployment/siphon-controller --all-containers --tail=15 --prefix",
                "-n siphon logs daemonset/siphon-node --tail=15 --prefix")) {
            List<String> lines =
                    tryKubectl(command.split(" ", -1)).output().lines().toList();
            text.append("$ kubectl ").append(command).append('\n');
            lines.stream()
                    .skip(Math.max(0, lines.size() - 40))
                    .forEach(line -> text.append(line).append('\n'));
        }
        return text.toString();
    }
}
