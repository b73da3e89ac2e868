#include "tests/property/shapes.hpp"

#include <stdexcept>
#include <string>

#include "formats/convert/packed_positions.hpp"

namespace sptile::test {
namespace {

/// Rows of very different lengths, one of them nearly full, some empty.
double uneven(std::int64_t r, std::int64_t c) {
  if (r % 5 == 0) return r % 2 == 0 ? 0.0 : 0.03;
  if (r == 17) return 0.9;
  return (r / 8 + c / 16) % 3 == 0 ? 0.3 : 0.01;
}

/// A row that is divided into pieces on a small device.
double pieces(std::int64_t r, std::int64_t) { return r == 9 ? 0.95 : r % 4 == 1 ? 0.0 : 0.02; }

/// Windows of 16 rows that are dense, sparse (no column twice), empty and neither.
double windows(std::int64_t r, std::int64_t c) {
  const std::int64_t kind = r / 16 % 4;
  if (kind == 0) return c % 16 == r % 16 && r % 5 != 0 ? 0.95 : 0.0;
  if (kind == 1) return c % 9 == 0 && r % 5 != 2 ? 0.9 : 0.0;
  return kind == 2 ? 0.0 : 0.1;
}

double unused_columns(std::int64_t, std::int64_t c) { return c % 5 == 2 ? 0.0 : 0.1; }
double nothing(std::int64_t, std::int64_t) { return 0; }
double everything(std::int64_t, std::int64_t) { return 1; }
/// A row that is divided whatever the kernel and the device.
double long_row(std::int64_t r, std::int64_t) { return r == 3 ? 0.9 : 0.0005; }

constexpr Shape kAll[] = {
    {"uneven", 45, 60, uneven},       {"pieces", 20, 900, pieces},    {"windows", 83, 70, windows},
    {"gaps", 40, 30, unused_columns}, {"one", 1, 1, everything},      {"no_rows", 0, 9, nothing},
    {"no_cols", 9, 0, nothing},       {"no_entries", 19, 7, nothing}, {"many", 1003, 300, windows},
    {"long", 20, 20000, long_row},
};

const Shape& find_shape(std::string_view name) {
  for (const Shape& shape : kShapes)
    if (shape.name == name) return shape;
  throw std::logic_error("no shape " + std::string(name));
}

}  // namespace

constinit const std::span<const Shape> kShapes = kAll;

struct Matrices::Made {
  std::string_view shape;
  DType values;
  std::string_view format;
  bool permuted;
  Matrix matrix;
};

Matrices::Matrices() = default;
Matrices::~Matrices() = default;

const Matrix& Matrices::get(std::string_view name, DType values, std::string_view format, bool permuted) {
  for (const auto& made : made_)
    if (made->shape == name && made->values == values && made->format == format && made->permuted == permuted)
      return made->matrix;
  const Shape& shape = find_shape(name);
  Random random(static_cast<std::uint64_t>(&shape - kShapes.data()) + 1);
  auto made = std::make_unique<Made>(Made{shape.name, values, format, permuted, {}});
  Matrix& m = made->matrix;
  m.csr = random_matrix(shape.rows, shape.cols, values, random, shape.density);
  m.formatted =
      format_matrix(m.csr, format, permuted ? random_order(shape.rows, random) : std::vector<std::int32_t>{});
  auto packed = formats::packed_positions(m.formatted.data.view(), m.formatted.order);
  if (!packed) throw std::logic_error(packed.error().message);
  m.packed = std::move(*packed);
  return made_.emplace_back(std::move(made))->matrix;
}

}  // namespace sptile::test
