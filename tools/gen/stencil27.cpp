#include <algorithm>
#include <string>

#include "tools/gen/assemble.hpp"
#include "tools/gen/kinds.hpp"

namespace sptile::tools::gen {
namespace {
constexpr ArgumentSpec kArguments[] = {
    {"side", "side length of the grid of SIDE x SIDE x SIDE nodes", true, 1, 1290},
    {"dof", "unknowns per node: dense DOF x DOF blocks", true, 1, 1024},
};

// Neighbours of coordinate x, including x, on a line of `side` nodes.
struct Reach {
  std::int64_t first, last;
  Reach(std::int64_t x, std::int64_t side)
      : first(std::max<std::int64_t>(x - 1, 0)), last(std::min(x + 1, side - 1)) {}
  [[nodiscard]] std::int64_t count() const { return last - first + 1; }
};

Result<formats::Csr> make_stencil27(const Parameters& arguments, std::uint64_t, Progress* progress) {
  const std::int64_t side = integer_argument(arguments, "side"), dof = integer_argument(arguments, "dof");
  const std::int64_t rows = side * side * side * dof;
  if (rows > 0x7fffffff)
    return fail(Errc::unsupported, "stencil27: SIDE^3 * DOF = " + std::to_string(rows) +
                                       " rows; row ids are 32-bit, at most 2147483647");
  const auto row_nnz = [=](std::int64_t r) {
    const std::int64_t node = r / dof;
    return dof * Reach(node % side, side).count() * Reach(node / side % side, side).count() *
           Reach(node / side / side, side).count();
  };
  const auto fill = [=](std::int64_t r, std::span<std::int32_t> columns) {
    const std::int64_t node = r / dof;
    const Reach x(node % side, side), y(node / side % side, side), z(node / side / side, side);
    std::size_t k = 0;
    for (std::int64_t c = z.first; c <= z.last; ++c)
      for (std::int64_t b = y.first; b <= y.last; ++b)
        for (std::int64_t first = ((c * side + b) * side + x.first) * dof, i = 0; i < x.count() * dof; ++i)
          columns[k++] = static_cast<std::int32_t>(first + i);
  };
  return csr_by_rows(rows, rows, row_nnz, fill, progress);
}
}  // namespace

const Generator kStencil27 = {
    "stencil27",        "Cubic grid, 27-point stencil with DOF unknowns per node (finite elements)",
    "--side 8 --dof 3", Shape::symmetric,
    kArguments,         make_stencil27};

}  // namespace sptile::tools::gen
