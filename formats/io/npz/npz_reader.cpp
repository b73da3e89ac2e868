#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "formats/core/quote.hpp"
#include "formats/io/entries/sparse_arrays.hpp"
#include "formats/io/files/claim.hpp"
#include "formats/io/npz/npy_header.hpp"
#include "formats/io/npz/npz.hpp"

namespace sptile::formats {
namespace {

constexpr std::string_view kSuffix = ".npy";
constexpr std::int64_t kPieceBytes = 256 << 10;

// One array of the archive, positioned after its header.
class Member {
 public:
  static Result<Member> open(ZipReader& zip, const std::string& name) {
    if (Status s = zip.select(name + std::string(kSuffix)); !s) return tl::unexpected(std::move(s.error()));
    auto header = read_header(zip);
    if (!header) return tl::unexpected(at(zip, std::move(header.error())));
    return Member(zip, name, std::move(*header));
  }

  [[nodiscard]] const NpyHeader& header() const { return header_; }
  [[nodiscard]] std::string what() const { return "the elements of " + name_ + std::string(kSuffix); }

  template <class... Parts>
  [[nodiscard]] tl::unexpected<Error> bad(Parts&&... parts) const {
    return fail(Errc::bad_input, (std::string() + ... + parts), zip_->where());
  }

  /// Returns the type of the numbers, after checking that the member is large enough for them.
  Result<NumberType> numbers() const {
    auto type = number_type(header_.descr);
    if (!type) return tl::unexpected(at(*zip_, std::move(type.error())));
    const std::int64_t needed = header_.count * type->bytes, held = zip_->size() - header_bytes_;
    if (needed != held)
      return bad("its header declares ", std::to_string(header_.count), " elements of ",
                 std::to_string(type->bytes), " bytes, but ", std::to_string(held), " bytes follow it");
    return type;
  }

  /// Calls take(bytes, count) for blocks of elements, in order, and verifies the checksum.
  template <class Take>
  Status each_piece(NumberType type, const Take& take) {
    Buffer<char> piece(kPieceBytes);
    for (std::int64_t left = header_.count; left > 0;) {
      const std::int64_t count = std::min(left, kPieceBytes / type.bytes);
      if (Status s = zip_->read(piece.span().first(static_cast<std::size_t>(count * type.bytes))); !s)
        return s;
      if (Status s = take(piece.data(), count); !s) return s;
      left -= count;
    }
    return zip_->finish();
  }

 private:
  Member(ZipReader& zip, std::string name, std::pair<NpyHeader, std::int64_t> header)
      : zip_(&zip), name_(std::move(name)), header_(std::move(header.first)), header_bytes_(header.second) {}

  static Error at(const ZipReader& zip, Error error) {
    if (error.where.empty()) error.where = zip.where();
    return error;
  }

  static Result<std::pair<NpyHeader, std::int64_t>> read_header(ZipReader& zip) {
    constexpr std::uint32_t kLongest = 1 << 16;
    std::array<char, kNpyStart + 4> start{};
    if (Status s = zip.read(std::span(start).first(kNpyStart + 2)); !s) return tl::unexpected(s.error());
    const char version = start[kNpyMagic.size()];
    if (std::string_view(start.data(), kNpyMagic.size()) != kNpyMagic || version < 1 || version > 3)
      return fail(Errc::bad_input, "is not a .npy array of version 1, 2 or 3");
    std::int64_t bytes = kNpyStart + 2;
    if (version > 1) {
      if (Status s = zip.read(std::span(start).last(2)); !s) return tl::unexpected(s.error());
      bytes += 2;
    }
    std::uint32_t length = 0;
    std::memcpy(&length, start.data() + kNpyStart, 4);  // little-endian; the upper bytes are zero for a
                                                        // 2-byte length
    if (length > kLongest)
      return fail(Errc::bad_input, "has a header of " + std::to_string(length) + " bytes");
    std::string dictionary(length, '\0');
    if (Status s = zip.read(dictionary); !s) return tl::unexpected(s.error());
    auto header = parse_npy_header(dictionary);
    if (!header) return tl::unexpected(std::move(header.error()));
    return std::pair(std::move(*header), bytes + length);
  }

