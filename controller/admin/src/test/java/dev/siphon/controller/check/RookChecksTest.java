package dev.siphon.controller.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.check.RookChecks.Current;
import dev.siphon.controller.check.RookChecks.Signs;
import dev.siphon.csi.check.CheckOutcome;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class RookChecksTest {
    private static final String WHERE = "ConfigMap rook-ceph/rook-ceph-mon-endpoints";

    private static SortedSet<String> set(String words) {
        return new TreeSet<>(words.isEmpty() ? List.of() : List.of(words.split(" ")));
    }

    @ParameterizedTest(name = "{0} against {1}")
    @CsvSource(delimiter = '|', textBlock = """
            10.0.0.1           | 10.0.0.1           | Warned | stay when Rook moves them
            10.0.0.1           | 10.0.0.1 10.0.0.2  | Warned | lacks 10.0.0.2 of ConfigMap rook-ceph/
            10.0.0.1 10.0.0.9  | 10.0.0.1 10.0.0.2  | Failed | has 10.0.0.9, where no monitor is
            """)
    void addressesThatSomebodyWroteDown(String written, String now, String outcome, String words) {
        CheckOutcome judged = RookChecks.judge(set(written), new Current(set(now), WHERE));
        assertEquals(outcome, judged.getClass().getSimpleName());
        String said = judged.toString();
        assertTrue(said.contains(words), said);
        assertTrue(said.contains("`ceph.rook.namespace`"), said);
    }

    @Test
    void rookIsRecognizedByTheIdentitiesOfItsDrivers() {
        Signs signs = new Signs(set("csi-cephfs-node csi-cephfs-provisioner.2"), List.of("myfs"));
        CheckOutcome.Ok found = assertInstanceOf(CheckOutcome.Ok.class, signs.judge(false));
        assertEquals(
                "this Ceph is Rook's, by client.csi-cephfs-node, client.csi-cephfs-provisioner.2; ceph-csi has the"
                        + " subvolumegroup csi in myfs, which Siphon does not touch",
                found.found());
    }

    @Test
    void aGroupAloneIsNoSignOfRook() {
        Signs signs = new Signs(set(""), List.of("myfs"));
        assertInstanceOf(CheckOutcome.Skipped.class, signs.judge(false));
        assertInstanceOf(CheckOutcome.Ok.class, signs.judge(true));
    }

    @ParameterizedTest
    @CsvSource({"admin", "healthchecker", "csi-cephfs-provisioner", "csi-cephfs-node.3"})
    void anIdentityOfRooksIsNoneForSiphon(String user) {
        CheckOutcome.Failed failed = assertInstanceOf(
                CheckOutcome.Failed.class, RookChecks.identity(user).orElseThrow());
        assertTrue(failed.remedy().contains("siphon ceph-caps"), failed.remedy());
        assertEquals(Optional.empty(), RookChecks.identity("siphon"));
    }
}
