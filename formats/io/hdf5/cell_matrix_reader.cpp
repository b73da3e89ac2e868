#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/core/quote.hpp"
#include "formats/io/entries/sparse_arrays.hpp"
#include "formats/io/hdf5/cell_matrix.hpp"
#include "formats/io/hdf5/hdf5_arrays.hpp"

namespace sptile::formats {
namespace {

constexpr const char* kAnnData = "X";
constexpr const char* k10x = "matrix";

struct EncodingRow {
  std::string_view name;
  ArrayLayout layout;
};
constexpr EncodingRow kEncodings[] = {{"csr_matrix", ArrayLayout::csr},
                                      {"csc_matrix", ArrayLayout::csc},
                                      {"csr", ArrayLayout::csr},
                                      {"csc", ArrayLayout::csc}};

constexpr const char* kTexts[] = {"encoding-type", "h5sparse_format"};
constexpr const char* kShapes[] = {"shape", "h5sparse_shape"};

Result<bool> has_all(const Hdf5Reader& file, const std::string& group,
                     std::initializer_list<const char*> members) {
  for (const char* member : members)
    if (auto found = file.has(group + "/" + member); !found || !*found) return found;
  return true;
}

// Returns the matrix group of a 10x Genomics file; empty for other files.
Result<std::string> group_of_10x(const Hdf5Reader& file) {
  const auto usual = has_all(file, k10x, {"data", "indices", "indptr", "shape"});
  if (!usual) return tl::unexpected(usual.error());
  if (*usual) return k10x;
  auto names = file.names();
  if (!names) return tl::unexpected(std::move(names.error()));
  if (names->size() != 1) return "";
  const auto older = has_all(file, names->front(), {"data", "indices", "indptr", "shape", "barcodes"});
  if (!older) return tl::unexpected(older.error());
  return *older ? names->front() : "";
}

// Reads the compressed rows or columns of a group.
Result<ReadMatrix> read_group(const Hdf5Reader& file, const std::string& group, const std::string& name,
                              SparseArrays arrays) {
  const auto at = [&](const char* array) { return group + "/" + array; };
  if (Status s = check_matrix_shape(arrays.rows, arrays.cols); !s)
    return fail(s.error().code, s.error().message, name);
  LossCounts lost;
  const auto data = file.array(at("data"));
  if (!data) return tl::unexpected(data.error());
  auto values = read_values(file, *data, lost);
  if (!values) return tl::unexpected(std::move(values.error()));
  arrays.integers = data->type.kind != NumberKind::real;
  if (data->type.kind != NumberKind::boolean || !all_ones(values->view())) arrays.values = std::move(*values);
  Status s = read_indices(file, at("indices"), arrays.ids, minors(arrays), data->size);
  if (s) s = read_indices(file, at("indptr"), arrays.pointers, INT64_MAX, majors(arrays) + 1);
  if (!s) return tl::unexpected(std::move(s.error()));
  auto made = assemble(std::move(arrays), at("indptr"));
  if (!made) return fail(made.error().code, made.error().message, name);
  made->loss.LossCounts::operator+=(lost);
  return to_read_matrix(std::move(*made));
}

}  // namespace

Result<bool> is_anndata(const Hdf5Reader& file) {
  if (auto found = file.has(kAnnData); !found || *found) return found;
  const auto encoding = file.text(kTexts[0]);
  if (!encoding) return tl::unexpected(encoding.error());
  return *encoding == "anndata";
}

Result<ReadMatrix> read_anndata(Hdf5Reader file, const std::string& name, bool) {
  const std::string place = file.where(kAnnData);
  const auto found = file.has(kAnnData);
  if (!found) return tl::unexpected(found.error());
  if (!*found) return fail(Errc::unsupported, "AnnData without X; copy a layer to X", name);
  std::optional<std::string> encoding;
  for (const char* attribute : kTexts) {
    auto text = file.text(attribute, kAnnData);
    if (!text) return tl::unexpected(std::move(text.error()));
    if (!encoding) encoding = std::move(*text);
  }
  const auto* const row = std::find_if(std::begin(kEncodings), std::end(kEncodings),
                                       [&](const EncodingRow& r) { return encoding && r.name == *encoding; });
  if (row == std::end(kEncodings))
    return fail(Errc::unsupported,
                (encoding ? "is encoded as " + formats::quoted(*encoding) : "has no 'encoding-type'") +
                    "; sptile reads csr_matrix and csc_matrix; convert X with scipy.sparse.csr_matrix(X)",
                place);
  SparseArrays arrays;
  arrays.layout = row->layout;
  std::optional<std::vector<std::int64_t>> shape;
  for (const char* attribute : kShapes) {
    auto numbers = file.integers(attribute, kAnnData);
    if (!numbers) return tl::unexpected(std::move(numbers.error()));
    if (!shape) shape = std::move(*numbers);
  }
  if (!shape || shape->size() != 2)
    return fail(Errc::bad_input, "has no two-dimensional attribute 'shape'", place);
  arrays.rows = (*shape)[0], arrays.cols = (*shape)[1];
  auto matrix = read_group(file, kAnnData, name, std::move(arrays));
  if (matrix) matrix->notes.emplace_back("AnnData: read X; ignored layers and annotations");
  return matrix;
}

Result<bool> is_10x(const Hdf5Reader& file) {
  return group_of_10x(file).map([](const std::string& group) { return !group.empty(); });
}

Result<ReadMatrix> read_10x(Hdf5Reader file, const std::string& name, bool) {
  const auto found = group_of_10x(file);
  if (!found) return tl::unexpected(found.error());
  const std::string& group = *found;
  SparseArrays arrays;
  arrays.layout = ArrayLayout::csc;
  Buffer<std::int64_t> shape;
  if (Status s = read_indices(file, group + "/shape", shape, INT64_MAX, 2); !s)
    return tl::unexpected(std::move(s.error()));
  arrays.rows = shape[0], arrays.cols = shape[1];
  auto matrix = read_group(file, group, name, std::move(arrays));
  if (matrix) matrix->notes.emplace_back("10x Genomics: rows are features, columns are barcodes");
  return matrix;
}

}  // namespace sptile::formats
