// The tall kernel without a device: how its work is cut, where its lanes read, and the whole product emulated
// lane by lane with the functions that the kernel uses.
#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <set>

#include "formats/convert/tall.hpp"
#include "runtime/cuda/families/tall/lanes.hpp"
#include "runtime/cuda/families/tall/schedule.hpp"
#include "tests/runtime/mma_emulation.hpp"
#include "tests/runtime/random_problem.hpp"

using namespace sptile;
using namespace sptile::test;
using namespace sptile::runtime::cuda;

namespace {

constexpr TallVariant kVariants[] = {{1, 1, 16, 2}, {1, 2, 16, 2}, {1, 4, 8, 2}, {2, 4, 8, 2}};
constexpr TallFamily kFamily = {
    .element_bytes = 4, .sum_bytes = 4, .most_segments = 4, .variants = kVariants};

formats::FormatData tall_data(const formats::Csr& a, int level) {
  auto data = formats::tall_from_csr_at(a.view(), level, {}, nullptr);
  REQUIRE(data);
  return std::move(*data);
}

/// Rows of the window that begins with one.
std::int32_t window_rows(const formats::TallView& a, std::int32_t row) {
  const auto found = std::upper_bound(a.window_row.begin(), a.window_row.end(), row);
  return *found - row;
}

/// Says that every group is in one chunk, every chunk in one item, and every window ends once or in pieces.
void check_plan(const formats::TallView& a, const TallPlan& plan, int most_values) {
  std::int64_t group = 0;
  for (const TallChunk& chunk : plan.chunks) {
    REQUIRE(chunk.group == group);
    REQUIRE(chunk.groups <= kTallChunkGroups);
    std::uint32_t tiles = 0;
    for (std::size_t g = 0; g < kTallChunkGroups; ++g) {
      const std::uint32_t mask = g < chunk.groups ? a.group_mask[static_cast<std::size_t>(group) + g] : 0u;
      for (std::uint32_t s = 0; s < formats::kTallMaxSubWindows; ++s)
        CHECK(chunk.place[s][g] == ((mask >> s & 1u) != 0 ? tiles++ : kTallNoTile));
    }
    CHECK(chunk.tiles == tiles);
    const auto tile = static_cast<std::size_t>(chunk.tile_and_last & ~kTallLast);
    CHECK(static_cast<std::int32_t>(tile) == a.group_tile_offset[static_cast<std::size_t>(group)]);
    CHECK(chunk.value == a.value_offset[tile]);
    CHECK(chunk.value + chunk.values == a.value_offset[tile + tiles]);
    if (chunk.groups > 1) CHECK(chunk.values <= static_cast<std::uint32_t>(most_values));
    group += chunk.groups;
  }
  CHECK(group == std::ssize(a.group_mask));

  // A window ends in a chunk that is marked; each end that is a piece has a slot of its window.
  std::vector<int> seen(plan.chunks.size());
  std::map<std::int32_t, std::set<std::int32_t>> slots;  // by first row of the window
  std::map<std::int32_t, std::int32_t> rows;             // written, by first row
  for (const TallItem& item : plan.items) {
    REQUIRE(item.chunk < item.end_chunk);
    bool first_window = true;
    for (std::int32_t c = item.chunk; c < item.end_chunk; ++c) {
      const TallChunk& chunk = plan.chunks[static_cast<std::size_t>(c)];
      ++seen[static_cast<std::size_t>(c)];
      if ((chunk.tile_and_last & kTallLast) == 0) continue;
      const std::int32_t slot = first_window ? item.head : c + 1 == item.end_chunk ? item.tail : -1;
      first_window = false;
      if (slot < 0)
        CHECK(rows.emplace(chunk.row, chunk.rows).second);
      else
        CHECK(slots[chunk.row].insert(slot).second);
    }
    CHECK((plan.chunks[static_cast<std::size_t>(item.end_chunk) - 1].tile_and_last & kTallLast) != 0);
  }
  for (const auto& [row, mine] : slots) {
    for (const std::int32_t slot : mine)
      CHECK(plan.pieces[static_cast<std::size_t>(slot)] ==
            TallPiece{*mine.begin(), static_cast<std::int32_t>(mine.size())});
    CHECK(*mine.rbegin() - *mine.begin() + 1 == std::ssize(mine));
    CHECK(rows.emplace(row, window_rows(a, row)).second);
  }
  std::size_t count = 0;
  for (const auto& [row, mine] : slots) count += mine.size();
  CHECK(plan.pieces.size() == count);
  for (const int times : seen) CHECK(times == 1);
  std::int32_t next = 0;
  for (const auto& [row, count_of_rows] : rows) {
    CHECK(row == next);
    next += count_of_rows;
  }
  CHECK(next == a.rows);
}

/// A block of the kernel, one stage at a time.
class Block {
 public:
  Block(const formats::TallView& a, const TallShape& shape, const TallVariant& variant, const float* b,
        std::int64_t n, int slice)
      : a_(a), shape_(shape), variant_(variant), b_(b), n_(n), slice_(slice) {
    stage_ = tall_stage(
        {.slice_segments = shape.slice_segments, .values_bytes = kTallValuesBytes, .tiles = kTallChunkTiles});
    memory_.resize(static_cast<std::size_t>(stage_.bytes));
    const auto warps = static_cast<std::size_t>(shape.row_warps * shape.feature_warps);
    sums_.resize(warps * static_cast<std::size_t>(variant.sub_windows * variant.segments * 2));
  }

