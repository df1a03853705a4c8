// Package checkpoint owns one file format: an immutable, indexed set of records
// that stands for everything a log said up to one message.
//
// It promises that opening a file, finding a record and walking an index read a
// handful of small blocks, whatever the size of the file, and that every byte it
// returns was covered by a checksum that leads up to the file's id: a file that
// is cut short, damaged or foreign gives an error, never a wrong answer. It
// never interprets a record, and it never changes a file once it has its name.
//
// # Format
//
//	file    = block* footer sum trailer
//	block   = entry*                       about 8 KiB; one entry may make it larger
//	entry   = keyBytes valueBytes key value    lengths as unsigned varints
//	footer  = JSON: format, fold, board, seq, head, records, entries, height, root
//	sum     = SHA-256 of the footer, 32 bytes; in hex it is the id of the file
//	trailer = length of the footer (4 bytes, big endian) and "orchckpt"
//
// The blocks are a B+tree, children before parents. Height 0 is a leaf. In a
// leaf, the key 0x01 kind 0x00 key holds a record, and 0x02 index 0x00 key
// holds the key of the record the index entry is for; index keys may repeat.
// In an inner block, the key is the first key below a child, and the value is
// that child's place: offset and length as unsigned varints, then its SHA-256.
// So the footer's sum covers the root, and the root everything.
//
// # Duties of the caller
//
//  1. Records are added in ascending order of kind, then key; index entries in
//     any order. Kinds and index names hold no zero byte.
//  2. One writer at a time for one directory and temporary name.
//  3. After an error that is a DamagedError the file is not used any more; the
//     log has everything in it.
package checkpoint
