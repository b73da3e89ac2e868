#include "tools/measure/random_operands.hpp"

#include <algorithm>

#include "formats/core/csr.hpp"
#include "formats/core/parallel_loop.hpp"
#include "formats/core/random.hpp"

namespace sptile::tools {
namespace {
constexpr float kIds = 16;  ///< ids from 0 on, of which some occur in small matrices

formats::Array ids_of(const formats::Buffer<float>& numbers) {
  formats::Array ids(DType::i32, numbers.size());
  std::ranges::transform(numbers, ids.as<std::int32_t>().begin(),
                         [](float x) { return static_cast<std::int32_t>((x + 1) / 2 * kIds); });
  return ids;
}

formats::Array rounded(formats::Buffer<float> numbers, DType dtype) {
  if (dtype == DType::i32) return ids_of(numbers);
  formats::Array array(std::move(numbers));
  return dtype == DType::f32 ? std::move(array) : formats::convert_values(array.view(), dtype);
}
}  // namespace

formats::Array random_dense(std::int64_t rows, std::int64_t n, DType dtype, std::uint64_t seed) {
  const std::int64_t count = std::max<std::int64_t>(rows, 1);
  formats::Buffer<float> numbers(count * n);
  parallel::loop(std::int64_t{0}, count, [&](std::int64_t r) {
    RandomStream random(seed, static_cast<std::uint64_t>(r));
    for (std::int64_t j = 0; j < n; ++j) numbers[r * n + j] = random.signed_unit();
  });
  return rounded(std::move(numbers), dtype);
}

formats::Array random_values(const formats::CsrView& a, DType dtype, std::uint64_t seed) {
  formats::Buffer<float> numbers(a.nnz());
  parallel::loop(std::int64_t{0}, a.rows, [&](std::int64_t r) {
    RandomStream random(seed, static_cast<std::uint64_t>(r));
    const auto row = static_cast<std::size_t>(r);
    for (std::int64_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
      numbers[k] = static_cast<float>(0.1 + 0.9 * random.uniform());
  });
  return rounded(std::move(numbers), dtype);
}

}  // namespace sptile::tools
