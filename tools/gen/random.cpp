#include <string>

#include "tools/gen/assemble.hpp"
#include "tools/gen/kinds.hpp"

namespace sptile::tools::gen {
namespace {
constexpr ArgumentSpec kArguments[] = {
    {"rows", "number of rows", true, 1, 0x7fffffff},
    {"cols", "number of columns", true, 1, 0x7fffffff},
    {"nnz", "number of entries, evenly distributed over the rows; at most ROWS x COLS", true, 0, 0x1p50},
};

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
                           Shape::rectangular,
                           kArguments,
                           make_random};

}  // namespace sptile::tools::gen
