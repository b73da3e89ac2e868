#include "runtime/cuda/families/csr/row_chunks.hpp"

#include <cstddef>
#include <iterator>

namespace sptile::runtime::cuda {
namespace {

void mark_row(std::vector<RowChunk>& chunks, std::int32_t position, std::int64_t begin, std::int64_t end) {
  chunks[static_cast<std::size_t>((end - 1) / kRowChunk)].ends |= 1u << ((end - 1) % kRowChunk);
  for (std::int64_t c = (begin + kRowChunk - 1) / kRowChunk; c * kRowChunk < end; ++c)
    chunks[static_cast<std::size_t>(c)].row = position;
}

}  // namespace

RowChunks row_chunks(std::span<const std::int64_t> row_ptr) {
  RowChunks made;
  const auto rows = static_cast<std::int32_t>(std::ssize(row_ptr) - 1);
  made.chunks.resize(static_cast<std::size_t>((row_ptr.back() + kRowChunk - 1) / kRowChunk));
  for (std::int32_t row = 0; row < rows; ++row) {
    const std::int64_t begin = row_ptr[static_cast<std::size_t>(row)],
                       end = row_ptr[static_cast<std::size_t>(row) + 1];
    if (begin == end) {
      made.empty.push_back(row);
      continue;
    }
    mark_row(made.chunks, static_cast<std::int32_t>(made.rows.size()), begin, end);
    made.rows.push_back(row);
  }
  made.row_count = std::ssize(made.rows);
  if (made.empty.empty()) made.rows.clear();
  return made;
}

}  // namespace sptile::runtime::cuda
