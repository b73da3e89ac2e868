#include "tests/property/shapes.hpp"

#include <stdexcept>
#include <string>

#include "formats/convert/packed_positions.hpp"
#include "tests/property/setting.hpp"

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

double long_window(std::int64_t r, std::int64_t) { return r == 9 ? 0.95 : 0.05; }
/// A window of tiles and two rows without tiles, each long enough to be divided.
double long_both(std::int64_t r, std::int64_t c) {
  if (r / 16 == 1) return 0.4;
  return r == 9 || r == 37 ? 0.5 : c % 50 == 0 ? 0.02 : 0.0;
}
/// Windows of 8 rows: tiles and long rows, tiles and short rows, a long row, none, short rows, tiles.
double segments(std::int64_t r, std::int64_t c) {
  if (r < 8) return c < 600 ? 0.5 : 0.05;
  if (r < 16) return c % 50 == 0 ? 0.8 : 0.001;
  if (r < 24) return r == 20 ? 0.3 : 0.002;
  return r < 32 ? 0.0 : r < 40 ? 0.003 : 0.6;
}
/// One window of many tiles; other rows are short or empty.
double short_rows(std::int64_t r, std::int64_t) { return r == 9 ? 0.9 : r % 3 == 0 ? 0.0 : 0.002; }
double some_longer(std::int64_t r, std::int64_t) { return r % 23 == 5 ? 0.5 : r % 3 != 0 ? 0.1 : 0.0; }
double wide_window(std::int64_t r, std::int64_t) { return r == 9 ? 0.9 : 0.01; }
/// Rows of a warp, of a block and of several blocks of a device with much work.
double work(std::int64_t r, std::int64_t) { return r == 7 ? 1.0 : r == 8 ? 0.3 : r % 3 == 0 ? 0.12 : 0.02; }
double one_window(std::int64_t r, std::int64_t) { return r < 16 ? 0.3 : 0.05; }
double tenth(std::int64_t, std::int64_t) { return 0.1; }

/// Rows of neighbouring columns: the lengths where kernels go from a lane to a warp, a block and several
/// blocks, then short rows, rows that start in the same bank, rows of a warp and rows of several warps.
double ladder(std::int64_t r, std::int64_t c) {
  constexpr std::int64_t kLengths[] = {0,   1,    2,    3,    4,    17,   5,     17,   0, 9,   16,
                                       31,  32,   33,   64,   100,  300,  290,   256,  0, 512, 1024,
                                       600, 1000, 3000, 2032, 2049, 4080, 16323, 8160, 0, 4064};
  if (r < std::ssize(kLengths)) return c < kLengths[r] ? 1 : 0;
  const std::int64_t length = r < 64 ? r % 5 : r < 96 ? 32 : r < 128 ? 17 + 7 * r % 30 : 256;
  return c < length ? 1 : 0;
}
/// More pieces than a block has threads.
double million(std::int64_t r, std::int64_t c) { return r == 1 || c < 2 + r ? 1 : 0; }

constexpr Shape kAll[] = {
    {"uneven", 45, 60, uneven},
    {"pieces", 20, 900, pieces},
    {"windows", 83, 70, windows},
    {"gaps", 40, 30, unused_columns},
    {"one", 1, 1, everything},
    {"no_rows", 0, 9, nothing},
    {"no_cols", 9, 0, nothing},
    {"no_entries", 19, 7, nothing},
    {"many", 1003, 300, windows},
    {"long", 20, 20000, long_row},
    {"long_window", 20, 1500, long_window},
    {"long_both", 48, 1500, long_both},
    {"segments", 48, 700, segments},
    {"short_rows", 220, 1500, short_rows},
    {"some_longer", 301, 60, some_longer},
    {"wide_window", 40, 5000, wide_window},
    {"work", 300, 900, work},
    {"one_window", 640, 600, one_window},
    {"narrow", 1500, 3, tenth},
    {"ladder", 192, 16384, ladder},
    {"million", 3, 1081200, million},
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
  int parameter;
  Matrix matrix;
};

Matrices::Matrices() = default;
Matrices::~Matrices() = default;

const Matrix& Matrices::get(std::string_view name, DType values, std::string_view format, bool permuted,
                            int parameter) {
  for (const auto& made : made_)
    if (made->shape == name && made->values == values && made->format == format &&
        made->permuted == permuted && made->parameter == parameter)
      return made->matrix;
  const Shape& shape = find_shape(name);
  Random random(static_cast<std::uint64_t>(&shape - kShapes.data()) + 1);
  auto made = std::make_unique<Made>(Made{shape.name, values, format, permuted, parameter, {}});
  Matrix& m = made->matrix;
  m.csr = random_matrix(shape.rows, shape.cols, values, random, shape.density);
  const formats::Converter& converter = *formats::find_converter(format);
  const formats::Conversion conversion = [&](const formats::CsrView& a, Progress* progress) {
    return parameter == Setting::kFitted ? converter.from_csr(a, progress)
                                         : converter.from_csr_at(a, parameter, progress);
  };
  m.formatted = format_matrix(m.csr, conversion,
                              permuted ? random_order(shape.rows, random) : std::vector<std::int32_t>{});
  auto packed = formats::packed_positions(m.formatted.data.view(), m.formatted.order);
  if (!packed) throw std::logic_error(packed.error().message);
  m.packed = std::move(*packed);
  return made_.emplace_back(std::move(made))->matrix;
}

}  // namespace sptile::test
