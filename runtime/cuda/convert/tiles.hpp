// Masks and values of tiles, on the device. The formats differ in the placement of a window's columns (slots:
// 8 per tile), in the mask that contains a row of a tile (places), and in the order of a tile's values.
#pragma once

#include "formats/core/no_value_type.hpp"
#include "runtime/cuda/convert/columns.hpp"

namespace sptile::runtime::cuda {

/// A bit in a mask of 8x8 entries.
struct Place {
  std::int64_t mask;  ///< negative: in no tile
  int bit;            ///< 8 * row + column
};

/// Ascending columns of a window, tile by tile.
template <class Windows>
struct AscendingSlots {
  Columns<Windows> columns;
  const std::uint32_t* tiles;  ///< first tile of each window

  /// Returns the slot of an entry's column; negative if it is in no tile.
  SPTILE_HOST_DEVICE std::int64_t slot(std::int64_t entry, std::int64_t row) const {
    const std::int64_t window = columns.of_row.window(row);
    return window < columns.windows ? std::int64_t{8} * tiles[window] + columns.place[entry] : -1;
  }
};

/// Tiles of 8 or 16 rows with one mask per 8 rows.
template <class Slots>
struct TilePlaces {
  Slots slots;
  int masks_per_tile;

  SPTILE_HOST_DEVICE Place at(std::int64_t entry, std::int64_t r) const {
    const std::int64_t slot = slots.slot(entry, r);
    if (slot < 0) return {-1, 0};
    const auto row = static_cast<int>(slots.columns.of_row.row(r));
    return {slot / 8 * masks_per_tile + row / 8, 8 * (row % 8) + static_cast<int>(slot % 8)};
  }
};

template <class Places>
struct SetBits {
  CsrRows rows;
  Places places;
  std::uint64_t* masks;

  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    std::int64_t mask = -1;
    std::uint64_t bits = 0;  // bits of this mask
    rows.visit(step, [&](std::int64_t entry, std::int64_t row) {
      const Place place = places.at(entry, row);
      if (place.mask != mask) {
        if (mask >= 0) atomic_or(masks + mask, bits);
        mask = place.mask;
        bits = 0;
      }
      bits |= std::uint64_t{1} << place.bit;
    });
    if (mask >= 0) atomic_or(masks + mask, bits);
  }
};

/// Counts the entries of each mask, and writes a final 0.
struct CountEntries {
  const std::uint64_t* masks;
  std::int64_t count;
  std::uint32_t* entries;

  SPTILE_HOST_DEVICE void operator()(std::int64_t mask) const {
    entries[mask] = mask < count ? static_cast<std::uint32_t>(count_bits(masks[mask])) : 0;
  }
};

/// Sets the bits of all entries in `count` masks and computes the entries before each mask: count + 1
/// offsets.
template <class Run, class Places>
void set_masks(Run& run, const CsrRows& rows, const Places& places, std::uint64_t* masks, std::int64_t count,
               std::uint32_t* offset) {
  run.clear(masks, static_cast<std::size_t>(count) * sizeof *masks);
  run.each(rows.steps(), SetBits<Places>{rows, places, masks});
  run.each(count + 1, CountEntries{masks, count, offset});
  run.sum(offset, count + 1);
}

/// Value order of formats that store mask by mask, in bit order.
struct BitOrder {
  const std::uint64_t* masks;
  const std::uint32_t* offset;

  SPTILE_HOST_DEVICE std::int64_t position(const Place& place) const {
    return std::int64_t{offset[place.mask]} + count_bits(masks[place.mask] & below(place.bit));
  }
};

/// Value order of bmat for two masks (16 rows): columns 0 to 3 of the upper rows, then of the lower ones,
/// then columns 4 to 7.
struct BmatOrder {
  static constexpr std::uint64_t kLeft = 0x0F0F0F0F0F0F0F0F;  ///< columns 0 to 3
  const std::uint64_t* masks;
  const std::uint32_t* offset;

  SPTILE_HOST_DEVICE std::int64_t position(const Place& place) const {
    const std::int64_t upper = place.mask / 2 * 2;
    const bool right = place.bit % 8 >= 4, lower = place.mask != upper;
    const std::uint64_t side = right ? ~kLeft : kLeft;
    int front = count_bits(masks[place.mask] & side & below(place.bit));
    if (lower) front += count_bits(masks[upper] & side);
    if (right) front += count_bits(masks[upper] & kLeft) + count_bits(masks[upper + 1] & kLeft);
    return std::int64_t{offset[upper]} + front;
  }
};

template <class Word, class Places, class Order>
struct MoveValues {
  CsrRows rows;
  Places places;
  Order order;
  const Word* values;
  Word* to;

  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    rows.visit_apart(step, [&](std::int64_t entry, std::int64_t row) {
      const Place place = places.at(entry, row);
      if (place.mask >= 0) to[order.position(place)] = values[entry];
    });
  }
};

/// Calls f(Word{}) with the unsigned integer type as wide as a value; not for a pattern.
template <class F>
void visit_value_word(DType dtype, const F& f) {
  if (dtype == DType::none) return;
  switch (size_of(dtype)) {
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    case 8:
      return f(std::uint64_t{});
    default:
      no_value_type(dtype);
  }
}

/// Copies the values of all entries in tiles.
template <class Run, class Places, class Order>
void move_values(Run& run, const DeviceCsr& csr, const CsrRows& rows, const Places& places,
                 const Order& order, void* to) {
  visit_value_word(csr.value_dtype, [&](auto word) {
    using Word = decltype(word);
    run.each(rows.steps_apart(),
             MoveValues<Word, Places, Order>{rows, places, order, static_cast<const Word*>(csr.values),
                                             static_cast<Word*>(to)});
  });
}

/// Writes the column id of each slot; the last column of a window is repeated to the end of its tile.
template <class Windows>
struct NumberSlots {
  AscendingSlots<Windows> slots;
  std::int32_t* col_id;

  SPTILE_HOST_DEVICE void operator()(std::int64_t slot) const {
    const Columns<Windows>& columns = slots.columns;
    const std::int64_t window = last_at_most(slots.tiles, columns.windows, slot / 8);
    const std::int64_t place = slot - std::int64_t{8} * slots.tiles[window],
                       last = std::int64_t{columns.first[window + 1]} - columns.first[window] - 1;
    col_id[slot] = columns.id(window, place < last ? place : last);
  }
};

template <class Run, class Windows>
void number_slots(Run& run, const AscendingSlots<Windows>& slots, std::int64_t tiles, std::int32_t* col_id) {
  run.each(8 * tiles, NumberSlots<Windows>{slots, col_id});
}

}  // namespace sptile::runtime::cuda
