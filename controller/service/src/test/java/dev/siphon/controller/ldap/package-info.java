/// Tests of the directory in LDAP: its configuration, and a real OpenLDAP.
@NullMarked
package dev.siphon.controller.ldap;

import org.jspecify.annotations.NullMarked;