  /// Brings a chunk as the producer does, in pieces of 16 bytes; what is not brought is poisoned.
  void load(const TallChunk& chunk) {
    std::memset(memory_.data(), 0xFF, memory_.size());
    const std::int64_t first = std::int64_t{slice_} * 32 * shape_.slice_segments;
    for (int row = 0; row < 8 * chunk.groups; ++row) {
      const std::int64_t column = a_.col_id[static_cast<std::size_t>(8 * std::int64_t{chunk.group} + row)];
      for (std::int64_t f = first; f < std::min(n_, first + 32 * shape_.slice_segments); ++f)
        std::memcpy(memory_.data() + row * stage_.pitch + 4 * (f - first), b_ + column * n_ + f, 4);
    }
    const std::uint32_t tile = chunk.tile_and_last & ~kTallLast, tiles = chunk.tiles;
    load_part(stage_.values_at, stage_.bitmaps_at, a_.values.data, a_.nnz, chunk.value, chunk.values, 4);
    load_part(stage_.bitmaps_at, stage_.offsets_at, a_.bitmap.data(), std::ssize(a_.bitmap), tile, tiles, 8);
    load_part(stage_.offsets_at, stage_.chunk_at, a_.value_offset.data(), std::ssize(a_.value_offset), tile,
              tiles, 4);
    std::memcpy(memory_.data() + stage_.chunk_at, &chunk, sizeof chunk);
  }

  void multiply() {
    TallChunk chunk;
    std::memcpy(&chunk, memory_.data() + stage_.chunk_at, sizeof chunk);
    const std::uint32_t first_tile = chunk.tile_and_last & ~kTallLast;
    for (int warp = 0; warp < shape_.row_warps * shape_.feature_warps; ++warp) {
      for (int g = 0; g < kTallChunkGroups; ++g)
        for (int h = 0; h < variant_.sub_windows; ++h) {
          const int sub_window = warp / shape_.feature_warps * variant_.sub_windows + h;
          if (sub_window >= formats::kTallMaxSubWindows) continue;
          const int tile = chunk.place[sub_window][g];
          if (tile == kTallNoTile) continue;
          multiply_tile(warp, h, g, static_cast<int>(first_tile % 2) + tile,
                        static_cast<int>(first_tile % 4) + tile, aligned_down(chunk.value, 4));
        }
    }
  }

