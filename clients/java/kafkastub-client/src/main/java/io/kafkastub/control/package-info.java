/** The control port of a broker: its clock, faults, journal, groups and all else that a test does past the protocol. */
package io.kafkastub.control;
