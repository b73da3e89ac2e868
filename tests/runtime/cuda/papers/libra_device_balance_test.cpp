// Steps of Algorithm 1 on the host: the segments and flags of cut_windows and flag_atomic.
#include "runtime/cuda/papers/libra_streams/device_balance.hpp"

#include <doctest/doctest.h>

#include "formats/convert/libra_spmm.hpp"
#include "tests/formats/sample_matrices.hpp"
#include "tests/runtime/cuda/convert/host_run.hpp"

using namespace sptile;
using namespace sptile::runtime::cuda;

TEST_CASE("libra_device_balance: cut on the device as on the host") {
  const auto check = [](const formats::LibraView& a, const LibraSizes& sizes, int block_tiles) {
    LibraBalance expected = cut_windows(a, sizes, block_tiles);
    for (const bool backwards : {false, true}) {
      test::HostRun run(backwards);
      auto cut = balance_on(run, a, sizes, block_tiles);
      REQUIRE(cut);
      CHECK(cut->balance.window_offset == expected.window_offset);
      CHECK(cut->balance.cur_window == expected.cur_window);
      CHECK(cut->balance.row_offset == expected.row_offset);
      CHECK(cut->balance.cur_row == expected.cur_row);
      CHECK(cut->balance.is_short == expected.is_short);
      for (const LibraMode mode : {LibraMode::sequential, LibraMode::two_streams}) {
        flag_atomic(expected, std::ssize(a.row_window_offset) - 1, mode);
        cut->set_mode(mode);
        CHECK(cut->balance.atomic == expected.atomic);
      }
    }
  };
  constexpr LibraSizes kAll[] = {{},
                                 {.blocks = 4, .entries = 5, .short_length = 2},
                                 {.blocks = 1, .entries = 2, .short_length = 0},
                                 kLibraUncut};
  for (const LibraSizes& sizes : kAll)
    for (const int block_tiles : {1, 2}) {
      for (const tests::Sample& sample : tests::sample_matrices())
        for (const int threshold : {1, 3, 9}) {
          CAPTURE(sample.name);
          CAPTURE(threshold);
          const auto data = formats::libra_spmm_from_csr_at(tests::make_csr(sample.cols, sample.rows).view(),
                                                            threshold, nullptr);
          REQUIRE(data);
          check(formats::as_libra(data->view()), sizes, block_tiles);
        }
    }
}