  ZipReader* zip_;
  std::string name_;
  NpyHeader header_;
  std::int64_t header_bytes_;
};

// Reads integers in [0, limit), which must fit in T. Stores the array's header in `header` if given;
// otherwise the array must be one-dimensional.
template <class T>
Result<Buffer<T>> read_integers(ZipReader& zip, const std::string& name, std::int64_t limit,
                                std::int64_t expected = -1, NpyHeader* header = nullptr) {
  auto member = Member::open(zip, name);
  if (!member) return tl::unexpected(std::move(member.error()));
  const auto type = member->numbers();
  if (!type) return tl::unexpected(type.error());
  if (!is_integer(type->kind))
    return member->bad("has elements of type ", quoted(member->header().descr), "; indices are integers");
  if (header != nullptr)
    *header = member->header();
  else if (member->header().shape.size() != 1)
    return member->bad("has ", std::to_string(member->header().shape.size()), " dimensions, not one");
  if (expected >= 0 && member->header().count != expected)
    return member->bad("has ", std::to_string(member->header().count), " elements, not ",
                       std::to_string(expected));
  Buffer<T> integers = claim<T>(member->header().count, member->what());
  std::int64_t at = 0;
  const auto take = [&](const char* from, std::int64_t count) -> Status {
    for (const std::int64_t end = at + count; at < end; ++at, from += type->bytes) {
      const auto integer = to_integer(*type, from);
      if (!integer || *integer < 0 || *integer >= limit)
        return member->bad(integer ? std::to_string(*integer) : "a number exceeds 63 bits", " at ",
                           std::to_string(at), "; expected 0 to ", std::to_string(limit - 1));
      integers[at] = static_cast<T>(*integer);
    }
    return {};
  };
  if (Status s = member->each_piece(*type, take); !s) return tl::unexpected(std::move(s.error()));
  return integers;
}

// Reads the member "format" ("csr"), of bytes or characters.
Result<std::string> read_format(ZipReader& zip) {
  auto member = Member::open(zip, "format");
  if (!member) return tl::unexpected(std::move(member.error()));
  constexpr std::int64_t kLongest = 64;
  const std::string& descr = member->header().descr;
  const bool wide = descr.size() > 1 && descr[1] == 'U';
  const bool text = wide || (descr.size() > 1 && descr[1] == 'S');
  const std::int64_t width = wide ? 4 : 1;
  std::int64_t letters = 0;
  for (const char c : text ? descr.substr(2) : "")
    letters = std::min<std::int64_t>(999, letters * 10 + c - '0');
  if (!text || member->header().count != 1 || letters < 1 || letters * width > kLongest)
    return member->bad("is not the name of a format");
  std::string bytes(static_cast<std::size_t>(letters * width), '\0'), name;
  if (Status s = zip.read(bytes); !s) return tl::unexpected(std::move(s.error()));
  for (std::size_t i = 0; i < bytes.size(); i += static_cast<std::size_t>(width))
    if (bytes[i] != '\0') name += bytes[i];
  return name;
}

struct FormatRow {
  std::string_view name;
  ArrayLayout layout;
};
constexpr FormatRow kLayouts[] = {{"csr", ArrayLayout::csr},
                                  {"csc", ArrayLayout::csc},
                                  {"coo", ArrayLayout::coo},
                                  {"bsr", ArrayLayout::bsr}};

/// Names of a matrix's arrays, other than SciPy's.
struct ArraysRow {
  ArrayLayout layout;
  std::string_view shape, values, ids;
  std::string_view starts;  // pointers; for coo, rows
};
constexpr std::string_view kFormatName = "format";
constexpr ArraysRow kSciPy = {ArrayLayout::csr, "shape", "data", "indices", "indptr"};
constexpr ArraysRow kSciPyCoo = {ArrayLayout::coo, "shape", "data", "col", "row"};
constexpr ArraysRow kArrays[] = {
    kSciPy,
    kSciPyCoo,
    {ArrayLayout::csr, "adj_shape", "adj_data", "adj_indices", "adj_indptr"},
    {ArrayLayout::csr, "adj_matrix.shape", "adj_matrix.data", "adj_matrix.indices", "adj_matrix.indptr"}};

/// Names of a graph's arrays: edges lead from `from` to `to`. If `to` is empty, `from` has two rows or two
/// columns.
struct EdgesRow {
  std::string_view from, to;
};
constexpr EdgesRow kEdges[] = {{"src_li", "dst_li"}, {"src", "dst"}, {"row", "col"}, {"edge_index", ""}};
constexpr std::string_view kVertices[] = {"num_nodes", "num_nodes_li", "n_nodes"};
constexpr std::string_view kWeights[] = {"edge_weight", "edge_weights", "weight", "weights"};

bool has_array(const ZipReader& zip, std::string_view name) {
  return zip.has(std::string(name) + std::string(kSuffix));
}

template <std::size_t N>
std::string_view first_array(const ZipReader& zip, const std::string_view (&names)[N]) {
  const auto* const found =
      std::find_if(std::begin(names), std::end(names), [&](auto name) { return has_array(zip, name); });
  return found == std::end(names) ? std::string_view() : *found;
}

class NpzReader {
 public:
  NpzReader(ZipReader& zip, bool real_part) : zip_(zip), real_part_(real_part) {}

