// Makes the seeds of the bundle fuzzer: `bundle_seeds FOLDER` writes small bundles there, folded; with all
// formats, and with one each, which run faster.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <numeric>

#include "formats/convert/converters.hpp"
#include "formats/core/csr.hpp"
#include "formats/io/hdf5/bundle_writer.hpp"
#include "formats/io/matrix_market/matrix_market.hpp"
#include "formats/layout/csr.hpp"
#include "runtime/bundle/bundle.hpp"
#include "runtime/core/symmetry.hpp"
#include "runtime/core/transpose.hpp"
#include "tests/fuzz/folded_bundle.hpp"
#include "tests/temporary_folder.hpp"

using namespace sptile;
using namespace sptile::formats;

namespace {

/// A matrix as Matrix Market text, and what to put into its bundle.
struct Seed {
  const char* name;
  const char* text;
  DType values;
  bool order, refreshable;
  bool transpose = false;      ///< with a format each only: two of all make a long table
  std::string_view only = {};  ///< the one format beside csr; empty: all
};
constexpr const char* kReal =
    "%%MatrixMarket matrix coordinate real general\n5 12 9\n1 2 1\n1 5 2\n3 1 3\n3 2 4\n3 12 5\n4 6 6\n5 7 "
    "7\n5 8 8\n5 9 9\n";
constexpr const char* kPattern =
    "%%MatrixMarket matrix coordinate pattern general\n18 3 5\n1 2\n9 1\n9 3\n17 3\n18 1\n";
constexpr const char* kEmpty = "%%MatrixMarket matrix coordinate real general\n3 4 0\n";
constexpr const char* kOneRow =
    "%%MatrixMarket matrix coordinate real general\n1 9 9\n1 1 1\n1 2 2\n1 3 3\n1 4 4\n1 5 "
    "5\n1 6 6\n1 7 7\n1 8 8\n1 9 9\n";
constexpr const char* kSymmetric =
    "%%MatrixMarket matrix coordinate real symmetric\n9 9 7\n1 1 1\n4 1 2\n5 2 3\n6 6 4\n9 1 5\n9 8 6\n9 9 "
    "7\n";
constexpr Seed kSeeds[] = {
    {"f32", kReal, DType::f32, true, true},
    {"f64", kReal, DType::f64, false, false},
    {"f16", kReal, DType::f16, true, false},
    {"bf16", kReal, DType::bf16, false, true},
    {"pattern", kPattern, DType::f32, true, false},
    {"empty", kEmpty, DType::f32, false, false},
    {"one_row", kOneRow, DType::f32, false, false},
    {"transpose", kReal, DType::f32, true, true, true},
    {"transpose_pattern", kPattern, DType::f32, false, false, true},
    {"symmetric", kSymmetric, DType::f32, true, true, true},
};

std::vector<std::int32_t> order_of(const Seed& seed, std::int64_t rows) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  if (seed.order) std::reverse(order.begin(), order.end());
  return order;
}

/// What is written of one side: `source` says where its entries stand in /csr.
struct Part {
  CsrView a;
  Side side;
  std::span<const std::int64_t> source;
  bool only_source = false;  ///< A^T of a symmetric matrix
};

Status write_format(BundleWriter& writer, const Seed& seed, const Part& part, const Converter& converter) {
  const std::vector<std::int32_t> order = order_of(seed, part.a.rows);
  const Csr reordered = permute_rows(part.a, order);
  CsrView numbered = part.a;  // moved like values, positions tell where each entry came from
  numbered.values = ArrayView(part.source);
  const Csr moved = permute_rows(numbered, order);
  const auto data = converter.from_csr(reordered.view(), nullptr);
  if (!data) return tl::unexpected(data.error());
  const auto origin = value_source(converter.from_csr, reordered.view(), moved.values.as<std::int64_t>());
  if (!origin) return tl::unexpected(origin.error());
  if (part.only_source) return writer.add_transposed_source(*data->layout, origin->view());
  return writer.add_format(data->view(), data->parameters, seed.refreshable ? origin->view() : ArrayView(),
                           part.side);
}

