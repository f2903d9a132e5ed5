package dev.siphon.node.kubernetes;

import dev.siphon.node.inline.InlineDatasets;

/// The controller's replies, for tests that expect an answer.
final class Replies {
    private Replies() {}

    /// Returns the answer, or throws why there is none.
    static InlineDatasets.Opened opened(InlineDatasets.Reply reply) {
        return switch (reply) {
            case InlineDatasets.Reply.Answered(var opened) -> opened;
            case InlineDatasets.Reply.Unanswered(var why, var _) -> throw why;
        };
    }
}
