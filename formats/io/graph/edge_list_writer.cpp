#include <string>

#include "formats/core/value_types.hpp"
#include "formats/io/graph/edge_list.hpp"
#include "formats/io/stream/compress.hpp"
#include "formats/io/stream/output_bytes.hpp"
#include "formats/io/text/print_number.hpp"

namespace sptile::formats {
namespace {

char separator_of(std::string_view path) {
  if (const Compression* const compression = find_compression(path))
    path.remove_suffix(compression->ending.size());
  return path.ends_with(".csv") ? ',' : path.ends_with(".tsv") ? '\t' : ' ';
}

template <class Value>
Status write_edges(const CsrView& a, const Value* values, char separator, OutputBytes& out) {
  constexpr std::size_t kBlock = 1 << 20;
  std::string text;
  char number[kLongestValue + 16];
  for (std::size_t row = 0; row < static_cast<std::size_t>(a.rows); ++row)
    for (auto i = static_cast<std::size_t>(a.row_ptr[row]); i < static_cast<std::size_t>(a.row_ptr[row + 1]);
         ++i) {
      text.append(number, print_index(number, static_cast<std::int64_t>(row)));
      text += separator;
      text.append(number, print_index(number, a.col_idx[i]));
      if (values != nullptr) {
        text += separator;
        text.append(number, print_value(number, values[i]));
      }
      text += '\n';
      if (text.size() < kBlock) continue;
      if (Status s = out.write(text); !s) return s;
      text.clear();
    }
  return out.write(text);
}

}  // namespace

Status write_edge_list(const CsrView& a, const std::string& path, Placing placing) {
  auto out = OutputBytes::create(path, placing);
  if (!out) return tl::unexpected(std::move(out.error()));
  Status s = out->write("# " + std::to_string(a.rows) + " x " + std::to_string(a.cols) + ", base 0\n");
  if (!s) return s;
  const char separator = separator_of(path);
  if (a.is_pattern())
    s = write_edges<float>(a, nullptr, separator, *out);
  else if (a.values.dtype == DType::f64)
    s = write_edges(a, a.values.as<double>().data(), separator, *out);
  else
    s = write_edges(a, convert_values(a.values, DType::f32).as<float>().data(), separator, *out);
  return s ? out->commit() : s;
}

}  // namespace sptile::formats
