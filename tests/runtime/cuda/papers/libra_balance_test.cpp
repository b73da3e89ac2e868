// Libra's balance: what is cut, and which segments must add by atomic operations.
#include "runtime/cuda/papers/libra_streams/balance.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "formats/convert/libra_sddmm.hpp"
#include "formats/convert/libra_spmm.hpp"
#include "runtime/cuda/papers/libra_streams/schedule.hpp"
#include "runtime/cuda/papers/libra_streams/sddmm_schedule.hpp"
#include "tests/formats/sample_matrices.hpp"

using namespace sptile;
using namespace sptile::runtime::cuda;

namespace {

/// Offsets and rows of a matrix; its columns and values do not matter.
struct Parts {
  std::vector<std::int32_t> window_offset, residual_rows;
  std::vector<std::int64_t> residual_offset;
  std::int64_t rows = 0;

  [[nodiscard]] formats::LibraView view() const {
    formats::LibraView a;
    a.rows = rows;
    a.row_window_offset = window_offset;
    a.residual_row_id = residual_rows;
    a.residual_row_offset = residual_offset;
    return a;
  }
};

/// The example of the paper's figure 8, with its sizes: window 0 has tiles and a row that are cut, window 1 a
/// row that is, windows 2 and 3 are short and of one kind.
const Parts kFigure = {{0, 5, 8, 10, 10}, {0, 3, 9, 12, 25, 26}, {0, 7, 9, 20, 21, 23, 26}, 32};
constexpr LibraSizes kSizes = {.blocks = 4, .entries = 5, .short_length = 2};

LibraBalance balance_of(const Parts& parts, LibraMode mode, const LibraSizes& sizes = kSizes) {
  LibraBalance balance = cut_windows(parts.view(), sizes, 1);
  flag_atomic(balance, (parts.rows + 7) / 8, mode);
  return balance;
}

/// A matrix with tiles, long and short rows.
const formats::FormatData& both_parts() {
  static const formats::FormatData data = *formats::libra_spmm_from_csr_at(
      tests::make_csr(100, tests::random_rows(100, 100, 0.1, 7), DType::f32).view(), 3, nullptr);
  return data;
}

/// Schedule of a matrix with both parts for 1000 multiprocessors, on which the paper's thresholds are not
/// reached.
Schedule schedule_with(const LibraPolicy& policy, std::span<const KernelCost> costs = {}) {
  constexpr TileVariant kVariants[] = {{.features = 32, .elements = 4, .warps_per_sm = 16, .least_cost = 0}};
  const DeviceInfo device = {.capability = 90, .sm_count = 1000};
  const formats::FormatView view = both_parts().view();
  return schedule_libra_streams({.format = view, .n = 32, .device = device, .costs = costs}, policy,
                                {.dense = DType::f32,
                                 .variants = kVariants,
                                 .tile_blocks_per_sm = [](int, int) { return 1; },
                                 .row_blocks_per_sm = [](int) { return 1; },
                                 .row_threads = 128,
                                 .short_blocks_per_sm = [](int) { return 1; },
                                 .short_threads = 128});
}

const LibraStreamsHeader& header_of(const Schedule& schedule) {
  return schedule.header.as<LibraStreamsHeader>();
}
bool two_streams(const LibraPolicy& policy, std::span<const KernelCost> costs = {}) {
  return header_of(schedule_with(policy, costs)).two_streams;
}

template <class T>
std::vector<T> part(const Schedule& schedule, std::int64_t at, std::int64_t count) {
  std::vector<T> elements(static_cast<std::size_t>(count));
  if (!elements.empty())
    std::memcpy(elements.data(), schedule.bytes.data() + at, sizeof(T) * elements.size());
  return elements;
}

}  // namespace

TEST_CASE("libra_balance: windows and long rows are cut, short rows are not") {
  const LibraBalance b = balance_of(kFigure, LibraMode::sequential);
  CHECK(b.window_offset == std::vector<std::int32_t>{0, 4, 5, 8, 10});
  CHECK(b.cur_window == std::vector<std::int32_t>{0, 0, 1, 2});
  CHECK(b.row_offset == std::vector<std::int64_t>{0, 5, 7, 9, 14, 19, 20, 21, 23, 26});
  CHECK(b.cur_row == std::vector<std::int32_t>{0, 0, 3, 9, 9, 9, 12, 25, 26});
  CHECK(b.is_short == std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 1, 0, 0});
}

