package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import java.nio.file.Path;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class InformerTest extends InformerContract {
    private final InMemoryApiServer server = new InMemoryApiServer();
    private TestCluster cluster;

    @BeforeAll
    void start(@TempDir Path folder) {
        cluster = TestCluster.inMemory(folder, server);
    }

    @AfterAll
    void stop() {
        cluster.close();
    }

    @Override
    TestCluster cluster() {
        return cluster;
    }

    /// The API server has discarded the changes since that version.
    @Test
    void aVersionThatIsTooOldIsListedAnew() throws InterruptedException {
        create("one");
        Informer<String> informer = informer();
        follow(informer);
        await(informer, "one true");
        server.forgetChanges();
        change("one");
        await(informer, "one false");
        delete("one");
        await(informer);
    }

    @Test
    void whatCannotBeListedIsNotKnown() throws InterruptedException {
        create("one");
        server.refuse(request -> request.equals("GET " + COLLECTION) ? OptionalInt.of(500) : OptionalInt.empty());
        Informer<String> informer = informer();
        follow(informer);
        DriverException.BackendUnavailable unknown =
                assertThrows(DriverException.BackendUnavailable.class, informer::all);
        assertTrue(unknown.getMessage().startsWith("DatasetReplicas are not known now"), unknown.getMessage());
        server.refuse(_ -> OptionalInt.empty());
        await(informer, "one true");
    }

    /// An earlier chart's rules allow list but not watch.
    @Test
    void whatMayBeListedAndNotWatchedIsListedAgain() throws InterruptedException {
        create("one");
        server.refuse(request -> request.equals("WATCH " + COLLECTION) ? OptionalInt.of(403) : OptionalInt.empty());
        Informer<String> informer = informer();
        follow(informer);
        await(informer, "one true");
        change("one");
        await(informer, "one false");
        server.refuse(_ -> OptionalInt.empty());
        delete("one");
        await(informer);
    }

    @Test
    void nothingIsAskedWhileNothingChanges() throws InterruptedException {
        create("one");
        Informer<String> informer = informer();
        follow(informer);
        await(informer, "one true");
        long before = server.requests();
        for (int reading = 0; reading < 1_000; reading++) {
            assertEquals(1, informer.all().size());
        }
        assertEquals(before, server.requests());
    }
}
