package dev.siphon.node.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import csi.v1.NodeGrpc;
import dev.siphon.csi.fuzz.Attempt;
import dev.siphon.csi.fuzz.LoggedErrors;
import dev.siphon.csi.fuzz.Rpc;
import dev.siphon.csi.fuzz.TimeLimit;
import io.grpc.MethodDescriptor;
import io.grpc.Status.Code;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.GenerationMode;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.AfterProperty;
import net.jqwik.api.statistics.Statistics;

/// Sends every RPC of the node requests that are wrong in one or two fields, over real mounts without Ceph. Each
/// error must name what to correct, and no bug may be logged. Mounts and files change only after OK. Mounting needs
/// root, so this is no unit test.
final class NodeFuzzIT {
    /// At least this many of 100 requests (27 observed) must pass the field checks and reach a mounter; with fewer,
    /// this would only test the checks.
    private static final double REACHING = 20;

    private final LoggedErrors errors = new LoggedErrors();
    private final FuzzedNode fuzzed = FuzzedNode.start();

    @AfterProperty
    void stop() {
        fuzzed.close();
        errors.close();
    }

    @Provide
    Arbitrary<Attempt> attempts() {
        return Attempt.at(fuzzed.rpcs(), fuzzed.words());
    }

    @Property(tries = Integer.MAX_VALUE, generation = GenerationMode.RANDOMIZED, edgeCases = EdgeCasesMode.NONE)
    @AddLifecycleHook(TimeLimit.class)
    void whateverComesIsAnswered(@ForAll("attempts") Attempt attempt) {
        List<String> before = fuzzed.everything();
        int questions = fuzzed.questions();
        boolean ok = attempt.send(fuzzed.channel());
        Statistics.label("reaches a mounter").collect(fuzzed.questions() > questions);
        Statistics.label("reaches a mounter")
                .coverage(shares -> shares.check(true).percentage(share -> share >= REACHING));
        Statistics.label("is OK").collect(ok);
        List<String> after = fuzzed.everything();
        if (!ok) {
            assertEquals(before, after, () -> attempt + " is refused and changed something");
        }
        assertEquals(List.of(), errors.lines(), attempt::toString);
        if (!before.equals(after)) {
            fuzzed.restore();
            assertEquals(before, fuzzed.everything(), () -> "everything can be had back after " + attempt);
        }
    }

    @Example
    void everyRpcWithFieldsIsTried() {
        Set<String> tried = fuzzed.rpcs().stream().map(Rpc::toString).collect(Collectors.toSet());
        Set<String> all = NodeGrpc.getServiceDescriptor().getMethods().stream()
                .map(MethodDescriptor::getBareMethodName)
                .map(String::valueOf)
                .filter(name -> !Set.of("NodeGetCapabilities", "NodeGetInfo").contains(name))
                .collect(Collectors.toSet());
        assertEquals(all, tried);
    }

    @Example
    void theRequestsAreRightBeforeTheyAreSpoilt() {
        for (Rpc<?> rpc : fuzzed.rpcs()) {
            assertEquals(Code.OK, rpc.answer(fuzzed.channel(), rpc.valid()).getCode(), rpc::toString);
            fuzzed.restore();
        }
    }
}
