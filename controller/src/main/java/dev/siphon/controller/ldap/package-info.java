/// Accounts and groups from LDAP servers: the adapter of [dev.siphon.controller.identity.Directory] that asks them.
@NullMarked
package dev.siphon.controller.ldap;

import org.jspecify.annotations.NullMarked;