  Result<ReadMatrix> read() {
    const bool declared = has_array(zip_, kFormatName);
    const auto* const arrays =
        std::find_if(std::begin(kArrays), std::end(kArrays), [&](const ArraysRow& row) {
          return has_array(zip_, row.shape) && has_array(zip_, row.ids) && has_array(zip_, row.starts);
        });
    const auto* const edges = std::find_if(std::begin(kEdges), std::end(kEdges), [&](const EdgesRow& row) {
      return has_array(zip_, row.from) && (row.to.empty() || has_array(zip_, row.to));
    });
    Status s;
    if (declared && has_array(zip_, "shape") && has_array(zip_, "data")) {
      s = read_layout();
      if (s) s = read_arrays();
    } else if (!declared && arrays != std::end(kArrays)) {
      names_ = *arrays, arrays_.layout = arrays->layout;
      s = read_arrays();
      notes_.push_back("no array 'format'; read as " + std::string(find_name(arrays_.layout)));
    } else if (edges != std::end(kEdges)) {
      s = read_edges(*edges);
    } else {
      s = report_contents();
    }
    if (!s) return tl::unexpected(std::move(s.error()));
    auto made = assemble(std::move(arrays_), names_.starts);
    if (!made) {
      made.error().where = zip_.where();
      return tl::unexpected(std::move(made.error()));
    }
    made->loss.LossCounts::operator+=(loss_);
    ReadMatrix matrix = to_read_matrix(std::move(*made));
    matrix.notes = std::move(notes_);
    return matrix;
  }

 private:
  static std::string_view find_name(ArrayLayout layout) {
    return std::find_if(std::begin(kLayouts), std::end(kLayouts),
                        [=](const FormatRow& row) { return row.layout == layout; })
        ->name;
  }

  [[nodiscard]] Status report_contents() const {
    std::string held;
    for (const std::string& name : zip_.names()) held += (held.empty() ? "" : ", ") + name;
    return fail(
        Errc::bad_input,
        "a NumPy archive with " + held.substr(0, 200) +
            ", but no sparse matrix; scipy.sparse.save_npz writes one, and edges are src_li and dst_li, "
            "src and dst, or edge_index",
        zip_.where().substr(0, zip_.where().size() - 1));
  }

  Status read_layout() {
    const auto name = read_format(zip_);
    if (!name) return tl::unexpected(name.error());
    const auto* const row = std::find_if(std::begin(kLayouts), std::end(kLayouts),
                                         [&](const FormatRow& r) { return r.name == *name; });
    if (row == std::end(kLayouts))
      return fail(Errc::unsupported,
                  "the matrix is in SciPy's format " + quoted(*name) +
                      "; sptile reads csr, csc, coo and bsr: save A.tocsr()",
                  zip_.where());
    arrays_.layout = row->layout;
    names_ = row->layout == ArrayLayout::coo ? kSciPyCoo : kSciPy;
    return {};
  }

