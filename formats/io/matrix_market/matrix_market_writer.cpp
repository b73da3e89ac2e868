
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "formats/core/parallel_pipeline.hpp"
#include "formats/core/value_types.hpp"
#include "formats/io/matrix_market/matrix_market.hpp"
#include "formats/io/stream/output_bytes.hpp"
#include "formats/io/text/print_number.hpp"

namespace sptile::formats {
namespace {

constexpr std::int64_t kEntriesPerTask = 16 << 10;
constexpr std::int64_t kLongestIndex = 11;  // ten digits and a blank

std::string header_text(const CsrView& a, const std::string& comment) {
  std::string text = "%%MatrixMarket matrix coordinate ";
  text += a.is_pattern() ? "pattern general\n" : "real general\n";
  for (std::size_t begin = 0; begin < comment.size();) {
    const std::size_t end = std::min(comment.find('\n', begin), comment.size());
    text += "% " + comment.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return text + std::to_string(a.rows) + " " + std::to_string(a.cols) + " " + std::to_string(a.nnz()) + "\n";
}

// Lines in the pipeline.
struct Lines {
  std::int64_t begin = 0, end = 0;  // range of nonzeros
  Buffer<char> text;
  std::int64_t length = 0;
};

// Returns the row of a nonzero.
std::int64_t row_of(const CsrView& a, std::int64_t entry) {
  return std::upper_bound(a.row_ptr.begin(), a.row_ptr.end(), entry) - a.row_ptr.begin() - 1;
}

// Prints nonzeros [lines.begin, lines.end). The row id and a blank are formatted once per row, then copied.
template <class T>
void print_lines(const CsrView& a, const T* values, Lines& lines) {
  char* out = lines.text.data();
  std::int64_t row = row_of(a, lines.begin);
  for (std::int64_t i = lines.begin; i < lines.end; ++row) {
    const std::int64_t end = std::min(lines.end, a.row_ptr[static_cast<std::size_t>(row) + 1]);
    char prefix[24];
    char* const prefix_end = print_index(prefix, row + 1);
    *prefix_end = ' ';
    for (; i < end; ++i) {
      out = std::copy_n(prefix, sizeof prefix, out) - sizeof prefix + (prefix_end + 1 - prefix);
      out = print_index(out, std::int64_t{a.col_idx[static_cast<std::size_t>(i)]} + 1);
      if constexpr (!std::is_same_v<T, NoValue>) {
        *out++ = ' ';
        out = print_value(out, values[i]);
      }
      *out++ = '\n';
    }
  }
  lines.length = out - lines.text.data();
}

void print(const CsrView& a, Lines& lines) {
  constexpr std::int64_t kLongestLine = 2 * kLongestIndex + kLongestValue + 24;
  if (lines.text.empty()) lines.text = Buffer<char>(std::min(a.nnz(), kEntriesPerTask) * kLongestLine);
  if (a.is_pattern()) return print_lines(a, static_cast<const NoValue*>(nullptr), lines);
  visit_value_type(a.values.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    print_lines(a, a.values.as<T>().data(), lines);
  });
}

Status write_entries(const CsrView& a, OutputBytes& output, Progress* progress) {
  std::vector<std::unique_ptr<Lines>> all;
  parallel::IdleItems<Lines> idle;
  std::atomic<bool> stopped{false};
  Status status;
  std::int64_t next = 0;

  const auto take = [&]() -> Lines* {
    if (next == a.nnz() || stopped || cancelled(progress)) return nullptr;
    Lines* lines = idle.pop();
    if (lines == nullptr) lines = all.emplace_back(std::make_unique<Lines>()).get();
    lines->begin = next;
    lines->end = next = std::min(a.nnz(), next + kEntriesPerTask);
    return lines;
  };
  const auto write = [&](Lines* lines) {
    if (!stopped) status = output.write({lines->text.data(), static_cast<std::size_t>(lines->length)});
    if (!status) stopped = true;
    advance(progress, lines->end - lines->begin);
    idle.push(lines);
  };
  parallel::pipeline<Lines>(
      take, [&](Lines* lines) { print(a, *lines); }, write);
  if (status && cancelled(progress)) return fail(Errc::io, "cancelled");
  return status;
}

}  // namespace

Status write_matrix_market(const CsrView& a, const std::string& path, const MtxWriteOptions& options) {
  begin(options.progress, "write", a.nnz());
  Result<OutputBytes> output = OutputBytes::create(path, {options.force, options.group});
  if (!output) return tl::unexpected(output.error());
  if (Status done = output->write(header_text(a, options.comment)); !done) return done;
  if (Status done = write_entries(a, *output, options.progress); !done) return done;
  return output->commit();
}

}  // namespace sptile::formats
