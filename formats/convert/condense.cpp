#include "formats/convert/condense.hpp"

#include <bit>
#include <cstring>
#include <limits>
#include <string>

#include "formats/convert/window_merger.hpp"
#include "formats/core/parallel_loop.hpp"
#include "formats/core/per_thread.hpp"

namespace sptile::formats {
namespace {

/// Approximate rows plus nonzeros per chunk: about a millisecond of work for a task.
constexpr std::int64_t kWindowsWeight = std::int64_t{1} << 17;

struct WindowEntries {
  const CsrView& a;
  std::span<const std::int32_t> starts;
  int height;

  std::int64_t operator()(std::int64_t w) const {
    const std::int64_t first = starts[static_cast<std::size_t>(w)];
    const std::int64_t end = std::min(first + height, a.rows);
    return a.row_ptr[static_cast<std::size_t>(end)] - a.row_ptr[static_cast<std::size_t>(first)];
  }
};

/// Partitions the windows into chunks. Returns the maximum number of tiles to stage.
std::int64_t cut(const WindowEntries& entries_of, std::vector<Chunk>& chunks) {
  const auto windows = static_cast<std::int64_t>(entries_of.starts.size());
  std::int64_t staged = 0, entries = 0;
  Chunk chunk{};
  for (std::int64_t w = 0; w < windows; ++w) {
    const std::int64_t in_window = entries_of(w);
    staged += (in_window + 7) / 8;
    entries += in_window;
    chunk.end_window = w + 1;
    chunk.entries = entries - chunk.first_entry;
    const std::int64_t rows = entries_of.height * (chunk.end_window - chunk.first_window);
    if (chunk.entries + rows < kWindowsWeight && w + 1 < windows) continue;
    chunks.push_back(chunk);
    chunk = {.first_window = w + 1,
             .end_window = w + 1,
             .staged_tile = staged,
             .first_entry = entries,
             .entries = 0};
  }
  return staged;
}

/// Condenses chunks one at a time; one object per thread.
template <class Key>
class ChunkCondenser {
 public:
  ChunkCondenser(const CsrView& a, Condensed& result) : a_(a), result_(result), merger_(result.height) {}

  void run(Chunk& chunk) {
    columns_ = result_.columns.data() + 8 * chunk.staged_tile;
    masks_ = result_.masks.data() + result_.masks_per_tile() * chunk.staged_tile;
    for (std::int64_t w = chunk.first_window; w < chunk.end_window; w += merger_.kBatch) {
      const std::int64_t count = std::min<std::int64_t>(merger_.kBatch, chunk.end_window - w);
      merger_.merge(a_, result_.starts.subspan(static_cast<std::size_t>(w), static_cast<std::size_t>(count)));
      for (int i = 0; i < count; ++i) {
        const std::int64_t tiles = take_window(i);
        result_.row_window_offset[w + i + 1] = static_cast<std::int32_t>(tiles);
        chunk.tiles += tiles;
      }
    }
  }

 private:
  /// Appends the tiles of window i of the batch. Returns their number.
  std::int64_t take_window(int i) {
    const auto capacity = static_cast<std::size_t>(merger_.size(i)) + 8;
    if (low_.size() < capacity) low_.resize(2 * capacity), high_.resize(2 * capacity);
    const std::int64_t distinct = merger_.columns(i, columns_, low_.data(), high_.data());
    const std::int64_t tiles = (distinct + 7) / 8;
    for (std::int64_t c = distinct; c < 8 * tiles; ++c) {
      columns_[c] = columns_[distinct - 1];
      low_[static_cast<std::size_t>(c)] = high_[static_cast<std::size_t>(c)] = 0;
    }
    for (std::int64_t t = 0; t < tiles; ++t) {
      *masks_++ = tile_mask(low_.data() + 8 * t);
      if (result_.height == 16) *masks_++ = tile_mask(high_.data() + 8 * t);
    }
    columns_ += 8 * tiles;
    return tiles;
  }

  static std::uint64_t tile_mask(const std::uint8_t* rows_of_columns) {
    std::uint64_t mask;
    std::memcpy(&mask, rows_of_columns, sizeof mask);
    return transpose_bits(mask);
  }

