package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import dev.siphon.controller.kubernetes.DatasetQuestions.WaitingAccess;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Which questions get a reply, and when. Replies wait until the test releases them.
@Timeout(60)
final class DatasetQuestionsTest {
    private static final long LIMIT_SECONDS = 20;

    private final BlockingQueue<String> begun = new LinkedBlockingQueue<>();
    private final Semaphore answers = new Semaphore(0);
    private final CountDownLatch listed = new CountDownLatch(1);
    private final DatasetQuestions questions = new DatasetQuestions(this::answer, listed::countDown);

    private void answer(WaitingAccess question) {
        begun.add(question.title() + " " + question.request());
        answers.acquireUninterruptibly();
    }

    @AfterEach
    void stop() {
        questions.close();
        answers.release(Integer.MAX_VALUE / 2);
    }

    private void add(String namespace, String name, String request) {
        questions.add(new WaitingAccess(namespace, name, request, new JsonObject(), Optional.empty()));
    }

    private List<String> begun(int count) throws InterruptedException {
        Stream.Builder<String> all = Stream.builder();
        for (int i = 0; i < count; i++) {
            all.add(Optional.ofNullable(begun.poll(LIMIT_SECONDS, TimeUnit.SECONDS))
                    .orElse("nothing"));
        }
        return all.build().sorted().toList();
    }

    @Test
    void aNamespaceIsAnsweredSomeAtOnce() throws InterruptedException {
        for (int i = 0; i < 100; i++) {
            add("u1", "v" + i, "1");
        }
        add("u2", "v", "1");
        assertEquals(List.of("u1/v0 1", "u1/v1 1", "u1/v2 1", "u1/v3 1", "u2/v 1"), begun(5));
        assertEquals(96, questions.waiting());
    }

    @Test
    void theNewestQuestionAboutAVolumeIsAnsweredOnce() throws InterruptedException {
        for (int i = 0; i < DatasetQuestions.AT_ONCE_OF_ONE; i++) {
            add("u1", "v" + i, "1");
        }
        add("u1", "v0", "1");
        add("u1", "w", "1");
        add("u1", "w", "2");
        add("u1", "w", "2");
        add("u1", "x", "1");
        answers.release(Integer.MAX_VALUE / 2);
        assertEquals(List.of("u1/v0 1", "u1/v1 1", "u1/v2 1", "u1/v3 1", "u1/w 2", "u1/x 1"), begun(6));
        add("u1", "x", "2");
        assertEquals(List.of("u1/x 2"), begun(1));
        assertTrue(begun.isEmpty(), begun::toString);
    }

    @Test
    void whatHasNoRoomIsListedAgain() throws InterruptedException {
        for (int i = 0; i < 2 * DatasetQuestions.MOST; i++) {
            add("u1", "v" + i, "1");
        }
        assertEquals(DatasetQuestions.MOST, questions.waiting());
        assertEquals(1, listed.getCount());
        answers.release(Integer.MAX_VALUE / 2);
        assertTrue(listed.await(LIMIT_SECONDS, TimeUnit.SECONDS));
    }
}
