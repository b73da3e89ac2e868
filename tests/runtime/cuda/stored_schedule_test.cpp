// Stored schedules are restored unchanged, and damaged ones are refused. The property "stored" runs restored
// schedules.
#include "runtime/cuda/stored_schedule.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <string>

#include "formats/convert/libra_spmm.hpp"
#include "formats/convert/tall.hpp"
#include "formats/core/random.hpp"
#include "runtime/cuda/collective/csr_schedule.hpp"
#include "runtime/cuda/collective/direct_schedule.hpp"
#include "runtime/cuda/families/csr/resident.hpp"
#include "runtime/cuda/families/csr/shares.hpp"
#include "runtime/cuda/families/csr/stream.hpp"
#include "runtime/cuda/families/sddmm/schedule.hpp"
#include "runtime/cuda/families/tall/schedule.hpp"
#include "runtime/cuda/families/tile/hybrid_schedule.hpp"
#include "runtime/cuda/families/tile/schedule.hpp"
#include "runtime/cuda/papers/acc/balance.hpp"
#include "runtime/cuda/papers/rsh/pieces.hpp"
#include "tests/runtime/random_problem.hpp"

using namespace sptile;
using namespace sptile::test;
using namespace sptile::runtime::cuda;
using runtime::StoredSchedule;