  /// Adds the sums to C and clears them.
  void store(const TallChunk& chunk, std::vector<double>& c) {
    for (int warp = 0; warp < shape_.row_warps * shape_.feature_warps; ++warp)
      for (int h = 0; h < variant_.sub_windows; ++h)
        for (int s = 0; s < variant_.segments; ++s)
          for (int j = 0; j < 2; ++j) {
            auto& sum = sums(warp, h, s, j);
            for (int lane = 0; lane < kLanes; ++lane)
              for (int i = 0; i < 2; ++i)
                for (int r = 0; r < 2; ++r) {
                  const int row =
                      8 * (warp / shape_.feature_warps * variant_.sub_windows + h) + lane_result_row(lane, r);
                  const std::int64_t f =
                      std::int64_t{slice_} * 32 * shape_.slice_segments +
                      lane_feature(lane, warp % shape_.feature_warps * variant_.segments + s, 4) + 2 * j + i;
                  double& value = sum[static_cast<std::size_t>(lane)][static_cast<std::size_t>(2 * i + r)];
                  if (row < chunk.rows && f < n_)
                    c[static_cast<std::size_t>((chunk.row + row) * n_ + f)] += value;
                  value = 0;
                }
          }
  }

 private:
  template <class T>
  T read(std::int64_t at) const {
    REQUIRE(at >= 0);
    REQUIRE(at + static_cast<std::int64_t>(sizeof(T)) <= stage_.bytes);
    T x;
    std::memcpy(&x, memory_.data() + at, sizeof x);
    return x;
  }

  void load_part(int at, int end, const void* array, std::int64_t size, std::uint32_t first,
                 std::uint32_t count, int element) {
    const std::int64_t from = std::int64_t{aligned_down(first, element)} * element;
    const std::int64_t bytes = 16 * std::int64_t{pieces_of(first, count, element)};
    CHECK(at + bytes <= end);
    const std::int64_t there = std::min(bytes, size * element - from);
    CHECK(bytes - there < 16);
    if (there > 0)
      std::memcpy(memory_.data() + at, static_cast<const std::byte*>(array) + from,
                  static_cast<std::size_t>(there));
  }

  Fragment<4>& sums(int warp, int h, int s, int j) {
    return sums_[static_cast<std::size_t>(((warp * variant_.sub_windows + h) * variant_.segments + s) * 2 +
                                          j)];
  }

  void multiply_tile(int warp, int h, int group, int bitmap, int offset, std::uint32_t first_value) {
    const auto bits = read<std::uint64_t>(stage_.bitmaps_at + 8 * bitmap);
    const auto start = read<std::uint32_t>(stage_.offsets_at + 4 * offset) - first_value;
    Fragment<2> entries{};
    for (int lane = 0; lane < kLanes; ++lane) {
      const LanePair pair = tall_pair(static_cast<std::uint32_t>(bits),
                                      static_cast<std::uint32_t>(bits >> 32), tall_half(lane));
      for (std::size_t k = 0; k < 2; ++k)
        if (pair.present[k])
          entries[static_cast<std::size_t>(lane)][k] =
              double{read<float>(stage_.values_at + 4 * (std::int64_t{start} + pair.index[k]))};
    }
    for (int s = 0; s < variant_.segments; ++s)
      for (int j = 0; j < 2; ++j) {
        Fragment<4> dense{};
        for (int lane = 0; lane < kLanes; ++lane)
          for (int i = 0; i < 4; ++i) {
            const int segment = warp % shape_.feature_warps * variant_.segments + s;
            const int at = tall_fragment_at(lane, group, i / 2, segment, stage_.pitch) + 4 * (2 * j + i % 2);
            const float x = read<float>(at);
            dense[static_cast<std::size_t>(lane)][static_cast<std::size_t>(i)] = x == x ? double{x} : 0;
          }
        emulate_m16n8k8(sums(warp, h, s, j), dense, entries);
      }
  }

