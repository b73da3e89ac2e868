#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "formats/core/random.hpp"
#include "tools/gen/assemble.hpp"
#include "tools/gen/kinds.hpp"

namespace sptile::tools::gen {
namespace {
constexpr std::int64_t kWindowRows = 16, kTileColumns = 8;

constexpr ArgumentSpec kArguments[] = {
    {"windows", "number of windows of 16 rows", true, 1, 0x7ffffff},
    {"cols", "number of columns, at least 8 x MEAN", true, 8, 0x7fffffff},
    {"mean", "mean number of 16x8 tiles per window", false, 1e-3, 1e8},
    {"variance", "variance of the number of tiles; 0: all windows have the rounded mean", false, 0, 1e16},
    {"fill", "expected fraction of the positions of a tile with entries; each column has at least one", false,
     1.0 / kWindowRows, 1},
};
constexpr std::uint64_t kCountSalt = 0x67616d6d61ull, kRowSalt = 0x66696c6cull;

double draw_normal(RandomStream& random) {  // Box and Muller, 1958
  const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
  return radius * std::cos(2 * std::numbers::pi * random.uniform());
}

// Draws from the Gamma distribution with scale 1 (Marsaglia and Tsang, "A simple method for generating gamma
// variables", TOMS 2000).
double draw_gamma(RandomStream& random, double shape) {
  if (shape < 1) {
    const double larger = draw_gamma(random, shape + 1);
    return larger * std::pow(1 - random.uniform(), 1 / shape);
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = draw_normal(random), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(1 - random.uniform()) < x * x / 2 + d - d * v + d * std::log(v)) return d * v;
  }
}

// Returns the tiles of a window, at most those of all columns.
std::int64_t draw_tiles(RandomStream random, double mean, double variance, std::int64_t cols) {
  const double tiles = variance > 0 ? variance / mean * draw_gamma(random, mean * mean / variance) : mean;
  const std::int64_t all = cols / kTileColumns;
  return std::llround(std::min(tiles, static_cast<double>(all)));
}

// Draws the rows of a column, one bit each: a random row, and every row with probability `other`.
std::uint16_t draw_rows(RandomStream& random, double other) {
  auto rows = static_cast<std::uint16_t>(1u << random.below(kWindowRows));
  for (int r = 0; r < kWindowRows; ++r)
    if (random.uniform() < other) rows = static_cast<std::uint16_t>(rows | 1u << r);
  return rows;
}

// Columns of all windows, and the rows of each column.
struct WindowColumns {
  std::vector<std::int64_t> first;  // first column of each window, and the number of columns
  formats::Buffer<std::int32_t> columns;
  formats::Buffer<std::uint16_t> rows;

  // Calls f(column) for the entries of a row, in ascending order.
  template <class F>
  void for_each(std::int64_t row, const F& f) const {
    const auto window = static_cast<std::size_t>(row / kWindowRows);
    for (std::int64_t k = first[window]; k < first[window + 1]; ++k)
      if ((rows[k] >> row % kWindowRows & 1) != 0) f(columns[k]);
  }
};

WindowColumns draw_windows(const Parameters& arguments, std::uint64_t seed, Progress* progress) {
  const std::int64_t windows = integer_argument(arguments, "windows");
  const std::int64_t cols = integer_argument(arguments, "cols");
  const double mean = real_argument(arguments, "mean"), variance = real_argument(arguments, "variance");
  const double other = (kWindowRows * real_argument(arguments, "fill") - 1) / (kWindowRows - 1);
  WindowColumns drawn;
  drawn.first.push_back(0);
  for (std::int64_t w = 0; w < windows; ++w) {
    const RandomStream random(seed ^ kCountSalt, static_cast<std::uint64_t>(w));
    drawn.first.push_back(drawn.first.back() + kTileColumns * draw_tiles(random, mean, variance, cols));
  }
  drawn.columns = formats::Buffer<std::int32_t>(drawn.first.back());
  drawn.rows = formats::Buffer<std::uint16_t>(drawn.first.back());
  for_each_counted(progress, "columns", windows, [&](std::int64_t w) {
    const std::int64_t begin = drawn.first[static_cast<std::size_t>(w)];
    const std::int64_t end = drawn.first[static_cast<std::size_t>(w) + 1];
    draw_distinct(RandomStream(seed, static_cast<std::uint64_t>(w)), cols,
                  std::span(drawn.columns.data() + begin, static_cast<std::size_t>(end - begin)));
    RandomStream random(seed ^ kRowSalt, static_cast<std::uint64_t>(w));
    for (std::int64_t k = begin; k < end; ++k) drawn.rows[k] = draw_rows(random, other);
  });
  return drawn;
}

Result<formats::Csr> make_windows(const Parameters& arguments, std::uint64_t seed, Progress* progress) {
  const std::int64_t cols = integer_argument(arguments, "cols");
  const double mean = real_argument(arguments, "mean");
  if (kTileColumns * mean > static_cast<double>(cols))
    return fail(Errc::usage,
                "windows: " + std::to_string(cols) + " columns have " + std::to_string(cols / kTileColumns) +
                    " tiles of 8 columns; --mean is at most that, or --cols at least 8 times the mean");
  const WindowColumns drawn = draw_windows(arguments, seed, progress);
  const auto row_nnz = [&](std::int64_t r) {
    std::int64_t nnz = 0;
    drawn.for_each(r, [&](std::int32_t) { ++nnz; });
    return nnz;
  };
  const auto fill = [&](std::int64_t r, std::span<std::int32_t> columns) {
    auto to = columns.begin();
    drawn.for_each(r, [&](std::int32_t column) { *to++ = column; });
  };
  return csr_by_rows(kWindowRows * integer_argument(arguments, "windows"), cols, row_nnz, fill, progress);
}
}  // namespace

const Generator kWindows = {"windows",
                            "Windows of 16 rows with Gamma-distributed numbers of 16x8 tiles",
                            "--windows 30 --cols 400 --mean 6 --variance 8 --fill 0.1",
                            Shape::rectangular,
                            kArguments,
                            make_windows};

}  // namespace sptile::tools::gen