TEST_CASE("libra_balance: segments of windows are counted in blocks of two tiles") {
  const LibraBalance b = cut_windows(kFigure.view(), {.blocks = 2, .entries = 5, .short_length = 2}, 2);
  CHECK(b.window_offset == std::vector<std::int32_t>{0, 4, 5, 8, 10});
  const LibraBalance odd = cut_windows(kFigure.view(), {.blocks = 1}, 2);
  CHECK(odd.window_offset == std::vector<std::int32_t>{0, 2, 4, 5, 7, 8, 10});
}

TEST_CASE("libra_balance: both parts cut, one part cut, nothing cut") {
  const LibraBalance b = balance_of(kFigure, LibraMode::sequential);
  // Windows 0 and 1: all segments, also the tiles of window 1 and the short rows. Windows 2 and 3: none.
  CHECK(b.atomic == std::vector<std::uint8_t>{1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0});
  CHECK(rows_to_scale(b, 32) == std::vector<std::int32_t>{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                                          11, 12, 13, 14, 15, 24, 27, 28, 29, 30, 31});
}

TEST_CASE("libra_balance: tiles that are cut make the rows of their window atomic") {
  const Parts parts = {{0, 9, 10}, {2, 8}, {0, 1, 2}, 16};
  CHECK(balance_of(parts, LibraMode::sequential).atomic == std::vector<std::uint8_t>{1, 1, 1, 0, 1, 0});
}

TEST_CASE("libra_balance: side by side, a window with both parts is atomic even when nothing is cut") {
  const Parts parts = {{0, 2, 2, 4}, {1, 9}, {0, 2, 4}, 20};
  const LibraBalance sequential = balance_of(parts, LibraMode::sequential);
  CHECK(sequential.atomic == std::vector<std::uint8_t>{0, 0, 0, 0});
  CHECK(rows_to_scale(sequential, 20) == std::vector<std::int32_t>{8, 10, 11, 12, 13, 14, 15});
  const LibraBalance two_streams = balance_of(parts, LibraMode::two_streams);
  CHECK(two_streams.atomic == std::vector<std::uint8_t>{1, 0, 1, 0});
  CHECK(rows_to_scale(two_streams, 20) ==
        std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15});
}

TEST_CASE("libra_balance: a cut row in a window without tiles leaves the others alone") {
  const Parts parts = {{0, 0}, {1, 2}, {0, 6, 7}, 4};
  const LibraBalance b = balance_of(parts, LibraMode::two_streams);
  CHECK(b.atomic == std::vector<std::uint8_t>{1, 1, 0});
  CHECK(rows_to_scale(b, 4) == std::vector<std::int32_t>{0, 1, 3});
}

TEST_CASE("libra_balance: without cuts, and without rows") {
  const LibraBalance b = balance_of(kFigure, LibraMode::sequential, kLibraUncut);
  CHECK(b.cur_window == std::vector<std::int32_t>{0, 1, 2});
  CHECK(b.cur_row == kFigure.residual_rows);
  CHECK(b.row_offset == kFigure.residual_offset);
  CHECK(b.atomic == std::vector<std::uint8_t>(9, 0));
  const LibraBalance none = balance_of({{0}, {}, {0}, 0}, LibraMode::two_streams);
  CHECK(none.atomic.empty());
  CHECK(rows_to_scale(none, 0).empty());
}

TEST_CASE("libra_balance: two streams only when neither part fills the device") {
  CHECK(choose_mode({3.9, 38.2}) == LibraMode::two_streams);
  CHECK(choose_mode({3.92, 0}) == LibraMode::sequential);
  CHECK(choose_mode({0, 38.3}) == LibraMode::sequential);
  CHECK(choose_mode({1, 1}, {.tiles = 0.5, .rows = 2}) == LibraMode::sequential);
}