  const formats::TallView& a_;
  const TallShape shape_;
  const TallVariant variant_;
  const float* b_;
  std::int64_t n_;
  int slice_;
  TallStage stage_;
  std::vector<std::byte> memory_;
  std::vector<Fragment<4>> sums_;
};

/// Emulates the kernel and compares it with the double reference.
void check_product(const formats::Csr& a, int level, std::int64_t n, Random& random) {
  CAPTURE(level);
  CAPTURE(n);
  const formats::FormatData data = tall_data(a, level);
  const formats::FormatView format = data.view();
  const formats::TallView view = formats::as_tall(format);
  const TallShape shape = tall_shape(kFamily, 16 << level, 4 * n);
  const std::int64_t slices = (n + 32 * shape.slice_segments - 1) / (32 * shape.slice_segments);
  const TallPlan plan = plan_tall(
      view,
      {.slices = slices, .blocks = 7, .chunk_values = kTallValuesBytes / 4, .equal_shares = level % 2 == 0});
  check_plan(view, plan, kTallValuesBytes / 4);
  const Dense dense(a, n, DType::f32, random);
  std::vector<double> c(static_cast<std::size_t>(a.rows * n));
  for (std::int64_t slice = 0; slice < slices; ++slice) {
    Block block(view, shape, kVariants[shape.variant], dense.b.as<float>().data(), n,
                static_cast<int>(slice));
    for (const TallItem& item : plan.items)
      for (std::int32_t i = item.chunk; i < item.end_chunk; ++i) {
        const TallChunk& chunk = plan.chunks[static_cast<std::size_t>(i)];
        block.load(chunk);
        block.multiply();
        if ((chunk.tile_and_last & kTallLast) != 0) block.store(chunk, c);
      }
  }
  bool right = true;
  for (std::int64_t r = 0; r < a.rows; ++r)
    for (std::int64_t f = 0; f < n; ++f) {
      double expected = 0, size = 0;
      for (std::int64_t k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k) {
        const double product = double{a.values.as<float>()[static_cast<std::size_t>(k)]} *
                               double{dense.b.as<float>()[static_cast<std::size_t>(a.col_idx[k] * n + f)]};
        expected += product;
        size += std::abs(product);
      }
      right = right && std::abs(c[static_cast<std::size_t>(r * n + f)] - expected) <= 1e-13 * size;
    }
  CHECK(right);
}

}  // namespace

TEST_CASE("tall: 16-byte reads of fragments meet no bank twice, and cover every piece of a group once") {
  for (const int segments : {1, 2, 4}) {
    const TallStage stage =
        tall_stage({.slice_segments = segments, .values_bytes = kTallValuesBytes, .tiles = kTallChunkTiles});
    std::map<int, int> times;
    for (int group = 0; group < kTallChunkGroups; ++group)
      for (int segment = 0; segment < segments; ++segment)
        for (int k = 0; k < 2; ++k)
          for (int eight = 0; eight < 4; ++eight) {
            std::set<int> banks;
            for (int lane = 8 * eight; lane < 8 * eight + 8; ++lane) {
              const int at = tall_fragment_at(lane, group, k, segment, stage.pitch);
              CHECK(at % 16 == 0);
              banks.insert(at / 16 % 8);
              ++times[at];
            }
            CHECK(banks.size() == 8);
          }
    CHECK(std::ssize(times) == kTallChunkColumns * segments * 8);
    for (const auto& [at, count] : times) {
      CHECK(count == 1);
      CHECK(at % stage.pitch < 128 * segments);
    }
  }
}

TEST_CASE("tall: the parts of a stage start at multiples of 16 and have room for what stands around them") {
  for (const int tiles : {8, 16, 32, 64})
    for (const int values : {0, 1024, kTallValuesBytes}) {
      const TallStage rows =
          tall_stage({.slice_segments = 2, .values_bytes = values, .places = values / 2, .swizzled = true});
      CHECK(rows.bytes % kSwizzledBytes == 0);
      CHECK(rows.values_at == 32 * 256);
      CHECK(rows.chunk_at + static_cast<int>(sizeof(TallChunk)) <= rows.bytes);
      const TallStage stage = tall_stage({.slice_segments = 4, .values_bytes = values, .tiles = tiles});
      for (const int at :
           {stage.pitch, stage.values_at, stage.bitmaps_at, stage.offsets_at, stage.chunk_at, stage.bytes})
        CHECK(at % 16 == 0);
      CHECK(stage.values_at == 32 * stage.pitch);
      if (values > 0) CHECK(stage.bitmaps_at - stage.values_at >= values + 16);
      CHECK(stage.offsets_at - stage.bitmaps_at >= 8 * tiles + 8);
      CHECK(stage.chunk_at - stage.offsets_at >= 4 * tiles + 12);
    }
}