  Status read_arrays() {
    Status s = read_shape();
    if (s && has_array(zip_, names_.values)) s = read_values(names_.values);
    return s ? read_indices() : s;
  }

  // Checks the number of dimensions before the shape is read, because it may be large.
  Status check_dimensions() {
    const auto member = Member::open(zip_, std::string(names_.shape));
    if (!member) return tl::unexpected(member.error());
    if (member->header().count == 2 || member->header().shape.size() != 1) return {};
    return fail(Errc::unsupported,
                "the array has " + std::to_string(member->header().count) + " dimensions; a matrix has 2",
                zip_.where());
  }

  Status read_shape() {
    if (Status s = check_dimensions(); !s) return s;
    const auto shape = read_integers<std::int64_t>(zip_, std::string(names_.shape), INT64_MAX, 2);
    if (!shape) return tl::unexpected(shape.error());
    arrays_.rows = (*shape)[0], arrays_.cols = (*shape)[1];
    Status s = check_matrix_shape(arrays_.rows, arrays_.cols);
    return s ? s : fail(s.error().code, s.error().message, zip_.where());
  }

  // Sets the block size of bsr, which must divide the shape of the matrix.
  Status take_blocks(const Member& member) {
    const NpyHeader& header = member.header();
    const bool blocks = arrays_.layout == ArrayLayout::bsr;
    if (header.shape.size() != (blocks ? 3u : 1u))
      return member.bad("has ", std::to_string(header.shape.size()), " dimensions, not ",
                        blocks ? "three" : "one");
    ids_ = header.shape[0];
    if (!blocks) return {};
    if (header.columns_first)
      return fail(Errc::unsupported, "its blocks are column-major; save numpy.ascontiguousarray(A.data)",
                  zip_.where());
    arrays_.block_rows = header.shape[1], arrays_.block_cols = header.shape[2];
    if (arrays_.block_rows < 1 || arrays_.block_cols < 1 || arrays_.rows % arrays_.block_rows != 0 ||
        arrays_.cols % arrays_.block_cols != 0)
      return member.bad("has blocks of ", std::to_string(arrays_.block_rows), " x ",
                        std::to_string(arrays_.block_cols), ", which do not divide ",
                        std::to_string(arrays_.rows), " x ", std::to_string(arrays_.cols));
    return {};
  }

  Status read_values(std::string_view name) {
    auto member = Member::open(zip_, std::string(name));
    if (!member) return tl::unexpected(std::move(member.error()));
    const auto type = member->numbers();
    if (!type) return tl::unexpected(type.error());
    if (type->kind == NumberKind::complex && !real_part_)
      return fail(Errc::unsupported, "the values are complex; --real-part reads the real parts",
                  zip_.where());
    if (Status s = take_blocks(*member); !s) return s;
    arrays_.values = claim(value_type(*type), member->header().count, member->what());
    auto* to = static_cast<char*>(arrays_.values.data());
    const std::size_t width = size_of(arrays_.values.dtype());
    Status s = member->each_piece(*type, [&](const char* from, std::int64_t count) -> Status {
      loss_.inexact += to_values(*type, from, count, to);
      to += width * static_cast<std::size_t>(count);
      return {};
    });
    if (s && type->kind == NumberKind::boolean && arrays_.layout != ArrayLayout::bsr &&
        all_ones(arrays_.values.view()))
      arrays_.values = Array();
    arrays_.integers = is_integer(type->kind) || type->kind == NumberKind::boolean;
    return s;
  }

  template <class T>
  Status read_ids(std::string_view name, Buffer<T>& into, std::int64_t limit, std::int64_t expected) {
    auto integers = read_integers<T>(zip_, std::string(name), limit, expected);
    if (!integers) return tl::unexpected(std::move(integers.error()));
    into = std::move(*integers);
    return {};
  }

