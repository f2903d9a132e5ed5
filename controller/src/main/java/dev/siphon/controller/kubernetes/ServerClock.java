package dev.siphon.controller.kubernetes;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;

/// The time by the API server's clock, which says when objects were made: this machine's clock, set right by the `Date`
/// of each answer (RFC 9110, section 6.6.1). Before the first answer it is this machine's.
final class ServerClock implements InstantSource {
    /// `Date` has whole seconds, and an answer is on its way for a while.
    private static final Duration TOLERANCE = Duration.ofSeconds(2);

    private final InstantSource own;
    private volatile Duration ahead = Duration.ZERO;

    /// @param own this machine's clock
    ServerClock(InstantSource own) {
        this.own = own;
    }

    @Override
    public Instant instant() {
        return own.instant().plus(ahead);
    }

    /// Takes the time of an answer that has just come.
    ///
    /// @param date its header `Date`; what is none changes nothing
    void set(String date) {
        try {
            Instant server = ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME)
                    .toInstant();
            if (Duration.between(instant(), server).abs().compareTo(TOLERANCE) > 0) {
                ahead = Duration.between(own.instant(), server);
            }
        } catch (DateTimeParseException none) {
            // of a server without a clock
        }
    }
}
