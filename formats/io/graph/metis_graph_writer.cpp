#include <cmath>
#include <string>

#include "formats/io/graph/metis_graph.hpp"
#include "formats/io/stream/output_bytes.hpp"

namespace sptile::formats {
namespace {

constexpr double kLargestWeight = 9007199254740992;  // 2^53; doubles represent all integers up to it

Status check_graph(const CsrView& a, std::span<const double> weights) {
  const auto refuse = [](std::string why) {
    return fail(Errc::unsupported,
                "a METIS graph must be symmetric, without a diagonal, with positive integer weights; " +
                    std::move(why));
  };
  if (a.rows != a.cols) return refuse("the matrix is not square");
  for (std::size_t row = 0; row < static_cast<std::size_t>(a.rows); ++row)
    for (auto i = static_cast<std::size_t>(a.row_ptr[row]); i < static_cast<std::size_t>(a.row_ptr[row + 1]);
         ++i) {
      const std::string place = "(" + std::to_string(row + 1) + ", " + std::to_string(a.col_idx[i] + 1) + ")";
      if (a.col_idx[i] == static_cast<std::int32_t>(row))
        return refuse("entry " + place + " is on the diagonal");
      if (weights.empty()) continue;
      const double weight = weights[i];
      if (!(weight >= 1 && weight <= kLargestWeight) || std::trunc(weight) != weight)
        return refuse("entry " + place + " is " + std::to_string(weight));
    }
  if (identical(transpose(a).view(), a)) return {};
  return refuse("the matrix is not");
}

}  // namespace

Status write_metis_graph(const CsrView& a, const std::string& path, Placing placing) {
  const Array wide = a.is_pattern() ? Array() : convert_values(a.values, DType::f64);
  const std::span<const double> weights = wide.present() ? wide.as<double>() : std::span<const double>();
  if (Status s = check_graph(a, weights); !s) return fail(s.error().code, s.error().message, path);
  auto out = OutputBytes::create(path, placing);
  if (!out) return tl::unexpected(std::move(out.error()));
  std::string text =
      std::to_string(a.rows) + " " + std::to_string(a.nnz() / 2) + (wide.present() ? " 1\n" : "\n");
  for (std::size_t row = 0; row < static_cast<std::size_t>(a.rows); ++row) {
    for (auto i = static_cast<std::size_t>(a.row_ptr[row]); i < static_cast<std::size_t>(a.row_ptr[row + 1]);
         ++i) {
      text += std::to_string(a.col_idx[i] + 1) + " ";
      if (wide.present()) text += std::to_string(static_cast<std::int64_t>(weights[i])) + " ";
    }
    if (text.ends_with(' ')) text.pop_back();
    text += '\n';
    if (Status s = out->write(text); !s) return s;
    text.clear();
  }
  if (Status s = out->write(text); !s) return s;
  return out->commit();
}

}  // namespace sptile::formats