  Status read_indices() {
    const bool coo = arrays_.layout == ArrayLayout::coo;
    Status s = coo ? read_ids(names_.starts, arrays_.row_ids, arrays_.rows, ids_) : Status();
    if (s) s = read_ids(names_.ids, arrays_.ids, minors(arrays_), coo ? arrays_.row_ids.size() : ids_);
    return s && !coo ? read_ids(names_.starts, arrays_.pointers, INT64_MAX, majors(arrays_) + 1) : s;
  }

  // Reads one entry per edge, in the row of the source vertex; the matrix is square.
  Status read_edges(const EdgesRow& row) {
    arrays_.layout = ArrayLayout::coo;
    const std::string_view vertices = first_array(zip_, kVertices), weights = first_array(zip_, kWeights);
    std::int64_t limit = INT32_MAX;
    if (!vertices.empty()) {
      NpyHeader header;
      const auto count =
          read_integers<std::int64_t>(zip_, std::string(vertices), INT32_MAX + std::int64_t{1}, 1, &header);
      if (!count) return tl::unexpected(count.error());
      limit = (*count)[0];
    }
    Status s = row.to.empty() ? read_pairs(row.from, limit) : read_ids(row.from, arrays_.row_ids, limit, -1);
    if (s && !row.to.empty()) s = read_ids(row.to, arrays_.ids, limit, arrays_.row_ids.size());
    if (!s) return s;
    arrays_.rows = limit;
    if (vertices.empty()) {
      std::int32_t largest = -1;
      for (const auto* ids : {&arrays_.row_ids, &arrays_.ids})
        for (const std::int32_t id : *ids) largest = std::max(largest, id);
      arrays_.rows = largest + std::int64_t{1};
    }
    arrays_.cols = arrays_.rows;
    notes_.push_back("edges from " + std::string(row.from) + (row.to.empty() ? "[0] to " : " to ") +
                     std::string(row.to.empty() ? "edge_index[1]" : row.to) + ", " +
                     std::to_string(arrays_.rows) + " vertices" +
                     (vertices.empty() ? " (from the largest id)" : "") +
                     (weights.empty() ? ", without weights" : ", with weights " + std::string(weights)));
    if (weights.empty()) return {};
    s = read_values(weights);
    if (!s || ids_ == arrays_.ids.size()) return s;
    return fail(
        Errc::bad_input,
        "has " + std::to_string(ids_) + " elements for " + std::to_string(arrays_.ids.size()) + " edges",
        zip_.where());
  }

  // Reads an array with two rows or two columns of vertices.
  Status read_pairs(std::string_view name, std::int64_t limit) {
    NpyHeader header;
    const auto both = read_integers<std::int32_t>(zip_, std::string(name), limit, -1, &header);
    if (!both) return tl::unexpected(both.error());
    const bool rows = header.shape.size() == 2 && header.shape[0] == 2;
    if (!rows && (header.shape.size() != 2 || header.shape[1] != 2))
      return fail(Errc::bad_input, "must have two rows: the source and the target vertices of the edges",
                  zip_.where());
    const std::int64_t edges = header.count / 2;
    const bool apart = rows != header.columns_first;  // the two vertices of an edge are not adjacent in
                                                      // memory
    claim_memory(edges, 2 * sizeof(std::int32_t), "the vertices of its edges");
    arrays_.row_ids = claim<std::int32_t>(edges), arrays_.ids = claim<std::int32_t>(edges);
    for (std::int64_t i = 0; i < edges; ++i) {
      arrays_.row_ids[i] = (*both)[apart ? i : 2 * i];
      arrays_.ids[i] = (*both)[apart ? edges + i : 2 * i + 1];
    }
    return {};
  }

  ZipReader& zip_;
  bool real_part_;
  ArraysRow names_ = kSciPy;
  SparseArrays arrays_;
  std::int64_t ids_ = -1;  // number of values
  LossCounts loss_;
  std::vector<std::string> notes_;
};

}  // namespace

bool is_npz(const ZipReader& zip) {
  return std::any_of(zip.names().begin(), zip.names().end(),
                     [](const std::string& name) { return name.ends_with(kSuffix); });
}

Result<ReadMatrix> read_npz(ZipReader zip, bool real_part) { return NpzReader(zip, real_part).read(); }

}  // namespace sptile::formats
