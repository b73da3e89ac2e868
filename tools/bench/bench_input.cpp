#include "tools/bench/bench_input.hpp"

#include <algorithm>

#include "formats/io/binary/raw_csr.hpp"
#include "formats/io/matrix_market/matrix_market.hpp"
#include "runtime/bundle/bundle.hpp"

namespace sptile::tools {
namespace {

Result<formats::Csr> read_bundle(const std::string& path) {
  const auto bundle = runtime::Bundle::open(path);
  if (!bundle) return tl::unexpected(bundle.error());
  const formats::CsrView from = (*bundle)->csr();
  formats::Csr csr;
  csr.rows = from.rows;
  csr.cols = from.cols;
  csr.row_ptr = formats::Buffer<std::int64_t>(from.rows + 1);
  csr.col_idx = formats::Buffer<std::int32_t>(from.nnz());
  std::copy(from.row_ptr.begin(), from.row_ptr.end(), csr.row_ptr.begin());
  std::copy(from.col_idx.begin(), from.col_idx.end(), csr.col_idx.begin());
  return csr;
}

Result<formats::Csr> read_index(const std::string& path) {
  if (path.ends_with(".h5")) return read_bundle(path);
  if (auto raw = formats::read_raw_csr(path)) return raw;
  auto text = formats::read_matrix_market(path);
  if (!text) return tl::unexpected(text.error());
  return std::move(text->csr);
}

}  // namespace

Result<formats::Csr> read_bench_matrix(const std::string& path, DType values) {
  auto csr = read_index(path);
  if (!csr) return csr;
  csr->values = {};
  if (values == DType::none) return csr;
  formats::Array numbers(DType::f32, csr->nnz());
  std::int64_t i = 0;
  for (float& x : numbers.as<float>()) x = static_cast<float>(++i % 1021) - 510;
  csr->values = formats::convert_values(numbers.view(), values);
  return csr;
}

}  // namespace sptile::tools
