#include <algorithm>
#include <cassert>
#include <vector>

#include "formats/core/parallel_loop.hpp"
#include "formats/core/random.hpp"
#include "tools/gen/assemble.hpp"
#include "tools/gen/generator.hpp"

namespace sptile::tools::gen {
namespace {
// Salts of random streams with one seed that must be independent; the structure uses the seed itself.
constexpr std::uint64_t kValueSalt = 0x76616c7565ull, kRowSalt = 0x726f77ull, kColumnSalt = 0x636f6cull;

formats::Array draw_values(const formats::Csr& a, bool symmetric, const GenerateOptions& options) {
  formats::Buffer<float> values(a.nnz());
  for_each_counted(options.progress, "values", a.rows, [&](std::int64_t r) {
    for (std::int64_t k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k) {
      const std::int64_t c = a.col_idx[k];
      const auto first = static_cast<std::uint64_t>(symmetric ? std::min(r, c) : r);
      const auto second = static_cast<std::uint64_t>(symmetric ? std::max(r, c) : c);
      values[k] = RandomStream(options.seed ^ kValueSalt, first << 32 | second).signed_unit();
    }
  });
  return formats::Array(std::move(values));
}

formats::Array values_by_position(const formats::Csr& a, float (*value)(std::int64_t)) {
  formats::Buffer<float> values(a.nnz());
  parallel::loop(std::int64_t{0}, a.nnz(), [&](std::int64_t k) { values[k] = value(k); });
  return formats::Array(std::move(values));
}

std::vector<std::int32_t> invert(const std::vector<std::int32_t>& order) {
  std::vector<std::int32_t> inverse(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    inverse[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
  return inverse;
}

// Returns the random row order, which also applies to the columns unless the shape is rectangular.
std::vector<std::int32_t> draw_row_order(std::int64_t rows, std::uint64_t seed) {
  return random_permutation(rows, RandomStream(seed ^ kRowSalt));
}

formats::Csr relabel(const formats::Csr& a, Shape shape, std::uint64_t seed) {
  const std::vector<std::int32_t> row_order = draw_row_order(a.rows, seed);
  const std::vector<std::int32_t> column_labels =
      shape == Shape::rectangular ? random_permutation(a.cols, RandomStream(seed ^ kColumnSalt))
                                  : invert(row_order);
  formats::Csr result = formats::permute_rows(a.view(), row_order);
  parallel::loop(std::int64_t{0}, result.nnz(), [&](std::int64_t k) {
    result.col_idx[k] = column_labels[static_cast<std::size_t>(result.col_idx[k])];
  });
  formats::sort_and_sum_duplicates(result);
  return result;
}

const ParameterValue& find(const Parameters& arguments, std::string_view name) {
  const auto found =
      std::find_if(arguments.begin(), arguments.end(), [&](const auto& a) { return a.first == name; });
  assert(found != arguments.end());
  return found->second;
}
}  // namespace

std::int64_t integer_argument(const Parameters& arguments, std::string_view name) {
  return find(arguments, name).integer;
}

double real_argument(const Parameters& arguments, std::string_view name) {
  return find(arguments, name).real;
}

Result<formats::Csr> generate(const Generator& generator, const Parameters& arguments,
                              const GenerateOptions& options) {
  Result<formats::Csr> a = generator.structure(arguments, options.seed, options.progress);
  if (!a) return a;
  if (!options.pattern)
    a->values = generator.value == nullptr ? draw_values(*a, generator.shape == Shape::symmetric, options)
                                           : values_by_position(*a, generator.value);
  if (!options.shuffle) return a;
  begin(options.progress, "shuffle", 0);
  return relabel(*a, generator.shape, options.seed);
}

Result<NodeData> generate_nodes(const Generator& generator, const Parameters& arguments,
                                const GenerateOptions& options) {
  assert(generator.nodes != nullptr);
  Result<NodeData> nodes = generator.nodes(arguments, options.seed);
  if (!nodes || !options.shuffle) return nodes;
  return permute_nodes(*nodes, draw_row_order(nodes->features.rows, options.seed));
}

}  // namespace sptile::tools::gen
