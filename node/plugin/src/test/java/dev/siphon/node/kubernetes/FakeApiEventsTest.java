package dev.siphon.node.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.node.pod.Pod;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

final class FakeApiEventsTest extends PodEventsContract {
    private final FakeApi api = FakeApi.start();

    @TempDir
    private Path folder;

    @AfterEach
    void stop() {
        api.close();
    }

    @Override
    ApiAccess access() {
        return new ApiAccess.Kubeconfig(api.kubeconfig(folder));
    }

    @Override
    String namespace() {
        return FakeApi.NAMESPACE;
    }

    @Override
    List<JsonObject> nodeEvents(String node) {
        return api.events();
    }

    @Override
    List<JsonObject> events(Pod pod) {
        return api.events();
    }
}
