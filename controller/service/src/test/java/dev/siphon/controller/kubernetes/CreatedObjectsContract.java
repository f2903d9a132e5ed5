package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/// A contract over an API server whose tests create objects. They are removed after each test.
abstract class CreatedObjectsContract {
    static final String NOW = """
            {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0}
            """;

    /// The paths of the objects.
    final List<String> made = new ArrayList<>();

    /// Part of all names of a test.
    String unique = "";

    private Optional<KubernetesAdapter> opened = Optional.empty();

    abstract TestCluster cluster();

    /// Uses new names, because deleted objects may remain for a while.
    @BeforeEach
    void callAllByOtherNames() {
        unique = UUID.randomUUID().toString().substring(0, 8);
    }

    @AfterEach
    void removeWhatWasMade() {
        made.reversed().forEach(path -> cluster().admin().raw(path, "DELETE", NOW));
        made.clear();
        opened.ifPresent(KubernetesAdapter::close);
        opened = Optional.empty();
    }

    KubernetesAdapter adapter() {
        KubernetesAdapter adapter = opened.orElseGet(cluster()::adapter);
        opened = Optional.of(adapter);
        return adapter;
    }

    /// Creates an object, and returns it as the API server has it.
    JsonObject create(String collection, String object) {
        JsonObject there = JsonParser.parseString(cluster().admin().raw(collection, "POST", object))
                .getAsJsonObject();
        made.add(collection + "/" + JsonParts.text(there, "metadata", "name").orElseThrow());
        return there;
    }
}
