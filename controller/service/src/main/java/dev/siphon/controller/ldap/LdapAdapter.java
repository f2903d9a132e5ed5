package dev.siphon.controller.ldap;

import com.unboundid.ldap.sdk.Filter;
import com.unboundid.ldap.sdk.LDAPException;
import com.unboundid.ldap.sdk.ResultCode;
import com.unboundid.ldap.sdk.SearchScope;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.identity.AccountDirectory;
import dev.siphon.controller.identity.CachedAccountDirectory;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.security.GeneralSecurityException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The LDAP directory as the controller uses it: connections, lookups and their cache. Checks every few seconds
/// whether a server answers, so that an administrator learns of an outage before the first caller does.
public final class LdapAdapter implements AccountDirectory, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(LdapAdapter.class);

    private static final LdapConnections.Search LOOK = new LdapConnections.Search(
            "", SearchScope.BASE, Filter.createPresenceFilter("objectClass"), List.of("1.1"));

    /// The result codes for a wrong account or password, or for one without the needed rights.
    private static final Set<ResultCode> REFUSED = Set.of(
            ResultCode.INVALID_CREDENTIALS,
            ResultCode.INVALID_DN_SYNTAX,
            ResultCode.INAPPROPRIATE_AUTHENTICATION,
            ResultCode.INSUFFICIENT_ACCESS_RIGHTS,
            ResultCode.PARAM_ERROR);

    private final LdapConfig config;
    private final LdapConnections connections;
    private final CachedAccountDirectory directory;
    private final DirectoryMetrics metrics;
    private final Clock clock = Clock.systemUTC();
    private final BackgroundTasks.Task task;
    private volatile boolean stopped;
    private volatile Answer lastAnswer = new Answer.Given();

    /// The result of a check.
    private sealed interface Answer {
        /// A server answered.
        record Given() implements Answer {}

        /// An outage: when it began, and why.
        record Missing(Instant since, String reason) implements Answer {}

        /// The check still runs.
        ///
        /// @param last the result of the check before
        record Pending(Answer last, LookupDeadline end) implements Answer {}
    }

    private LdapAdapter(
            LdapConfig config,
            Duration lookEvery,
            Supplier<Duration> timeLeft,
            PrometheusRegistry registry,
            BackgroundTasks tasks) {
        this.config = config;
        this.connections = LdapConnections.open(config);
        this.metrics = new DirectoryMetrics(registry);
        this.directory = new CachedAccountDirectory(
                new LdapDirectory(connections, config), config.cache(), timeLeft, System::nanoTime, metrics::ended);
        this.task = tasks.every("ldap-look", Duration.ZERO, lookEvery, this::checkConnection);
    }

    /// Returns at once and connects to servers later.
    ///
    /// @param lookEvery interval between checks whether a server answers
    /// @param timeLeft remaining time of the caller's deadline
    /// @throws IllegalArgumentException if the CA file cannot be used
    public static LdapAdapter open(
            LdapConfig config,
            Duration lookEvery,
            Supplier<Duration> timeLeft,
            PrometheusRegistry registry,
            BackgroundTasks tasks) {
        return new LdapAdapter(config, lookEvery, timeLeft, registry, tasks);
    }

    @Override
    public Optional<Account> account(String name) {
        return directory.account(name);
    }

    @Override
    public void accounts(Consumer<Account> each) {
        directory.accounts(each);
    }

    @Override
    public Optional<String> remark() {
        return outage(lastAnswer)
                .map(it -> "LDAP has not answered since " + it.since() + " (" + it.reason() + "): "
                        + directory.usable() + " accounts are served from the cache, each for at most "
                        + config.cache().stale().toSeconds() + " s; others are UNAVAILABLE");
    }

    /// Returns the outage that a check found. A running check counts as one once it exceeds its deadline.
    private Optional<Answer.Missing> outage(Answer answer) {
        return switch (answer) {
            case Answer.Given _ -> Optional.empty();
            case Answer.Missing missing -> Optional.of(missing);
            case Answer.Pending(Answer last, LookupDeadline end) ->
                outage(last).or(() -> end.passed() ? Optional.of(late(end)) : Optional.empty());
        };
    }

    private Answer.Missing late(LookupDeadline end) {
        return new Answer.Missing(
                clock.instant().minus(end.limit()), "a check began then, and its answer is not complete yet");
    }

    /// Returns what an administrator can do when the directory does not answer.
    ///
    /// @param silence the exception of a lookup
    public static String remedy(DriverException silence) {
        boolean refused = false;
        boolean unprotected = false;
        for (@Nullable Throwable cause = silence; cause != null; cause = cause.getCause()) {
            refused |= cause instanceof LDAPException failed && REFUSED.contains(failed.getResultCode());
            unprotected |= cause instanceof GeneralSecurityException || cause instanceof SSLException;
        }
        if (refused) {
            return "`bindDn` and the password in `passwordFile` must let Siphon read accounts and groups";
        }
        return unprotected
                ? "`caFile` must hold the CA of the servers' certificates, and `servers` must use the names in them"
                : "`servers` must be reachable from here, and `base` must exist";
    }

    private void checkConnection() {
        Answer last = lastAnswer;
        Optional<Answer.Missing> before = outage(last);
        lastAnswer = new Answer.Pending(last, LookupDeadline.in(config.limits().step()));
        Answer now = last;
        try {
            var _ = connections.atMostTwo(LOOK);
            if (before.isPresent()) {
                LOG.atInfo().addKeyValue("servers", config.servers()).log("LDAP answers");
            }
            now = new Answer.Given();
            heard(true);
        } catch (DriverException unavailable) {
            if (before.isEmpty() && !stopped) {
                LOG.atWarn().addKeyValue("reason", unavailable.getMessage()).log("LDAP does not answer");
            }
            now = new Answer.Missing(
                    before.map(Answer.Missing::since).orElseGet(clock::instant), unavailable.getMessage());
            heard(false);
        } finally {
            lastAnswer = now;
        }
    }

    private void heard(boolean answers) {
        metrics.up(answers);
        directory.reachable(answers);
    }

    @Override
    public void close() {
        stopped = true;
        task.close();
        connections.close();
    }
}