namespace {

constexpr TileVariant kTileVariants[] = {{32, 4, 16, 0}, {64, 4, 16, 12}};
constexpr TallVariant kTallVariants[] = {{1, 1, 16, 2}, {1, 4, 8, 2}, {2, 4, 8, 2}};
constexpr TallFamily kTall = {
    .element_bytes = 4, .sum_bytes = 4, .most_segments = 4, .variants = kTallVariants};

constexpr TallVariant kDenseVariants[] = {{8, 1, 4, 2}, {16, 1, 4, 2}};
constexpr TallFamily kDense = {.element_bytes = 4,
                               .sum_bytes = 4,
                               .least_segments = 4,
                               .most_segments = 4,
                               .variants = kDenseVariants,
                               .dense = true};

/// A family as its instances have it, for f32.
struct Family {
  const char* format;
  Schedule (*schedule)(const ScheduleRequest& request);
  ScheduleStore store;
};

TileRequest tiles_of(const ScheduleRequest& request) {
  return {request.format, request.n, 4, kTileVariants, request.device};
}

CsrRows rows_of(const ScheduleRequest& request) { return {formats::as_csr(request.format).row_ptr}; }

template <class Header>
Schedule with_header(Header (*append)(Schedule&, const ScheduleRequest&), const ScheduleRequest& request) {
  Schedule schedule;
  schedule.header.set(append(schedule, request));
  return schedule;
}

template <class Header>
Result<Schedule> restored(Header (*read)(ScheduleReader&, Schedule&, const ScheduleRequest&),
                          const ScheduleRequest& request, const StoredSchedule& stored) {
  return restore_schedule(
      stored, [&](ScheduleReader& reader, Schedule& schedule) { return read(reader, schedule, request); });
}

CsrHeader append_rows(Schedule& s, const ScheduleRequest& r) {
  return append_csr(s, rows_of(r), DType::f32, r.n, r.device);
}
CsrHeader read_rows(ScheduleReader& reader, Schedule& s, const ScheduleRequest& r) {
  return read_csr(reader, s, rows_of(r), DType::f32, r.n);
}
template <DivideWindows kDivide>
TileRequest divided_tiles(const ScheduleRequest& r) {
  TileRequest tiles = tiles_of(r);
  tiles.divide = kDivide;
  return tiles;
}
template <DivideWindows kDivide>
TileHeader append_divided(Schedule& s, const ScheduleRequest& r) {
  return append_tiles(s, divided_tiles<kDivide>(r));
}
template <DivideWindows kDivide>
TileHeader read_divided(ScheduleReader& reader, Schedule& s, const ScheduleRequest& r) {
  return read_tiles(reader, s, divided_tiles<kDivide>(r));
}
TileHeader append_tile(Schedule& s, const ScheduleRequest& r) { return append_tiles(s, tiles_of(r)); }
TileHeader read_tile(ScheduleReader& reader, Schedule& s, const ScheduleRequest& r) {
  return read_tiles(reader, s, tiles_of(r));
}
HybridHeader append_hybrid(Schedule& s, const ScheduleRequest& r) {
  HybridHeader header;
  header.tiles = append_tile(s, r);
  header.rows = append_residual(s, r.format, DType::f32, r.n, r.device);
  return header;
}
HybridHeader read_hybrid(ScheduleReader& reader, Schedule& s, const ScheduleRequest& r) {
  HybridHeader header;
  header.tiles = read_tile(reader, s, r);
  header.rows = read_residual(reader, s, r.format, DType::f32, r.n);
  return header;
}
template <const TallFamily& kFamily>
TallHeader append_tall_of(Schedule& s, const ScheduleRequest& r) {
  return append_tall(s, r, kFamily);
}
template <const TallFamily& kFamily>
TallHeader read_tall_of(ScheduleReader& reader, Schedule& s, const ScheduleRequest& r) {
  return read_tall(reader, s, r, kFamily);
}

/// Nothing but the rows divides them, and no number is stored.
std::vector<std::int64_t> no_numbers(const ScheduleHeader& /*header*/) { return {}; }

Family resident_family() {
  return {"csr",
          [](const ScheduleRequest& r) { return resident_schedule(r, DType::f32); },
          {kResidentVersion, no_numbers, [](const ScheduleRequest& r, const StoredSchedule& stored) {
             return read_resident(r, stored, DType::f32);
           }}};
}
Family stream_family() {
  return {"csr",
          [](const ScheduleRequest& r) { return stream_schedule(rows_of(r).row_ptr, sizeof(float)); },
          {kStreamVersion, no_numbers, [](const ScheduleRequest& r, const StoredSchedule& stored) {
             return read_stream(stored, rows_of(r).row_ptr, sizeof(float));
           }}};
}

SharesShape shares_of(const ScheduleRequest& r) {
  return shares_shape(rows_of(r).row_ptr.back(), 4, 2, 8, r.device);
}
Family shares_family() {
  return {"csr",
          [](const ScheduleRequest& r) {
            return shares_schedule(rows_of(r).row_ptr, shares_of(r), {r.n, 4 * r.n});
          },
          {kSharesVersion, no_numbers, [](const ScheduleRequest& r, const StoredSchedule& stored) {
             return read_shares(stored, rows_of(r).row_ptr, shares_of(r), {r.n, 4 * r.n});
           }}};
}

/// `kSumBytes` is 0 for SDDMM, which adds up no segments.
template <std::int64_t kSumBytes>
DirectRequest direct_request(std::int64_t n) {
  const DirectShape shape = direct_shape(n, csr_vector(DType::f32));
  return {shape, shape.slices(n), kSumBytes};
}
template <std::int64_t kSumBytes>
Family direct_family() {
  return {"csr",
          [](const ScheduleRequest& r) {
            return direct_schedule(rows_of(r).row_ptr, direct_request<kSumBytes>(r.n), r.device);
          },
          {kDirectVersion, direct_numbers, [](const ScheduleRequest& r, const StoredSchedule& stored) {
             return read_direct(stored, rows_of(r).row_ptr, direct_request<kSumBytes>(r.n), r.device);
           }}};
}

template <class Header, Header (*kAppend)(Schedule&, const ScheduleRequest&),
          Header (*kRead)(ScheduleReader&, Schedule&, const ScheduleRequest&),
          std::vector<std::int64_t> (*kNumbers)(const Header&)>
Family family(const char* format) {
  return {format,
          [](const ScheduleRequest& request) { return with_header(kAppend, request); },
          {1, [](const ScheduleHeader& header) { return kNumbers(header.as<Header>()); },
           [](const ScheduleRequest& request, const StoredSchedule& stored) {
             return restored(kRead, request, stored);
           }}};
}

std::vector<Family> families() {
  constexpr auto tiles = family<TileHeader, append_tile, read_tile, tile_numbers>;
  constexpr auto hybrid = family<HybridHeader, append_hybrid, read_hybrid, hybrid_numbers>;
  std::vector<Family> all = {
      family<CsrHeader, append_rows, read_rows, csr_numbers>("csr"),
      family<TallHeader, append_tall_of<kTall>, read_tall_of<kTall>, tall_numbers>("tall"),
      family<TallHeader, append_tall_of<kDense>, read_tall_of<kDense>, tall_numbers>("tall"),
      resident_family(),
      stream_family(),
      shares_family(),
      direct_family<4>(),
      direct_family<0>()};
  for (const char* format : {"bittcf", "bmat", "me_tcf", "rs_tile"}) all.push_back(tiles(format));
  all.push_back(family<TileHeader, append_divided<divide_acc_balanced>, read_divided<divide_acc_balanced>,
                       tile_numbers>("bittcf"));
  all.push_back(family<TileHeader, append_divided<divide_stored>, read_divided<divide_stored>, tile_numbers>(
      "rs_tile"));
  for (const char* format : {"libra_spmm", "libra_sddmm", "hc_window"}) all.push_back(hybrid(format));
  for (const char* format :
       {"csr", "bittcf", "bmat", "me_tcf", "rs_tile", "libra_spmm", "libra_sddmm", "hc_window"})
    all.push_back({format, schedule_sddmm, kSddmmStore});
  return all;
}

/// Empty rows, short ones, some that are cut.
formats::Csr sample_matrix(Random& random, double long_row = 0.9) {
  return random_matrix(120, 700, DType::f32, random, [=](std::int64_t r, std::int64_t c) {
    if (r % 5 == 0) return r % 2 == 0 ? 0.0 : 0.004;
    return r % 40 == 17 ? long_row : (r / 8 + c / 16) % 5 == 0 ? 0.04 : 0.002;
  });
}

DeviceInfo device(int sm_count) {
  return {.capability = 90, .sm_count = sm_count, .l2_bytes = 1 << 18, .shared_per_block = 227 << 10};
}

/// What was made of a matrix, ready to be changed.
struct Sample {
  const Family& family;
  const formats::FormatView format;
  std::int64_t n;
  DeviceInfo on;
  std::vector<std::byte> bytes;
  std::vector<std::int64_t> numbers;

