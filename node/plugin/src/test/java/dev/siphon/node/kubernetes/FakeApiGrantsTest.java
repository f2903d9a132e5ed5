package dev.siphon.node.kubernetes;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

final class FakeApiGrantsTest extends ApiGrantsContract {
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
    protected void publish(String text) {
        api.publish(text);
    }

    @Override
    protected void remove() {
        api.remove();
    }
}
