// Schedules and shapes of the update kernels; the property runner tests their products.
#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/cuda/families/update/schedule.hpp"
#include "runtime/cuda/families/update/update.hpp"
#include "tests/runtime/random_problem.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::DeviceInfo;
using runtime::cuda::Schedule;

namespace {

DeviceInfo device_with(int sm_count) {
  return {.capability = 90,
          .sm_count = sm_count,
          .l2_bytes = 1 << 20,
          .shared_per_block = 227 << 10,
          .name = "emulated"};
}

}  // namespace

TEST_CASE("update schedule: every row belongs to one window or to pieces with all its nonzeros") {
  Random random(7);
  for (const int sms : {1, 132}) {
    const formats::Csr a = random_matrix(500, 3000, DType::none, random, [](std::int64_t r, std::int64_t) {
      return r % 100 == 50 ? 0.9 : r % 7 == 0 ? 0 : 0.01;
    });
    Schedule schedule;
    const auto header =
        runtime::cuda::append_update(schedule, a.view().row_ptr, DType::f32, 64, device_with(sms));
    const auto part = [&]<class T>(std::int64_t at, std::int64_t count, const T*) {
      return std::span(reinterpret_cast<const T*>(schedule.bytes.data() + at),
                       static_cast<std::size_t>(count));
    };
    std::vector<int> times(500, 0);
    for (const auto& w :
         part(header.windows_at, header.windows, static_cast<const runtime::cuda::UpdateWindow*>(nullptr))) {
      CHECK(w.rows >= 1);
      CHECK(w.rows <= runtime::cuda::kWindowRows);
      CHECK(w.entry == a.row_ptr[w.row]);
      for (int r = 0; r < w.rows; ++r) ++times[static_cast<std::size_t>(w.row + r)];
    }
    const auto pieces =
        part(header.pieces_at, header.pieces, static_cast<const runtime::cuda::CsrPiece*>(nullptr));
    for (const auto& s :
         part(header.splits_at, header.splits, static_cast<const runtime::cuda::CsrSplit*>(nullptr))) {
      ++times[static_cast<std::size_t>(s.row)];
      std::int64_t next = a.row_ptr[s.row];
      for (const auto& piece :
           pieces.subspan(static_cast<std::size_t>(s.first_piece), static_cast<std::size_t>(s.pieces))) {
        CHECK(piece.entry == next);
        next += piece.entries;
      }
      CHECK(next == a.row_ptr[s.row + 1]);
    }
    CHECK(header.splits > 0);
    CHECK(std::all_of(times.begin(), times.end(), [](int t) { return t == 1; }));
  }
}

TEST_CASE(
    "update shape: weights that do not fit are refused with their bytes; blocks share a multiprocessor") {
  const DeviceInfo device = device_with(1);
  constexpr auto kF32 = runtime::cuda::update_memory(DType::f32, runtime::Precision::tf32);
  const auto small = runtime::cuda::update_shape(64, 64, kF32, device);
  CHECK(small.warps * small.blocks >= 24);
  CHECK(runtime::cuda::update_shape(128, 128, kF32, device).warps == 12);
  const Status refused = runtime::cuda::check_update(256, 256, kF32, device);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == Errc::unsupported);
  CHECK(refused.error().message ==
        "weights of 256 x 256 need 331520 bytes of shared memory per block, but emulated has 232448");
  CHECK_FALSE(runtime::cuda::check_update(std::int64_t{1} << 40, 4, kF32, device));
}
