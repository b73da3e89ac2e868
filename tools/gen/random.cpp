#include "formats/core/random.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "tools/gen/assemble.hpp"
#include "tools/gen/kinds.hpp"

namespace sptile::tools::gen {
namespace {
constexpr ArgumentSpec kArguments[] = {
    {"rows", "number of rows", true, 1, 0x7fffffff},
    {"cols", "number of columns", true, 1, 0x7fffffff},
    {"nnz", "number of entries, evenly distributed over the rows; at most ROWS x COLS", true, 0, 0x1p50},
};

// Draws out.size() distinct numbers below `bound` into `out`, sorted: Floyd's sampling (Bentley and Floyd,
// "A sample of brilliance", CACM 1987) over an open-addressing set. Expected O(k log k).
void draw_distinct(RandomStream random, std::int64_t bound, std::span<std::int32_t> out) {
  thread_local std::vector<std::int32_t> slots;
  const std::size_t mask = std::bit_ceil(2 * out.size() + 1) - 1;
  slots.assign(mask + 1, -1);
  const auto insert = [&](std::int64_t value) {
    std::size_t i = mix_bits(static_cast<std::uint64_t>(value)) & mask;
    while (slots[i] >= 0 && slots[i] != value) i = (i + 1) & mask;
    const bool fresh = slots[i] < 0;
    slots[i] = static_cast<std::int32_t>(value);
    return fresh;
  };
  std::int64_t top = bound - static_cast<std::int64_t>(out.size());
  for (std::int32_t& column : out) {
    std::int64_t value = random.below(top + 1);
    if (!insert(value)) insert(value = top);
    column = static_cast<std::int32_t>(value);
    ++top;
  }
  std::sort(out.begin(), out.end());
}

Result<formats::Csr> make_random(const Parameters& arguments, std::uint64_t seed, Progress* progress) {
  const std::int64_t rows = integer_argument(arguments, "rows"), cols = integer_argument(arguments, "cols");
  const std::int64_t nnz = integer_argument(arguments, "nnz");
  if (nnz > rows * cols)  // both below 2^31: no overflow
    return fail(Errc::usage, "random: " + std::to_string(nnz) + " entries do not fit " +
                                 std::to_string(rows) + " x " + std::to_string(cols) +
                                 " cells; --nnz is at most " + std::to_string(rows * cols));
  const auto row_nnz = [=](std::int64_t r) { return nnz / rows + (r < nnz % rows); };
  const auto fill = [=](std::int64_t r, std::span<std::int32_t> columns) {
    draw_distinct(RandomStream(seed, static_cast<std::uint64_t>(r)), cols, columns);
  };
  return csr_by_rows(rows, cols, row_nnz, fill, progress);
}
}  // namespace

const Generator kRandom = {"random",
                           "Rectangular, exactly NNZ entries, equal row lengths, uniform columns",
                           "--rows 500 --cols 300 --nnz 6000",
                           false,
                           kArguments,
                           make_random};

}  // namespace sptile::tools::gen