TEST_CASE("tall: pieces of 16 bytes hold what is wanted") {
  for (const int element : {2, 4, 8})
    for (unsigned first = 0; first < 20; ++first)
      for (unsigned count = 0; count < 40; ++count) {
        const unsigned start = aligned_down(first, element), pieces = pieces_of(first, count, element);
        CHECK(start <= first);
        CHECK(start * static_cast<unsigned>(element) % 16 == 0);
        if (count == 0) {
          CHECK(pieces == 0);
          continue;
        }
        const unsigned end = start + pieces * 16 / static_cast<unsigned>(element);
        CHECK(end >= first + count);
        CHECK(end - (first + count) < 16 / static_cast<unsigned>(element));
      }
}

TEST_CASE("tall: both ways of finding a lane's entries agree") {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    std::uint64_t mask = 0;
    for (int b = 0; b < 64; ++b) mask |= std::uint64_t{random() % 3 == 0} << b;
    if (i == 0) mask = 0;
    if (i == 1) mask = ~std::uint64_t{0};
    const auto low = static_cast<std::uint32_t>(mask), high = static_cast<std::uint32_t>(mask >> 32);
    for (int lane = 0; lane < kLanes; ++lane) {
      const LanePair x = row_major_pair(low, high, lane_prefix(lane)),
                     y = tall_pair(low, high, tall_half(lane));
      for (int k = 0; k < 2; ++k) {
        CHECK(x.present[k] == y.present[k]);
        if (x.present[k]) CHECK(x.index[k] == y.index[k]);
      }
    }
  }
}

TEST_CASE("tall: every height and width finds a shape that covers windows and slices") {
  for (const int height : {8, 16, 24, 32, 64, 72, 128})
    for (const std::int64_t bytes : {1, 4, 64, 128, 129, 256, 400, 512, 4096}) {
      const TallShape shape = tall_shape(kFamily, height, bytes);
      const TallVariant& variant = kVariants[shape.variant];
      CHECK(8 * variant.sub_windows * shape.row_warps >= height);
      CHECK(variant.segments * shape.feature_warps == shape.slice_segments);
      CHECK(shape.row_warps * shape.feature_warps <= variant.warps);
      CHECK(128 * shape.slice_segments >= std::min<std::int64_t>(bytes, 512));
    }
}

TEST_CASE("tall: dense tiles of 16 bits have the smallest shape that covers windows and slices") {
  static constexpr TallVariant kDense[] = {
      {8, 1, 4, 2}, {8, 2, 4, 2}, {8, 4, 4, 2}, {16, 1, 4, 2}, {16, 2, 4, 2}};
  const TallFamily kHalves = {
      .element_bytes = 2, .sum_bytes = 4, .most_segments = 4, .variants = kDense, .dense = true};
  for (const int height : {8, 64, 72, 128})
    for (std::int64_t bytes = 64; bytes <= 2048; bytes += 2) {
      const TallShape shape = tall_shape(kHalves, height, bytes);
      const TallVariant& variant = kDense[shape.variant];
      const int widest = height <= 64 ? 4 : 2;
      CHECK(variant.sub_windows == (height <= 64 ? 8 : 16));
      CHECK(shape.slice_segments == variant.segments);
      CHECK(shape.row_warps * shape.feature_warps == 4);
      CHECK(128 * shape.slice_segments >= std::min<std::int64_t>(bytes, 128 * widest));
      if (shape.slice_segments > 1) CHECK(bytes > 64 * shape.slice_segments);
      const std::int64_t least = tall_least_row_bytes(kHalves, shape, bytes);
      for (const std::int64_t other : {least, bytes}) {
        const TallShape same = tall_shape(kHalves, height, other);
        CHECK(same.variant == shape.variant);
        CHECK(tall_slices(same, other) == tall_slices(shape, bytes));
      }
      const TallShape less = tall_shape(kHalves, height, least - 1);
      CHECK((least == 1 || less.variant != shape.variant ||
             tall_slices(less, least - 1) < tall_slices(shape, bytes)));
    }
}

