package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
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
        JsonObject object = get(IMPORTS + "/x");
        JsonParts.object(object, "status")
                .orElseThrow()
                .add("readers", JsonParser.parseString("[\"u1\", \"group:a\"]"));
        var _ = started.orElseThrow().admin().raw(IMPORTS + "/x", "PUT", object.toString());
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
        JsonObject object = get(DATASETS + "/u1.x");
        JsonParts.object(object, "spec").orElseThrow().add("readers", JsonParser.parseString("[\"u1\", \"group:b\"]"));
        var _ = started.orElseThrow().admin().raw(DATASETS + "/u1.x", "PUT", object.toString());
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
