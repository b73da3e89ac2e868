// Parsed entries of a coordinate or array file.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/core/buffer.hpp"
#include "formats/io/matrix_market/mtx_block.hpp"

namespace sptile::formats {

/// Memory for entries. Blocks of text reserve one entry per line before they are parsed, contiguously in file
/// order, so that parsing needs no second copy.
struct EntrySegment {
  Buffer<std::int32_t> rows, cols;  ///< empty for array files
  Array values;                     ///< absent for a pattern
  std::int64_t capacity = 0;
  std::int64_t used = 0;
};

/// Entries of one block: [begin, begin + count) of a segment.
struct EntryPiece {
  std::size_t segment = 0;
  std::int64_t begin = 0;
  std::int64_t count = 0;
};

class EntryStore {
 public:
  /// The text is long enough for `proven` entries, whose memory may be allocated at once; beyond that, memory
  /// grows in steps of `segment_entries`.
  EntryStore(const MtxHeader& header, DType dtype, std::int64_t proven, std::int64_t segment_entries);

  /// Reserves space for the entries of a block with `lines` lines. Throws OutOfMemory.
  EntryPiece reserve(std::int64_t lines);
  /// Returns the destination of a reserved piece. Pointers stay valid.
  [[nodiscard]] EntryTarget target(const EntryPiece& piece);
  /// Keeps the first `count` entries of a piece; must be called in file order.
  void keep(EntryPiece piece, std::int64_t count);

  [[nodiscard]] std::vector<EntrySegment>& segments() { return segments_; }
  [[nodiscard]] const std::vector<EntryPiece>& pieces() const { return pieces_; }
  [[nodiscard]] std::int64_t entries() const { return entries_; }
  [[nodiscard]] DType dtype() const { return dtype_; }  ///< none for a pattern
  /// Returns the bytes per entry: row id, column id and value; for array files only the value.
  [[nodiscard]] std::int64_t entry_bytes() const;

 private:
  void claim_more(std::int64_t lines);

  bool coordinate_;
  DType dtype_;  // none for a pattern
  std::int64_t next_capacity_, segment_entries_;
  std::vector<EntrySegment> segments_;
  std::vector<EntryPiece> pieces_;
  std::int64_t entries_ = 0;
  std::int64_t unclaimed_ = 0;  ///< bytes reserved since the last check of free memory
};

}  // namespace sptile::formats
