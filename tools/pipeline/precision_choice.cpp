#include "tools/pipeline/precision_choice.hpp"
#include "formats/core/dtype_names.hpp"

#include <algorithm>
#include <string_view>

#include "tools/pipeline/names.hpp"

namespace sptile::tools {
namespace {
struct Row {
  std::string_view name;
  DType values;
  std::string_view dense;
};
constexpr Row kRows[] = {{"fp32", DType::f32, ""},
                         {"tf32", DType::f32, ""},
                         {"fp16", DType::f16, "f16"},
                         {"bf16", DType::bf16, "bf16"},
                         {"fp64", DType::f64, "f64"}};
}  // namespace

Result<std::vector<PrecisionChoice>> parse_precisions(const std::string& list, const std::string& dtype,
                                                      const std::string& dense, const std::string& result) {
  const DType given = dtype.empty() ? DType::f32 : *parse_value_dtype(dtype);
  if (list.empty()) return std::vector<PrecisionChoice>{{"", given, dense, result}};
  std::vector<std::string> known;
  for (const Row& row : kRows) known.emplace_back(row.name);
  const auto names = parse_names("precision", list, known);
  if (!names) return tl::unexpected(names.error());
  std::vector<PrecisionChoice> choices;
  for (const std::string& name : *names) {
    const Row& row =
        *std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.name == name; });
    const bool own = dtype.empty() && dense.empty();
    choices.push_back(
        {name, dtype.empty() ? row.values : given, own ? std::string(row.dense) : dense, result});
  }
  return choices;
}

}  // namespace sptile::tools
