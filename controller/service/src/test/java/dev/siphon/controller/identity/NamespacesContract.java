package dev.siphon.controller.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// The contract of every [Namespaces].
public abstract class NamespacesContract {
    protected abstract Namespaces namespaces();

    /// Creates a namespace with these annotations, or sets them on an existing one.
    ///
    /// @return its real name, which is the same for the same `name` within a test
    protected abstract String annotate(String name, Map<String, String> annotations);

    /// Creates a PVC.
    ///
    /// @param namespace the name returned by [#annotate]
    /// @return its uid
    protected abstract String claim(String namespace, String name, Map<String, String> annotations);

    protected abstract void removeClaim(String namespace, String name);

    private Optional<String> annotation(String namespace, String key) {
        return namespaces().annotations(namespace).map(all -> all.get(key));
    }

    @Test
    void aNamespaceHasTheAnnotationsOfThisMoment() {
        String team = annotate("team", Map.of("siphon.dev/account", "u1"));
        assertEquals(Optional.of("u1"), annotation(team, "siphon.dev/account"));
        annotate("team", Map.of("siphon.dev/account", "u2", "siphon.dev/owners", "u3, group:lab"));
        assertEquals(Optional.of("u2"), annotation(team, "siphon.dev/account"));
        assertEquals(Optional.of("u3, group:lab"), annotation(team, "siphon.dev/owners"));
        annotate("team", Map.of());
        assertEquals(Optional.empty(), annotation(team, "siphon.dev/account"));
    }

    @Test
    void aNamespaceWithoutAnnotationsIsThere() {
        String bare = annotate("bare", Map.of());
        assertEquals(Optional.empty(), namespaces().annotations(bare).map(all -> all.get("siphon.dev/account")));
        assertEquals(true, namespaces().annotations(bare).isPresent());
    }

    @Test
    void allNamespacesAreHandedOverWithWhatCountsOfThem() {
        String team = annotate("team", Map.of("siphon.dev/account", "u1", "siphon.dev/owners", "u3", "other", "x"));
        String bare = annotate("bare", Map.of("other", "x"));
        Map<String, Map<String, String>> found = new HashMap<>();
        namespaces().all(Set.of("siphon.dev/account", "siphon.dev/owners"), found::put);
        assertEquals(Map.of("siphon.dev/account", "u1", "siphon.dev/owners", "u3"), found.get(team));
        assertEquals(Map.of(), found.get(bare));
    }

    @Test
    void whatIsNotThereIsNone() {
        String team = annotate("team", Map.of());
        assertEquals(Optional.empty(), namespaces().annotations("no-such-namespace"));
        assertEquals(Optional.empty(), namespaces().claim(team, "no-such-claim"));
        assertEquals(Optional.empty(), namespaces().claim("no-such-namespace", "data"));
    }

    @Test
    void aNameThatCannotBeIsNoneAndLeadsNowhereElse() {
        String team = annotate("team", Map.of("a", "b"));
        claim(team, "data", Map.of());
        for (String odd : new String[] {"", "../" + team, team + "/", team + "?x=y", "A B", "x/../" + team}) {
            assertEquals(Optional.empty(), namespaces().annotations(odd), odd);
            assertEquals(Optional.empty(), namespaces().claim(odd, "data"), odd);
            assertEquals(Optional.empty(), namespaces().claim(team, odd), odd);
        }
    }

    @Test
    void aClaimThatIsMadeAnewIsAnotherOne() {
        String team = annotate("team", Map.of());
        String first = claim(team, "data", Map.of("siphon.dev/owner", "u1"));
        assertEquals(Optional.of(first), namespaces().claim(team, "data").map(Namespaces.Claim::uid));
        assertEquals(
                Optional.of("u1"),
                namespaces()
                        .claim(team, "data")
                        .map(found -> found.annotations().get("siphon.dev/owner")));
        removeClaim(team, "data");
        assertEquals(Optional.empty(), namespaces().claim(team, "data"));
        String second = claim(team, "data", Map.of());
        assertNotEquals(first, second);
        assertEquals(Optional.of(second), namespaces().claim(team, "data").map(Namespaces.Claim::uid));
    }

    @Test
    void theUidOfANamespaceIsToldWhateverIsWrittenAtIt() {
        String namespace = annotate("uids", Map.of("note", "n".repeat(200_000)));
        String uid = namespaces().uid(namespace).orElseThrow();
        assertEquals(Optional.of(uid), Optional.ofNullable(namespaces().uids().get(namespace)));
        assertEquals(Optional.empty(), namespaces().uid("not-there"));
        assertEquals(Optional.empty(), namespaces().uid("../nodes"));
    }
}