Status write_part(BundleWriter& writer, const Seed& seed, const Part& part) {
  Status s;
  if (seed.order && !part.only_source) s = writer.add_row_order(order_of(seed, part.a.rows), part.side);
  for (const Converter& converter : converters())
    if (s && converter.format != "csr" && (seed.only.empty() || converter.format == seed.only))
      s = write_format(writer, seed, part, converter);
  return s;
}

Status write_transpose(BundleWriter& writer, const Seed& seed, const CsrView& source, const Csr& a) {
  const runtime::TransposedCsr wide = runtime::transpose(source), t = runtime::transpose(a.view());
  const bool symmetric = runtime::is_symmetric(source);
  const ArrayView positions = seed.refreshable ? ArrayView(wide.source()) : ArrayView();
  Status s = symmetric ? writer.add_transposed_source(kCsrLayout, positions)
                       : writer.add_format(as_format(wide.view()), {}, positions, Side::transpose);
  return s ? write_part(writer, seed, {t.view(), Side::transpose, t.source(), symmetric}) : s;
}

Status write(const Seed& seed, const std::string& path, const Csr& a) {
  auto writer = BundleWriter::create(path, {});
  if (!writer) return tl::unexpected(writer.error());
  const Array wide =
      a.values.present() && seed.values != DType::f64 ? convert_values(a.values.view(), DType::f32) : Array();
  CsrView source = a.view();
  if (wide.present()) source.values = wide.view();
  std::vector<std::int64_t> positions(static_cast<std::size_t>(a.nnz()));
  std::iota(positions.begin(), positions.end(), 0);
  Status s = writer->add_csr(source);
  if (s && seed.transpose) s = writer->add_symmetry(runtime::is_symmetric(source));
  if (s) s = write_part(*writer, seed, {a.view(), Side::matrix, positions});
  if (s && seed.transpose) s = write_transpose(*writer, seed, source, a);
  if (!s) return s;
  if (const auto size = writer->commit(); !size) return tl::unexpected(size.error());
  return {};
}

std::vector<std::byte> read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> text{std::istreambuf_iterator<char>(in), {}};
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

Status make(const Seed& seed, const std::string& target) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.mtx") << seed.text;
  const auto matrix = read_matrix_market(folder / "a.mtx", {.dtype = seed.values});
  if (!matrix) return tl::unexpected(matrix.error());
  if (Status s = write(seed, folder / "a.h5", matrix->csr); !s) return s;
  const std::vector<std::byte> folded = fold(read(folder / "a.h5"));
  const auto unfolded = unfold(folded);
  if (const auto bundle = runtime::Bundle::from_memory(unfolded.span(), target); !bundle)
    return tl::unexpected(bundle.error());  // arrays longer than a page head, for example
  std::ofstream(target, std::ios::binary)
      .write(reinterpret_cast<const char*>(folded.data()), static_cast<std::streamsize>(folded.size()));
  return {};
}

std::vector<Seed> all_seeds() {
  std::vector<Seed> seeds;
  for (const Seed& seed : kSeeds)
    if (!seed.transpose) seeds.push_back(seed);
  for (Seed seed : kSeeds)
    for (const Converter& converter : converters()) {
      seed.only = converter.format;
      if (converter.format != "csr") seeds.push_back(seed);
    }
  return seeds;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: bundle_seeds FOLDER\n";
    return 2;
  }
  for (const Seed& seed : all_seeds()) {
    std::string name = seed.name;
    if (!seed.only.empty()) name.append("_").append(seed.only);
    if (const Status s = make(seed, (std::filesystem::path(argv[1]) / name).string()); !s) {
      std::cerr << s.error().text() << "\n";
      return 1;
    }
  }
  return 0;
}
