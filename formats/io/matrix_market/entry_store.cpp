#include "formats/io/matrix_market/entry_store.hpp"

#include <algorithm>

#include "formats/io/files/claim.hpp"

namespace sptile::formats {

EntryStore::EntryStore(const MtxHeader& header, DType dtype, std::int64_t proven,
                       std::int64_t segment_entries)
    : coordinate_(header.coordinate),
      dtype_(header.field == MtxField::pattern ? DType::none : dtype),
      next_capacity_(std::max(proven, segment_entries)),
      segment_entries_(segment_entries) {}

std::int64_t EntryStore::entry_bytes() const {
  return (coordinate_ ? 2 * static_cast<std::int64_t>(sizeof(std::int32_t)) : 0) +
         static_cast<std::int64_t>(size_of(dtype_));
}

// Counts reserved entries, because segments can be larger than the part that is filled.
void EntryStore::claim_more(std::int64_t lines) {
  constexpr std::int64_t kStep = 4 << 20, kClaimed = 4 * kStep;
  unclaimed_ += lines * entry_bytes();
  if (unclaimed_ < kStep) return;
  claim_memory(std::max(unclaimed_, kClaimed), 1, "its entries");
  unclaimed_ = 0;
}

EntryPiece EntryStore::reserve(std::int64_t lines) {
  claim_more(lines);
  if (segments_.empty() || segments_.back().capacity - segments_.back().used < lines) {
    EntrySegment segment;
    segment.capacity = std::max(std::exchange(next_capacity_, segment_entries_), lines);
    if (coordinate_) {
      segment.rows = Buffer<std::int32_t>(segment.capacity);
      segment.cols = Buffer<std::int32_t>(segment.capacity);
    }
    if (dtype_ != DType::none) segment.values = Array(dtype_, segment.capacity);
    segments_.push_back(std::move(segment));
  }
  EntrySegment& segment = segments_.back();
  const EntryPiece piece{segments_.size() - 1, segment.used, lines};
  segment.used += lines;
  return piece;
}

EntryTarget EntryStore::target(const EntryPiece& piece) {
  EntrySegment& segment = segments_[piece.segment];
  EntryTarget target;
  if (coordinate_) {
    target.rows = segment.rows.data() + piece.begin;
    target.cols = segment.cols.data() + piece.begin;
  }
  if (dtype_ != DType::none)
    target.values =
        static_cast<char*>(segment.values.data()) + piece.begin * static_cast<std::int64_t>(size_of(dtype_));
  return target;
}

void EntryStore::keep(EntryPiece piece, std::int64_t count) {
  if (count == 0) return;
  entries_ += count;
  if (!pieces_.empty()) {
    EntryPiece& last = pieces_.back();
    if (last.segment == piece.segment && last.begin + last.count == piece.begin) {
      last.count += count;
      return;
    }
  }
  pieces_.push_back({piece.segment, piece.begin, count});
}

}  // namespace sptile::formats
