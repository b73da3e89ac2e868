#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "formats/core/quote.hpp"
#include "formats/io/entries/growing_array.hpp"
#include "formats/io/entries/sparse_arrays.hpp"
#include "formats/io/graph/metis_graph.hpp"
#include "formats/io/text/text_lines.hpp"

namespace sptile::formats {
namespace {

struct MetisHeader {
  std::int64_t vertices = 0, edges = 0, constraints = 0;
  bool sizes = false, edge_weights = false;
};

// Parses integers from the start of a line.
class Numbers {
 public:
  Numbers(TextLines& lines, std::string_view text) : lines_(lines), text_(text) {}

  bool ended() {
    text_.remove_prefix(std::min(text_.find_first_not_of(" \t"), text_.size()));
    return text_.empty();
  }

  Result<std::int64_t> take(std::string_view what, std::int64_t min, std::int64_t max) {
    if (ended()) return lines_.bad("the line ends before " + std::string(what));
    const std::string_view word = text_.substr(0, text_.find_first_of(" \t"));
    text_.remove_prefix(word.size());
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error == std::errc() && end == word.data() + word.size() && number >= min && number <= max)
      return number;
    return lines_.bad(std::string(what) + " is " + quoted(word) + "; expected an integer from " +
                      std::to_string(min) + " to " + std::to_string(max));
  }

 private:
  TextLines& lines_;
  std::string_view text_;
};

class MetisReader {
 public:
  explicit MetisReader(TextLines& lines) : lines_(lines) {}

  Result<ReadMatrix> read() {
    Status s = read_header();
    if (s) s = read_vertices();
    if (!s) return tl::unexpected(std::move(s.error()));
    return finish();
  }

 private:
  // Returns the next line that is not a comment.
  Result<std::optional<std::string_view>> next() {
    for (;;) {
      auto line = lines_.next();
      if (!line || !*line || !(*line)->starts_with('%')) return line;
    }
  }

  Status read_header() {
    const auto line = next();
    if (!line) return tl::unexpected(line.error());
    if (!*line) return lines_.bad("the file ends before its header: vertices, edges");
    Numbers words(lines_, **line);
    const auto take = [&](std::int64_t& into, std::string_view what, std::int64_t max) -> Status {
      const auto number = words.take(what, 0, max);
      if (!number) return tl::unexpected(number.error());
      into = *number;
      return {};
    };
    std::int64_t flags = 0;
    Status s = take(header_.vertices, "the number of vertices", INT32_MAX);
    if (s) s = take(header_.edges, "the number of edges", std::int64_t{1} << 60);
    if (s && !words.ended()) s = take(flags, "the flags (fmt)", 111);
    if (s && (flags % 10 > 1 || flags / 10 % 10 > 1))
      return lines_.bad("the flags (fmt) are " + std::to_string(flags) + "; expected digits 0 or 1");
    header_.edge_weights = flags % 10 == 1;
    header_.constraints = flags / 10 % 10;
    header_.sizes = flags / 100 == 1;
    if (s && !words.ended()) {
      std::int64_t constraints = 0;
      s = take(constraints, "the number of vertex weights (ncon)", 1 << 20);
      if (header_.constraints > 0) header_.constraints = constraints;
    }
    if (s && !words.ended()) return lines_.bad("more than four numbers in the header");
    return s;
  }

  Status read_vertices() {
    pointers_.push_back(0);
    for (;;) {
      const auto line = next();
      if (!line) return tl::unexpected(line.error());
      if (!*line) break;
      Numbers words(lines_, **line);
      const std::int64_t vertex = pointers_.size();
      if (vertex > header_.vertices) {
        if (words.ended()) continue;
        return lines_.bad("more lines than the " + std::to_string(header_.vertices) +
                          " vertices of the header");
      }
      if (Status s = read_vertex(words, vertex); !s) return s;
    }
    const std::int64_t read = pointers_.size() - 1;
    if (read < header_.vertices)
      return lines_.bad("the file ends after " + std::to_string(read) + " of " +
                        std::to_string(header_.vertices) + " vertices; the file may be truncated");
    const std::int64_t ends = neighbours_.size();
    if (ends == 2 * header_.edges) return {};
    return lines_.bad(
        std::to_string(ends) + " neighbours are listed, but the " + std::to_string(header_.edges) +
        " edges in the header, each listed at both ends, require " + std::to_string(2 * header_.edges));
  }

  Status read_vertex(Numbers& words, std::int64_t vertex) {
    for (std::int64_t i = 0; i < header_.constraints + (header_.sizes ? 1 : 0); ++i)
      if (const auto weight = words.take("a weight or size of the vertex", 0, INT64_MAX); !weight)
        return tl::unexpected(weight.error());
    while (!words.ended()) {
      const auto neighbour = words.take("a neighbour", 1, header_.vertices);
      if (!neighbour) return tl::unexpected(neighbour.error());
      if (*neighbour == vertex)
        return lines_.bad("vertex " + std::to_string(vertex) + " is adjacent to itself");
      neighbours_.push_back(static_cast<std::int32_t>(*neighbour - 1));
      if (!header_.edge_weights) continue;
      const auto weight = words.take("the weight of an edge", 0, INT64_MAX);
      if (!weight) return tl::unexpected(weight.error());
      weights_.push_back(static_cast<double>(*weight));
      inexact_ += !is_exactly(static_cast<double>(*weight), *weight);
    }
    pointers_.push_back(neighbours_.size());
    return {};
  }

  Result<ReadMatrix> finish() {
    SparseArrays arrays;
    arrays.rows = arrays.cols = header_.vertices;
    arrays.pointers = std::move(pointers_).take();
    arrays.ids = std::move(neighbours_).take();
    if (header_.edge_weights) arrays.values = Array(std::move(weights_).take());
    arrays.integers = header_.edge_weights;
    const std::string name = lines_.name();
    auto made = assemble(std::move(arrays), "");
    if (!made) return fail(made.error().code, made.error().message, name);
    if (made->duplicates > 0)
      return fail(Errc::bad_input, std::to_string(made->duplicates) + " edges are listed twice", name);
    if (!identical(transpose(made->csr.view()).view(), made->csr.view()))
      return fail(Errc::bad_input, "an edge is listed at only one end, or with two different weights", name);
    made->loss.inexact += inexact_;
    ReadMatrix matrix = to_read_matrix(std::move(*made));
    matrix.source_sha256 = lines_.input().finish_hash();
    if (header_.constraints > 0 || header_.sizes)
      matrix.notes.emplace_back("ignored weights and sizes of vertices");
    return matrix;
  }

  TextLines& lines_;
  MetisHeader header_;
  GrowingArray<std::int64_t> pointers_;
  GrowingArray<std::int32_t> neighbours_;
  GrowingArray<double> weights_;
  std::int64_t inexact_ = 0;  // weights not representable in f64
};

}  // namespace

Result<ReadMatrix> read_metis_graph(InputBytes input) {
  auto lines = TextLines::open(std::move(input));
  if (!lines) return tl::unexpected(std::move(lines.error()));
  return MetisReader(*lines).read();
}

}  // namespace sptile::formats