  const CsrView& a_;
  Condensed& result_;
  WindowMerger<Key> merger_;
  std::vector<std::uint8_t> low_, high_;  ///< row masks of each column of a window
  std::int32_t* columns_ = nullptr;
  std::uint64_t* masks_ = nullptr;
};

template <class Key>
void condense_chunks(const CsrView& a, Condensed& result, Progress* progress) {
  parallel::PerThread<ChunkCondenser<Key>> condensers([&] { return ChunkCondenser<Key>(a, result); });
  parallel::loop(std::size_t{0}, result.chunks.size(), [&](std::size_t i) {
    if (cancelled(progress)) return;
    condensers.local().run(result.chunks[i]);
    advance(progress, result.chunks[i].entries);
  });
}

/// Replaces the tile counts of windows and chunks by offsets, if these fit in 32 bits.
Status number_tiles(Condensed& result, const FormatLayout& layout) {
  for (Chunk& chunk : result.chunks) {
    chunk.first_tile = result.tiles;
    result.tiles += chunk.tiles;
  }
  if (Status s = check_tiles_fit(result.tiles, layout); !s) return s;
  result.row_window_offset[0] = 0;
  for (std::int64_t w = 1; w < result.row_window_offset.size(); ++w)
    result.row_window_offset[w] += result.row_window_offset[w - 1];
  return {};
}

/// Removes the gaps between the chunks, in place: space was allocated for the maximum number of tiles. Pages
/// in gaps were never touched; the pages after the last tile are released.
template <class T>
void close_gaps(const std::vector<Chunk>& chunks, std::int64_t per_tile, std::int64_t tiles,
                Buffer<T>& staged) {
  for (const Chunk& chunk : chunks)
    if (chunk.first_tile != chunk.staged_tile)
      std::memmove(staged.data() + per_tile * chunk.first_tile, staged.data() + per_tile * chunk.staged_tile,
                   static_cast<std::size_t>(per_tile * chunk.tiles) * sizeof(T));
  staged.shrink(per_tile * tiles);
}

}  // namespace

Buffer<std::int32_t> fixed_windows(std::int64_t rows, int height) {
  Buffer<std::int32_t> starts((rows + height - 1) / height);
  for (std::int64_t w = 0; w < starts.size(); ++w) starts[w] = static_cast<std::int32_t>(w * height);
  return starts;
}

Result<Condensed> condense(const CsrView& a, std::span<const std::int32_t> starts, int height,
                           const FormatLayout& layout, Progress* progress) {
  Condensed result;
  result.height = height;
  result.starts = starts;
  result.row_window_offset = Buffer<std::int32_t>(static_cast<std::int64_t>(starts.size()) + 1);
  const std::int64_t staged = cut({a, starts, height}, result.chunks);
  result.columns = Buffer<std::int32_t>(8 * staged);
  result.masks = Buffer<std::uint64_t>(result.masks_per_tile() * staged);
  if (!result.chunks.empty())
    result.entries = result.chunks.back().first_entry + result.chunks.back().entries;

  begin(progress, "convert", result.entries);
  if (a.cols <= WindowMerger<std::uint32_t>::kMaxCols)
    condense_chunks<std::uint32_t>(a, result, progress);
  else
    condense_chunks<std::uint64_t>(a, result, progress);
  if (cancelled(progress)) return fail(Errc::io, "cancelled");
  if (Status s = number_tiles(result, layout); !s) return tl::unexpected(s.error());
  parallel::invoke([&] { close_gaps(result.chunks, 8, result.tiles, result.columns); },
                   [&] { close_gaps(result.chunks, result.masks_per_tile(), result.tiles, result.masks); });
  return result;
}

Status check_offsets_fit(const CsrView& a, const FormatLayout& layout, const char* offsets) {
  if (a.nnz() <= std::numeric_limits<std::uint32_t>::max()) return {};
  return fail(Errc::unsupported, std::string(layout.name) + ": " + offsets +
                                     " counts at most 4294967295 entries, " + "but the matrix has " +
                                     std::to_string(a.nnz()) + "; bmat, rs_tile and csr can hold it");
}

Status check_tiles_fit(std::int64_t tiles, const FormatLayout& layout) {
  if (tiles <= std::numeric_limits<std::int32_t>::max()) return {};
  return fail(Errc::unsupported, std::string(layout.name) + ": row_window_offset would need " +
                                     std::to_string(tiles) +
                                     " tiles, but counts at most 2147483647; use csr");
}

Buffer<std::uint32_t> tile_offsets(const Condensed& tiles) {
  Buffer<std::uint32_t> offsets(tiles.tiles + 1);
  offsets[0] = 0;
  tiles.for_each_chunk([&](const Chunk& chunk) {
    const std::uint64_t* masks = tiles.masks_of(chunk);
    auto entries = static_cast<std::uint32_t>(chunk.first_entry);
    for (std::int64_t t = chunk.first_tile; t < chunk.first_tile + chunk.tiles; ++t) {
      for (int half = 0; half < tiles.masks_per_tile(); ++half)
        entries += static_cast<std::uint32_t>(std::popcount(*masks++));
      offsets[t + 1] = entries;
    }
  });
  return offsets;
}

}  // namespace sptile::formats
