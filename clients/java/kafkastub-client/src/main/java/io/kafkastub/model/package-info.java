/** What the control port answers, as records; and what is said to it, as objects whose methods set one field each. */
package io.kafkastub.model;