TEST_CASE("libra_balance: occupancy thresholds of the request, else the paper's") {
  const formats::FormatView format;
  const runtime::cuda::DeviceInfo device;
  const auto read = [&](std::vector<runtime::cuda::KernelCost> costs) {
    return runtime::cuda::libra_occupancy({format, 32, device, costs});
  };
  const runtime::cuda::LibraOccupancy paper;
  CHECK(read({}).tiles == paper.tiles);
  CHECK(read({}).rows == paper.rows);
  CHECK(read({{"occupancy_tiles", 7}}).tiles == 7);
  CHECK(read({{"occupancy_tiles", 7}}).rows == paper.rows);
  CHECK(read({{"occupancy_rows", -2}}).rows == paper.rows);
}

TEST_CASE("libra_streams: only the fitted policy compares with the thresholds of the profile") {
  const KernelCost low[] = {{"occupancy_tiles", 1e-6}, {"occupancy_rows", 1e-6}};
  const LibraRatios ratios = header_of(schedule_with({})).ratios;
  REQUIRE(ratios.tiles > 0);
  REQUIRE(ratios.rows > 0);
  CHECK(two_streams({}, low));
  CHECK(two_streams({.sizes = kLibraUncut}, low));
  CHECK_FALSE(two_streams({.fitted = true}, low));
  CHECK(two_streams({.fitted = true}));  // the profile has no thresholds
}

TEST_CASE("libra_streams: the device cuts the segments of a matrix that is there, else the host") {
  static int calls = 0;
  static bool fails = false;
  const CutOnDevice cut = [](const formats::LibraView& a, const LibraSizes& sizes,
                             int block_tiles) -> Result<DeviceBalance> {
    ++calls;
    if (fails) return fail(Errc::device, "no memory");
    DeviceBalance result{cut_windows(a, sizes, block_tiles), {}};
    result.flags.assign(result.balance.cur_window.size() + result.balance.cur_row.size(),
                        segment_flags(true, false));
    return result;
  };
  const formats::FormatView view = both_parts().view();
  const DeviceInfo device;
  CHECK(cut_segments({.format = view, .device = device}, {}, 1, cut).flags.empty());
  CHECK(calls == 0);
  const ScheduleRequest there{.format = view, .device = device, .on_device = &view};
  CHECK(cut_segments(there, {}, 1, nullptr).flags.empty());
  DeviceBalance balance = cut_segments(there, {}, 1, cut);
  CHECK(calls == 1);
  balance.set_mode(LibraMode::sequential);
  CHECK(std::ranges::count(balance.balance.atomic, 1) == std::ssize(balance.flags));
  balance.set_mode(LibraMode::two_streams);
  CHECK(std::ranges::count(balance.balance.atomic, 0) == std::ssize(balance.flags));
  fails = true;
  balance = cut_segments(there, {}, 1, cut);
  CHECK(calls == 2);
  CHECK(balance.flags.empty());
  CHECK(balance.balance.cur_window == cut_windows(formats::as_libra(view), {}, 1).cur_window);
}

TEST_CASE("libra_streams: long rows are in runs, short rows in the other list, each residual entry once") {
  const formats::LibraView a = formats::as_libra(both_parts().view());
  for (const std::int64_t short_length : {0, 1, 3, 100}) {
    CAPTURE(short_length);
    const Schedule schedule = schedule_with({.sizes = {.short_length = short_length}});
    const LibraStreamsHeader& header = header_of(schedule);
    const CsrHeader& csr = header.parts.rows.csr;
    std::vector<int> uses(a.residual_col_id.size());
    const auto use = [&](std::int64_t entry, std::int64_t count) {
      for (std::int64_t i = entry; i < entry + count; ++i) ++uses[static_cast<std::size_t>(i)];
    };
    for (const CsrRun& run : part<CsrRun>(schedule, csr.runs_at, csr.runs)) {
      const std::int64_t entries = run.entries_and_rows >> 8, rows = run.entries_and_rows & 0xFF;
      CHECK(rows <= kMaxRunRows);
      CHECK(entries >= rows * short_length);
      use(run.entry, entries);
    }
    for (const ShortSegment& row : part<ShortSegment>(schedule, header.short_at, header.short_count)) {
      CHECK(row.entries < short_length);
      use(row.entry, row.entries);
    }
    CHECK(uses == std::vector<int>(uses.size(), 1));
    CHECK((header.short_count > 0) == (short_length > 1));
    CHECK((csr.runs > 0) == (short_length < 100));
  }
}