  Sample(const Family& f, const formats::FormatView& view, std::int64_t columns, int sm_count)
      : family(f), format(view), n(columns), on(device(sm_count)) {
    Schedule made = family.schedule({format, n, on});
    numbers = family.store.numbers(made.header);
    bytes = std::move(made.bytes);
  }
  [[nodiscard]] Result<Schedule> restore() const {
    return family.store.restore({format, n, on}, {numbers, bytes});
  }
};

/// Visits samples of every family.
template <class F>
void for_each_sample(const F& f) {
  Random random(3);
  const formats::Csr a = sample_matrix(random);
  for (const Family& family : families()) {
    CAPTURE(family.format);
    const Formatted formatted = format_matrix(a, family.format, {});
    for (const std::int64_t n : {32, 200})
      for (const int sm_count : {1, 132}) {
        CAPTURE(n);
        CAPTURE(sm_count);
        f(Sample(family, formatted.data.view(), n, sm_count));
      }
  }
}

}  // namespace

TEST_CASE("stored schedules: what was made comes back") {
  int cut = 0, teams = 0;  // so that no part of a schedule is never there
  for_each_sample([&](const Sample& sample) {
    const std::string_view format = sample.family.format;
    if (sample.numbers.size() > 1 && sample.numbers[1] > 0) ++cut;
    if (format == "bmat" && sample.numbers.size() > 2 && sample.numbers[2] > 0) ++teams;
    const auto restored = sample.restore();
    REQUIRE_MESSAGE(restored, restored.error().message);
    CHECK(sample.family.store.numbers(restored->header) == sample.numbers);
    CHECK(restored->workspace_bytes ==
          sample.family.schedule({sample.format, sample.n, sample.on}).workspace_bytes);
    CHECK(restored->contents().data() == sample.bytes.data());
    CHECK(restored->contents().size() == sample.bytes.size());
  });
  CHECK(cut >= 16);
  CHECK(teams >= 2);
}

TEST_CASE("stored schedules: a bit that is flipped in any byte is noticed") {
  for_each_sample([](Sample sample) {
    if (sample.n > 32) return;  // nothing new, and there are thousands of bytes
    for (std::size_t i = 0; i < sample.bytes.size(); ++i) {
      const std::byte before = sample.bytes[i];
      sample.bytes[i] ^= std::byte{1} << (i % 8);
      const auto restored = sample.restore();
      CAPTURE(i);
      if (restored) FAIL_CHECK("a changed byte goes unnoticed");
      if (!restored) CHECK(restored.error().code == Errc::bad_input);
      sample.bytes[i] = before;
    }
  });
}

