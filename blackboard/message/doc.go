// Package message declares everything that may be said on the bus: one Go type
// for each kind of message, and one table that says who may send it to whom.
//
// It owns the vocabulary (named types for ids, roles and states), the payload
// types, their strict decoding, and the routing table. It promises that a
// payload which decodes encodes again to the same meaning, that lists are
// never null, and that nothing outside the table is ever valid. It never does
// I/O and imports nothing else of this module.
package message
