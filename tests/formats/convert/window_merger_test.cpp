#include "formats/convert/window_merger.hpp"

#include <doctest/doctest.h>

#include "tests/formats/slow/slow.hpp"

using namespace sptile;
using namespace sptile::formats;
using namespace sptile::tests;

namespace {

/// Merges all windows of `height` rows, `batch` at a time, and compares each with the obvious answer.
template <class Key>
void compare(const Sample& sample, int height, std::size_t batch) {
  const Csr a = make_csr(sample.cols, sample.rows, DType::none);
  WindowMerger<Key> merger(height);
  for (std::size_t first = 0; first < sample.rows.size(); first += batch * static_cast<std::size_t>(height)) {
    std::vector<std::int32_t> starts;
    for (std::size_t start = first; start < sample.rows.size() && starts.size() < batch;
         start += static_cast<std::size_t>(height))
      starts.push_back(static_cast<std::int32_t>(start));
    merger.merge(a.view(), starts);
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const auto start = static_cast<std::size_t>(starts[i]);
      const auto room = static_cast<std::size_t>(merger.size(static_cast<int>(i))) + 1;
      std::vector<std::int32_t> columns(room);
      std::vector<std::uint8_t> low(room), high(room);
      columns.resize(static_cast<std::size_t>(
          merger.columns(static_cast<int>(i), columns.data(), low.data(), high.data())));
      REQUIRE(columns == distinct_columns(sample.rows, start, start + static_cast<std::size_t>(height)));
      for (std::size_t c = 0; c < columns.size(); ++c) {
        unsigned rows = 0;
        for (std::size_t r = start;
             r < std::min(start + static_cast<std::size_t>(height), sample.rows.size()); ++r)
          if (std::binary_search(sample.rows[r].begin(), sample.rows[r].end(), columns[c]))
            rows |= 1u << (r - start);
        REQUIRE((low[c] | (height == 16 ? high[c] << 8 : 0)) == static_cast<int>(rows));
      }
    }
  }
}

}  // namespace

TEST_CASE("window merger: the distinct columns of a window ascend, each with its rows") {
  for (const Sample& sample : sample_matrices()) {
    if (sample.rows.size() > 5000) continue;  // the obvious answer takes its time
    CAPTURE(sample.name);
    for (const int height : {8, 16}) {
      for (const std::size_t batch : {1, 3, 4}) {
        compare<std::uint64_t>(sample, height, batch);
        if (sample.cols <= WindowMerger<std::uint32_t>::kMaxCols)
          compare<std::uint32_t>(sample, height, batch);
      }
    }
  }
}

TEST_CASE("window merger: the largest column that 32-bit keys hold does not look like a sentinel") {
  const auto last = static_cast<std::int32_t>(WindowMerger<std::uint32_t>::kMaxCols - 1);
  Rows rows(16, {0, last});
  rows[15] = {last - 1, last};
  compare<std::uint32_t>({"", last + 1, rows}, 16, 4);
  compare<std::uint32_t>({"", last + 1, rows}, 8, 4);
}
