package dev.siphon.node.kubernetes;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.FairQueue;
import dev.siphon.node.pod.Pod;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// Questions of this node's pods that the controller has not answered yet: a bounded number of each pod, and in all.
/// Where there are as many in all, a namespace with many of them gives way to one with few. Whoever has no room is told
/// UNAVAILABLE, and the kubelet asks again.
final class WaitingQuestions {
    static final int MOST = 64;
    static final int MOST_OF_A_POD = 16;

    private final FairQueue<Question> waiting = new FairQueue<>(MOST);

    /// By the pods' uids; under its own lock.
    private final Map<String, Integer> ofPods = new HashMap<>();

    /// Begins to wait.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if there is no room
    Question begin(Pod pod) {
        synchronized (ofPods) {
            if (ofPods.getOrDefault(pod.uid(), 0) >= MOST_OF_A_POD) {
                throw new DriverException.BackendUnavailable("pod " + pod.namespace() + "/" + pod.name() + " waits for "
                        + MOST_OF_A_POD + " datasets already, the maximum for one pod; retry");
            }
            ofPods.merge(pod.uid(), 1, Integer::sum);
        }
        Question question = new Question(pod);
        waiting.add(pod.namespace(), question).ifPresent(out -> out.displaced.countDown());
        try {
            question.check();
        } catch (DriverException none) {
            question.close();
            throw none;
        }
        return question;
    }

    /// One of them, until it is closed.
    final class Question implements AutoCloseable {
        private final Pod pod;
        private final CountDownLatch displaced = new CountDownLatch(1);

        private Question(Pod pod) {
            this.pod = pod;
        }

        private void check() {
            if (displaced.getCount() == 0) {
                throw new DriverException.BackendUnavailable("this node waits for " + MOST
                        + " datasets already, the maximum for a node, and namespace " + pod.namespace()
                        + " has its share of them; retry");
            }
        }

        /// Waits so long.
        ///
        /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if another namespace needs the room
        void pause(Duration pause) {
            try {
                var _ = displaced.await(pause.toNanos(), TimeUnit.NANOSECONDS);
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
                throw new DriverException.BackendUnavailable("interrupted while waiting for the controller");
            }
            check();
        }

        @Override
        public void close() {
            waiting.remove(pod.namespace(), this);
            synchronized (ofPods) {
                ofPods.computeIfPresent(pod.uid(), (_, count) -> count > 1 ? count - 1 : null);
            }
        }
    }
}
