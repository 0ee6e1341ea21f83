/** Not for users: what is here may change in any release. */
package io.kafkastub.internal;
