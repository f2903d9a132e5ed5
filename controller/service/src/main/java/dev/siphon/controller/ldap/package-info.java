/// Accounts and groups from LDAP servers: an adapter of [dev.siphon.controller.identity.AccountDirectory].
@NullMarked
package dev.siphon.controller.ldap;

import org.jspecify.annotations.NullMarked;
