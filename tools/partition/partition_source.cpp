#include "tools/partition/partition_source.hpp"

#include <fmt/format.h>

#include <utility>

#include "formats/core/buffer.hpp"
#include "formats/layout/csr.hpp"
#include "tools/pipeline/matrix_kinds.hpp"

namespace sptile::tools {
namespace {

Status check_square(std::int64_t rows, std::int64_t cols, const std::string& path) {
  if (rows == cols) return {};
  return fail(Errc::unsupported, fmt::format("{} x {}: a partition requires a square matrix", rows, cols),
              path);
}

// Checks the row offsets first, because they determine the reads.
Status check_row_pointers(const formats::CsrView& a) {
  if (a.row_ptr.front() != 0 || a.row_ptr.back() != a.nnz())
    return fail(Errc::bad_input, fmt::format("row pointers do not go from 0 to {}", a.nnz()));
  for (std::size_t row = 1; row < a.row_ptr.size(); ++row)
    if (a.row_ptr[row] < a.row_ptr[row - 1])
      return fail(Errc::bad_input, fmt::format("row {} has a negative length", row - 1));
  return {};
}

void release_elements(const void* data, std::size_t width, std::int64_t first, std::int64_t last) {
  auto* const bytes = const_cast<std::byte*>(static_cast<const std::byte*>(data));
  if (bytes != nullptr)
    formats::release_pages(bytes + static_cast<std::size_t>(first) * width,
                           bytes + static_cast<std::size_t>(last) * width);
}

// Drops mapped pages that are only read; they are read again from the file on access.
void release_rows(const formats::CsrView& a, std::int64_t first, std::int64_t last) {
  const std::int64_t begin = a.row_ptr[static_cast<std::size_t>(first)],
                     end = a.row_ptr[static_cast<std::size_t>(last)];
  release_elements(a.col_idx.data(), sizeof(std::int32_t), begin, end);
  release_elements(a.values.data, size_of(a.values.dtype), begin, end);
}

Status take_rows(PartitionSource& source, const std::string& path, bool in_order, bool is_mapped) {
  const formats::CsrView a = source.bundle->csr();
  Status s = in_order ? check_row_pointers(a) : formats::check_csr(a);
  if (!s) return fail(s.error().code, s.error().message, path);
  source.rows.a = a;
  if (!is_mapped) return {};  // memory that is not mapped cannot be dropped
  source.rows.release = [a](std::int64_t first, std::int64_t last) { release_rows(a, first, last); };
  return {};
}

}  // namespace

Result<PartitionSource> open_partition_source(Work& work, const std::string& path, LoadOptions options,
                                              bool in_order) {
  PartitionSource source;
  auto input = open_matrix_file(path, &work.progress);
  if (!input) return tl::unexpected(std::move(input.error()));
  const auto kind = find_kind(*input, path, options.from);
  if (!kind) return tl::unexpected(kind.error());
  if ((*kind)->name == "bundle" && input->is_file()) {
    auto mapped = input->again();  // the file itself is read if values need another type
    if (!mapped) return tl::unexpected(std::move(mapped.error()));
    auto bundle = runtime::Bundle::from_descriptor(mapped->release(), path, {.copy = work.copy});
    if (!bundle) return tl::unexpected(std::move(bundle.error()));
    const DType own = (*bundle)->is_pattern() ? DType::none : (*bundle)->dtype();
    if (own == DType::none || options.dtype == DType::none || own == options.dtype)
      source.bundle = std::move(*bundle);
  } else if (options.dtype == DType::none) {
    options.dtype = DType::f32;
  }
  if (source.bundle) {
    Status s = check_square(source.bundle->rows(), source.bundle->cols(), path);
    if (s) s = take_rows(source, path, in_order, !work.copy);
    if (!s) return tl::unexpected(std::move(s.error()));
    return source;
  }
  auto loaded = load_matrix(work, path, std::move(*input), options);
  if (!loaded) return tl::unexpected(std::move(loaded.error()));
  source.loaded = std::move(*loaded);
  source.rows.a = source.loaded.csr.view();
  if (Status s = check_square(source.rows.a.rows, source.rows.a.cols, path); !s)
    return tl::unexpected(std::move(s.error()));
  return source;
}

}  // namespace sptile::tools