TEST_CASE("tall: swizzled rows of B fill blocks, and columns of a block are in different banks") {
  for (const int segments : {1, 2, 4}) {
    std::set<int> seen;
    for (int row = 0; row < kTallChunkColumns; ++row)
      for (int piece = 0; piece < 8 * segments; ++piece) {
        const int at = tall_swizzled_at(row, piece, segments);
        CHECK(at % 16 == 0);
        CHECK(at / kSwizzledBytes == row / 8 * segments + piece / 8);
        // The hardware exchanges bits 4 to 6 of an address by bits 7 to 9.
        const int plain = at ^ (at >> 7 & 7) << 4;
        CHECK(plain % kSwizzledBytes == row % 8 * 128 + piece % 8 * 16);
        seen.insert(at);
      }
    CHECK(std::ssize(seen) == kTallChunkColumns * 8 * segments);
    CHECK(*seen.rbegin() + 16 == kTallChunkColumns * kTallSegmentBytes * segments);
    for (int piece = 0; piece < 8; ++piece) {
      std::set<int> banks;
      for (int row = 0; row < 8; ++row) banks.insert(tall_swizzled_at(row, piece, segments) / 16 % 8);
      CHECK(banks.size() == 8);
    }
    // A copy of several rows by a warp has the addresses of the first one with other bits.
    const int together = 4 / segments;
    for (int row = 0; row < together; ++row)
      for (int s = 0; s < 8 / together; ++s)
        CHECK(tall_swizzled_at(s * together + row, 5, segments) ==
              (tall_swizzled_at(row, 5, segments) ^ tall_swizzled_at(s * together, 0, 1)));
  }
}

TEST_CASE("tall: dense tiles and lanes of the result cover each element once") {
  for (const int bytes : {2, 4}) {
    std::set<int> places;
    for (int group = 0; group < kTallChunkGroups; ++group)
      for (int sub_window = 0; sub_window < 16; ++sub_window)
        for (int row = 0; row < 8; ++row)
          for (int column = 0; column < 8; ++column)
            places.insert(tall_dense_at(bytes, group, sub_window, 16, row, column));
    CHECK(places.size() == 4096);
    CHECK(*places.rbegin() == 4095);
  }
  std::set<std::pair<int, int>> stored;
  for (int warp = 0; warp < 4; ++warp)
    for (int lane = 0; lane < kLanes; ++lane)
      for (int block = 0; block < 2; ++block)
        for (int r = 0; r < 2; ++r)
          for (int c = 0; c < 4; ++c)
            stored.emplace(tall_upright_row(warp, lane, block, r), tall_upright_column(lane) + c);
  CHECK(stored.size() == 128 * 16);
  CHECK(*stored.rbegin() == std::pair(127, 15));
}

TEST_CASE("tall: cutting covers everything, whatever the number of blocks") {
  Random random(2);
  const auto skewed = [](std::int64_t r, std::int64_t) { return r == 70 ? 0.9 : r % 300 < 40 ? 0.0 : 0.01; };
  const formats::Csr a = random_matrix(900, 3000, DType::f32, random, skewed);
  for (int level = 0; level < 4; ++level) {
    const formats::FormatData data = tall_data(a, level);
    const formats::FormatView format = data.view();
    const formats::TallView view = formats::as_tall(format);
    for (const std::int64_t blocks : {1, 10, 264, 100000})
      for (const int values : {1024, 2048})
        for (const bool equal : {false, true}) {
          const TallPlan plan =
              plan_tall(view, {.slices = 1, .blocks = blocks, .chunk_values = values, .equal_shares = equal});
          check_plan(view, plan, values);
          if (blocks == 264 && level == 3) CHECK(!plan.pieces.empty());
          if (equal) CHECK(std::ssize(plan.items) <= blocks);
        }
  }
}

TEST_CASE("tall: the kernel emulated lane by lane agrees with the reference") {
  Random random(3);
  for (int level = 0; level < 4; ++level) {
    check_product(random_matrix(300, 200, 0.1, DType::f32, random), level, 128, random);
    check_product(random_matrix(130, 90, 0.02, DType::f32, random), level, 40, random);
    check_product(random_matrix(70, 60, 0.9, DType::f32, random), level, 200, random);
    check_product(random_matrix(33, 70, 0.3, DType::f32, random), level, 7, random);
    check_product(random_matrix(1, 1, 1, DType::f32, random), level, 1, random);
    check_product(random_matrix(50, 3000, 0.5, DType::f32, random), level, 32, random);
    check_product(random_matrix(40, 40, 0, DType::f32, random), level, 33, random);
  }
}
