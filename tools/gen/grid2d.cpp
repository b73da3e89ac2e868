#include "tools/gen/assemble.hpp"
#include "tools/gen/kinds.hpp"

namespace sptile::tools::gen {
namespace {
constexpr ArgumentSpec kArguments[] = {
    {"side", "side length of the grid of SIDE x SIDE vertices", true, 1, 46340}};

Result<formats::Csr> make_grid2d(const Parameters& arguments, std::uint64_t, Progress* progress) {
  const std::int64_t side = integer_argument(arguments, "side"), n = side * side;
  const auto row_nnz = [=](std::int64_t r) {
    const std::int64_t x = r % side, y = r / side;
    return std::int64_t{x > 0} + (x + 1 < side) + (y > 0) + (y + 1 < side);
  };
  const auto fill = [=](std::int64_t r, std::span<std::int32_t> columns) {
    const std::int64_t x = r % side, y = r / side;
    std::size_t k = 0;
    const auto add = [&](bool inside, std::int64_t c) {
      if (inside) columns[k++] = static_cast<std::int32_t>(c);
    };
    add(y > 0, r - side);
    add(x > 0, r - 1);
    add(x + 1 < side, r + 1);
    add(y + 1 < side, r + side);
  };
  return csr_by_rows(n, n, row_nnz, fill, progress);
}
}  // namespace

const Generator kGrid2d = {"grid2d",    "Square grid, 4 neighbours per vertex, no diagonal",
                           "--side 40", Shape::symmetric,
                           kArguments,  make_grid2d};

}  // namespace sptile::tools::gen