namespace {

/// A matrix in 8x16 blocks and rows: a window of 38 blocks, then short rows and one of 100 nonzeros.
const formats::FormatData& sddmm_parts() {
  static const formats::FormatData data = [] {
    std::vector<std::vector<std::int32_t>> rows(40);
    for (std::int32_t r = 0; r < 8; ++r)
      for (std::int32_t c = 0; c < 600; ++c) rows[static_cast<std::size_t>(r)].push_back(c);
    for (std::int32_t r = 8; r < 40; ++r)
      for (std::int32_t c = 0; c < (r == 20 ? 100 : r % 4); ++c)
        rows[static_cast<std::size_t>(r)].push_back(7 * c + r);
    return *formats::libra_sddmm_from_csr_at(tests::make_csr(640 + 60, rows, DType::f32).view(), 24, nullptr);
  }();
  return data;
}

Schedule sddmm_schedule(const LibraPolicy& policy, int sm_count = 1000) {
  const DeviceInfo device = {.capability = 90, .sm_count = sm_count};
  const formats::FormatView view = sddmm_parts().view();
  return schedule_libra_sddmm({.format = view, .n = 32, .device = device}, policy, {1, 1, 1, 4, 16});
}

const LibraSddmmHeader& sddmm_header(const Schedule& schedule) {
  return schedule.header.as<LibraSddmmHeader>();
}

}  // namespace

TEST_CASE("libra_sddmm: windows are cut after 16 blocks, long rows after 32 nonzeros, short rows are not") {
  const formats::LibraView a = formats::as_libra(sddmm_parts().view());
  const Schedule schedule = sddmm_schedule({});
  const LibraSddmmHeader& header = sddmm_header(schedule);
  const auto items = part<SddmmItem>(schedule, header.parts.items_at, header.parts.item_count);
  REQUIRE(items.size() == 3);
  CHECK(items[0] == SddmmItem{0, 0, 32, 0});
  CHECK(items[1] == SddmmItem{a.tc_offset[32], 32, 64, 0});
  CHECK(items[2] == SddmmItem{a.tc_offset[64], 64, 76, 0});
  std::vector<int> uses(a.residual_col_id.size());
  const auto use = [&](const SddmmSegment& segment) {
    for (std::int64_t i = segment.entry; i < segment.entry + segment.entries; ++i)
      ++uses[static_cast<std::size_t>(i)];
  };
  for (const SddmmSegment& segment : part<SddmmSegment>(schedule, header.long_at, header.long_count)) {
    CHECK((segment.row == 20 || segment.entries == 3));
    CHECK(segment.entries <= 32);
    use(segment);
  }
  for (const SddmmSegment& segment : part<SddmmSegment>(schedule, header.short_at, header.short_count)) {
    CHECK(segment.entries == segment.row % 4);
    use(segment);
  }
  CHECK(header.short_entries == 2);
  CHECK(uses == std::vector<int>(uses.size(), 1));
}

TEST_CASE("libra_sddmm: without cuts an item is a window, a segment a row") {
  const Schedule schedule = sddmm_schedule({.sizes = kLibraUncut});
  const LibraSddmmHeader& header = sddmm_header(schedule);
  CHECK(header.parts.item_count == 1);
  CHECK(header.long_count + header.short_count ==
        std::ssize(formats::as_libra(sddmm_parts().view()).residual_row_id));
}

TEST_CASE("libra_sddmm: the mode follows the occupancy of all heads") {
  // On one multiprocessor: one block of tiles, one or two of rows, with a resident block of each kernel.
  const Schedule schedule = sddmm_schedule({}, 1);
  const LibraSddmmHeader& header = sddmm_header(schedule);
  CHECK(header.ratios.tiles == 1);
  CHECK(header.two_streams);
  CHECK(header.concurrent(3));
  CHECK_FALSE(header.concurrent(4));  // 4 blocks of tiles exceed 3.91
  CHECK(sddmm_header(sddmm_schedule({.mode = LibraMode::two_streams}, 1)).concurrent(4));
  CHECK_FALSE(sddmm_header(sddmm_schedule({.mode = LibraMode::sequential}, 1)).concurrent(1));
}