TEST_CASE("stored schedules: any number that is changed, missing or too many is noticed") {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  for_each_sample([](Sample sample) {
    const std::vector<std::int64_t> good = sample.numbers;
    for (std::size_t i = 0; i < good.size(); ++i) {
      CAPTURE(i);
      for (const std::int64_t wrong : {good[i] - 1, good[i] + 1, std::int64_t{-1}, kMax, kMax / 16, -kMax}) {
        if (wrong == good[i]) continue;
        sample.numbers[i] = wrong;
        CAPTURE(wrong);
        CHECK_FALSE(sample.restore());
      }
      sample.numbers = good;
    }
    sample.numbers.push_back(0);
    CHECK_FALSE(sample.restore());
    sample.numbers = good;
    if (!good.empty()) {
      sample.numbers.pop_back();
      CHECK_FALSE(sample.restore());
    }
  });
}

TEST_CASE("stored schedules: bytes that are missing or too many are noticed") {
  for_each_sample([](Sample sample) {
    const std::vector<std::byte> good = sample.bytes;
    for (std::size_t size = 0; size < good.size(); size += size / 16 + 1) {
      sample.bytes.resize(size);
      CHECK_FALSE(sample.restore());
      sample.bytes = good;
    }
    sample.bytes.push_back(std::byte{0});
    CHECK_FALSE(sample.restore());
  });
}

TEST_CASE("stored schedules: one of another matrix, another N or another device is refused") {
  Random random(4);
  const formats::Csr a = sample_matrix(random), b = sample_matrix(random, 0.3);
  for (const Family& family : families()) {
    CAPTURE(family.format);
    const Formatted first = format_matrix(a, family.format, {}), second = format_matrix(b, family.format, {});
    const Sample sample(family, first.data.view(), 32, 1);
    const auto restored =
        family.store.restore({second.data.view(), 32, device(1)}, {sample.numbers, sample.bytes});
    CHECK_FALSE(restored);
  }
}

TEST_CASE("schedules: masks and ids that are not proven yet may be anything") {
  Random random(6);
  RandomStream bytes(7);
  const formats::Csr a = sample_matrix(random);
  int formats_without_proof = 0;
  for (const Family& family : families()) {
    CAPTURE(family.format);
    Formatted formatted = format_matrix(a, family.format, {});
    if (formatted.data.layout->check_offsets == nullptr) continue;
    ++formats_without_proof;
    for (const formats::Array& array : formatted.data.arrays) {
      auto* const data = static_cast<std::byte*>(const_cast<void*>(array.data()));
      const std::vector<std::byte> before(data, data + array.view().bytes());
      for (std::byte& byte : std::span(data, before.size())) byte = static_cast<std::byte>(bytes.next());
      if (!formatted.data.layout->check_offsets(formatted.data.view(), 1))
        std::memcpy(data, before.data(), before.size());
    }
    const Schedule schedule = family.schedule({formatted.data.view(), 32, device(1)});
    CHECK_FALSE(schedule.bytes.empty());
  }
  CHECK(formats_without_proof == 14);
}

TEST_CASE("schedules: an id that no tile has stays in the mask of its tile") {
  std::vector<std::int32_t> columns(16);
  const std::vector<std::int32_t> windows = {0, 2};
  const std::vector<std::uint32_t> offsets = {0, 1, 2};
  const std::vector<std::uint8_t> ids = {255, 0};
  Schedule schedule;
  const std::int64_t at = append_masks(schedule, {.row_window_offset = windows,
                                                  .tc_offset = offsets,
                                                  .tc_local_id = ids,
                                                  .sparse_a_to_b = columns,
                                                  .values = {}});
  std::uint32_t second[4];
  std::memcpy(second, schedule.bytes.data() + at + 16, sizeof second);
  CHECK(std::vector<std::uint32_t>(second, second + 4) == std::vector<std::uint32_t>{1, 0, 0, 0});
}
