package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.controller.identity.Account;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// To whom imports give their datasets, whichever leader takes a step.
@Timeout(120)
final class ImportedReadersTest extends ImportsOfLeaders {
    @Test
    void aNamespaceThatStandsForAnotherAccountHasNoSayOverTheFirstOnesDataset() {
        member("a", "b");
        directory.put(new Account("u2", "id2", 10002, 10002, Set.of("a", "b"), OptionalLong.empty()));
        apply("x", "\"a\", \"b\"");
        finish();
        setGroups("\"a\"");
        pass("u2");
        assertEquals("OtherAccount", status("x", "reason"));
        assertEquals("Ready", status("x", "phase"));
        assertEquals(Set.of("u1", "group:a"), readers(), "what the owner removes is withdrawn");
        setGroups("\"a\", \"b\"");
        pass("u2");
        assertEquals(Set.of("u1", "group:a"), readers());
        pass();
        assertEquals("Ready", status("x", "reason"));
        assertEquals(Set.of("u1", "group:a", "group:b"), readers());
    }

    @Test
    void aReaderIsRemovedWhileAnotherIsDenied() {
        member("a", "b", "c");
        apply("x", "\"a\", \"b\"");
        finish();
        assertEquals(Set.of("u1", "group:a", "group:b"), readers());
        member("b", "c");
        setGroups("\"a\", \"c\"");
        pass();
        assertEquals(Set.of("u1", "group:a"), readers(), "b is withdrawn, and c is not given");
        assertEquals("NotAMember", status("x", "reason"));
        assertEquals("Ready", status("x", "phase"));
        setGroups("\"c\"");
        pass();
        assertEquals(Set.of("u1", "group:c"), readers());
        assertEquals("Ready", status("x", "reason"));
    }

    /// The leader died before it noted in the status what it had given.
    @Test
    void aReaderThatIsNotInTheStatusIsWithdrawnToo() {
        member("a", "b");
        apply("x", "\"a\"");
        finish();
        setGroups("\"a\", \"b\"");
        pass();
        set(IMPORTS + "/x", "status", "readers", "[\"u1\", \"group:a\"]");
        setGroups("\"a\", \"c\"");
        pass();
        assertEquals(Set.of("u1", "group:a"), readers());
        assertEquals("NotAMember", status("x", "reason"));
    }

    @Test
    void aReaderThatAnAdministratorRemovedIsNotGivenBackWhileAnotherIsDenied() {
        member("a", "b");
        apply("x", "\"a\", \"b\"");
        finish();
        set(DATASETS + "/u1.x", "spec", "readers", "[\"u1\", \"group:b\"]");
        member();
        setGroups("\"a\"");
        pass();
        assertEquals(Set.of("u1"), readers());
        assertEquals("NotAMember", status("x", "reason"));
    }

    @Test
    void aReaderIsRemovedByAnAccountThatTheDirectoryNoLongerHas() {
        apply("x", "\"vision\"");
        finish();
        directory.remove("u1");
        setGroups("");
        pass();
        assertEquals(Set.of("u1"), readers());
        assertEquals("NoAccount", status("x", "reason"));
    }
}
