#include "tools/partition/check.hpp"

#include <fmt/format.h>
#include <tbb/blocked_range.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>

#include "formats/core/parallel_loop.hpp"
#include "formats/core/parallel_reduce.hpp"
#include "formats/core/value_types.hpp"
#include "reorder/partition/division.hpp"
#include "tools/partition/names.hpp"
#include "tools/partition/write.hpp"

namespace sptile::tools {
namespace {

using runtime::Part;

Status another(const std::string& what) {
  return fail(Errc::bad_input, what + "; it does not belong to this partition");
}

// Checks that a part agrees with partition.json.
Status check_belongs(const Part& part, const PartitionDescription& whole, std::size_t rank) {
  const formats::PartNumbers& n = part.numbers;
  if (hex_digits(part.id) != whole.id)
    return another(
        fmt::format("is a part of {}, but {} is of {}", hex_digits(part.id), kDescriptionName, whole.id));
  if (n.rank != static_cast<std::int64_t>(rank) || n.parts != std::ssize(whole.parts))
    return another(fmt::format("declares itself part {} of {}, but is stored as {} of {}", n.rank, n.parts,
                               rank, whole.parts.size()));
  if (n.rows != whole.rows || n.entries != whole.entries || (n.symmetric == 1) != whole.symmetric)
    return another(fmt::format("declares {} rows and {} entries of the matrix; {} declares {} and {}", n.rows,
                               n.entries, kDescriptionName, whole.rows, whole.entries));
  if ((part.local->is_pattern() ? DType::none : part.local->dtype()) != whole.dtype)
    return another("has a different value type from the partition");
  const PartCounts& counts = whole.parts[rank];
  if (counts.rows != part.local->rows() || counts.local_entries != part.local->nnz() ||
      counts.halo_entries != part.halo->nnz() || counts.received != part.halo->cols() ||
      counts.sent != std::ssize(part.send_rows))
    return another(fmt::format("does not have the sizes in {}", kDescriptionName));
  const bool transposed = !part.local->formats(formats::Side::transpose).empty() &&
                          !part.halo->formats(formats::Side::transpose).empty();
  const bool symmetric = part.local->symmetric().value_or(false);
  if (whole.symmetric ? !symmetric : symmetric || !transposed)
    return another("has a transpose although the matrix is symmetric, or lacks one although it is not");
  return {};
}

Result<Part> open_member(const std::string& folder, const PartitionDescription& whole, std::size_t rank,
                         bool copy) {
  const std::string path = folder + "/" + part_name(static_cast<std::int64_t>(rank));
  auto part = runtime::open_part(path, {.copy = copy, .matrix = {}});
  if (!part) return part;
  if (Status s = check_belongs(*part, whole, rank); !s) return fail(s.error().code, s.error().message, path);
  return part;
}

// A row of the entire matrix, merged from both matrices of a part.
class RowOfPart {
 public:
  explicit RowOfPart(const Part& part)
      : part_(part),
        local_(part.local->csr()),
        halo_(part.halo->csr()),
        width_(size_of(local_.values.dtype)) {
    if (part.local->is_pattern()) width_ = 0;
  }

  void take(std::int64_t row) {
    entries_.clear();
    add(local_, part_.old_ids, row);
    add(halo_, part_.halo_ids, row);
    std::ranges::sort(entries_);
    columns_.clear();
    values_.resize(entries_.size() * width_);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      columns_.push_back(entries_[i].first);
      if (width_ > 0) std::memcpy(values_.data() + i * width_, entries_[i].second, width_);
    }
  }

  [[nodiscard]] std::span<const std::int32_t> columns() const { return columns_; }
  [[nodiscard]] const std::byte* values() const { return values_.data(); }
  [[nodiscard]] std::size_t width() const { return width_; }

 private:
  void add(const formats::CsrView& a, std::span<const std::int32_t> ids, std::int64_t row) {
    const auto r = static_cast<std::size_t>(row);
    const auto* const values = static_cast<const std::byte*>(a.values.data);
    for (std::int64_t i = a.row_ptr[r]; i < a.row_ptr[r + 1]; ++i)
      entries_.emplace_back(ids[static_cast<std::size_t>(a.col_idx[static_cast<std::size_t>(i)])],
                            width_ > 0 ? values + static_cast<std::size_t>(i) * width_ : nullptr);
  }

  const Part& part_;
  formats::CsrView local_, halo_;
  std::size_t width_;
  std::vector<std::pair<std::int32_t, const std::byte*>> entries_;
  std::vector<std::int32_t> columns_;
  std::vector<std::byte> values_;
};

// Drops the pages of a mapped part, which are read again from the file, so that the parts need not fit into
// memory together.
void let_go(const Part& part) {
  for (const runtime::Bundle* const bundle : {part.local.get(), part.halo.get()})
    for (const runtime::BundleArray& array : bundle->arrays()) {
      auto* const bytes = const_cast<std::byte*>(static_cast<const std::byte*>(array.array.data));
      if (bytes != nullptr) formats::release_pages(bytes, bytes + array.array.bytes());
    }
}

Digest digest_of(const Part& part, const DigestMaker& maker) {
  constexpr std::int64_t kGrain = 4096;
  return parallel::reduce(
      tbb::blocked_range<std::int64_t>(0, part.local->rows(), kGrain), Digest{},
      [&](const tbb::blocked_range<std::int64_t>& rows, Digest digest) {
        RowOfPart row(part);
        for (std::int64_t r = rows.begin(); r < rows.end(); ++r) {
          row.take(r);
          maker.add(digest, part.old_ids[static_cast<std::size_t>(r)], row.columns(), row.values(),
                    row.width());
        }
        return digest;
      },
      [](Digest a, const Digest& b) { return a += b; });
}

class Checks {
 public:
  Checks(std::string folder, Progress* progress, std::vector<BundleCheck>& checks, bool copy)
      : folder_(std::move(folder)), progress_(progress), checks_(checks), copy_(copy) {}

  std::optional<OpenPartition> run() {
    auto description = read_description(folder_);
    if (!record(std::string(kDescriptionName), description.map([](const auto&) {}))) return std::nullopt;
    OpenPartition partition{std::move(*description), {}};
    if (!open_parts(partition) || !check_parts(partition)) return std::nullopt;
    const bool rows = record("rows", named(check_rows(partition)));
    const bool lists = record("lists", named(check_lists(partition)));
    if (!rows || !lists || !check_matrix(partition)) return std::nullopt;
    return partition;
  }

 private:
  bool record(std::string name, Status outcome) {
    checks_.push_back({std::move(name), std::move(outcome)});
    return checks_.back().outcome.has_value();
  }
  [[nodiscard]] Status named(Status s) const {
    if (!s && s.error().where.empty()) s.error().where = folder_;
    return s;
  }

  bool open_parts(OpenPartition& partition) {
    const std::size_t count = partition.description.parts.size();
    begin(progress_, "open", static_cast<std::int64_t>(count));
    for (std::size_t rank = 0; rank < count; ++rank) {
      auto part = open_member(folder_, partition.description, rank, copy_);
      if (record(part_name(static_cast<std::int64_t>(rank)), part.map([](const auto&) {})))
        partition.parts.push_back(std::move(*part));
      advance(progress_, 1);
    }
    return partition.parts.size() == count;
  }

  bool check_parts(const OpenPartition& partition) {
    bool sound = true;
    for (const Part& part : partition.parts) {
      sound &= check_matrix_of(part, *part.local, "");
      sound &= check_matrix_of(part, *part.halo, "halo ");
      if (!copy_) let_go(part);
    }
    return sound;
  }

  bool check_matrix_of(const Part& part, const runtime::Bundle& bundle, const std::string& label) {
    const std::string name = part_name(part.numbers.rank);
    bool sound = true;
    for (BundleCheck& check : check_bundle(bundle, progress_, &bundle == part.local.get())) {
      if (!check.outcome) check.outcome.error().where = folder_ + "/" + name;
      sound &= record(name + " " + label + check.name, std::move(check.outcome));
    }
    return sound;
  }

  static Status check_rows(const OpenPartition& partition) {
    std::vector<std::int32_t> owned;
    for (const Part& part : partition.parts)
      owned.insert(owned.end(), part.old_ids.begin(), part.old_ids.end());
    const std::int64_t rows = partition.description.rows;
    if (std::ssize(owned) != rows)
      return fail(Errc::bad_input, fmt::format("the parts have {} rows, the matrix {}", owned.size(), rows));
    Status s = formats::check_permutation(owned, rows);
    if (!s) s.error().message = "rows of the parts: " + s.error().message;
    return s;
  }

  Status check_lists(const OpenPartition& partition) const {
    for (const Part& from : partition.parts)
      for (const Part& to : partition.parts) {
        const auto sent = from.sent_to(to.numbers.rank), needed = to.needed_of(from.numbers.rank);
        const auto is_same = [&](std::int32_t row, std::int32_t id) {
          return from.old_ids[static_cast<std::size_t>(row)] == id;
        };
        if (!std::ranges::equal(sent, needed, is_same))
          return fail(Errc::bad_input,
                      fmt::format("does not send the rows that part {} needs", to.numbers.rank),
                      folder_ + "/" + part_name(from.numbers.rank));
      }
    return {};
  }

  bool check_matrix(const OpenPartition& partition) {
    const PartitionDescription& whole = partition.description;
    begin(progress_, "put together", std::ssize(partition.parts));
    const DigestMaker maker;
    Digest digest;
    reorder::Division division{{0}, {}, {}};
    for (const Part& part : partition.parts) {
      digest += digest_of(part, maker);
      if (!copy_) let_go(part);
      division.offset.push_back(division.offset.back() + part.local->rows());
      division.old_row.insert(division.old_row.end(), part.old_ids.begin(), part.old_ids.end());
      advance(progress_, 1);
    }
    const std::uint64_t content = content_hash(digest, whole.rows, size_of(whole.dtype));
    const bool same = digest.entries == whole.entries && hex_digits(content) == whole.content;
    if (!record("matrix",
                same ? Status()
                     : named(fail(Errc::check_failed, "the parts do not form the partitioned matrix"))))
      return false;
    if (!record("symmetry", digest.symmetric() == whole.symmetric
                                ? Status()
                                : named(fail(Errc::check_failed,
                                             fmt::format("{} declares the matrix {}symmetric",
                                                         kDescriptionName, whole.symmetric ? "" : "not ")))))
      return false;
    return record("id", hex_digits(partition_id(division, content)) == whole.id
                            ? Status()
                            : named(fail(Errc::bad_input, "the id does not match the parts")));
  }

  std::string folder_;
  Progress* progress_;
  std::vector<BundleCheck>& checks_;
  bool copy_;
};

}  // namespace

std::optional<OpenPartition> check_partition(const std::string& folder, Progress* progress,
                                             std::vector<BundleCheck>& checks, bool copy) {
  return Checks(folder, progress, checks, copy).run();
}

formats::Csr whole_matrix(const OpenPartition& partition) {
  const PartitionDescription& description = partition.description;
  formats::Csr whole;
  whole.rows = whole.cols = description.rows;
  whole.row_ptr = formats::Buffer<std::int64_t>(whole.rows + 1);
  whole.row_ptr[0] = 0;
  for (const Part& part : partition.parts) {
    const formats::CsrView local = part.local->csr(), halo = part.halo->csr();
    for (std::int64_t r = 0; r < local.rows; ++r)
      whole.row_ptr[part.old_ids[static_cast<std::size_t>(r)] + 1] = local.row_nnz(r) + halo.row_nnz(r);
  }
  for (std::int64_t r = 0; r < whole.rows; ++r) whole.row_ptr[r + 1] += whole.row_ptr[r];
  whole.col_idx = formats::Buffer<std::int32_t>(description.entries);
  if (description.dtype != DType::none) whole.values = formats::Array(description.dtype, description.entries);
  for (const Part& part : partition.parts)
    parallel::loop(tbb::blocked_range<std::int64_t>(0, part.local->rows()), [&](const auto& rows) {
      RowOfPart row(part);
      for (std::int64_t r = rows.begin(); r < rows.end(); ++r) {
        row.take(r);
        const std::int64_t at = whole.row_ptr[part.old_ids[static_cast<std::size_t>(r)]];
        std::ranges::copy(row.columns(), whole.col_idx.data() + at);
        if (row.width() > 0 && !row.columns().empty())
          std::memcpy(
              static_cast<std::byte*>(whole.values.data()) + static_cast<std::size_t>(at) * row.width(),
              row.values(), row.columns().size() * row.width());
      }
    });
  return whole;
}

}  // namespace sptile::tools
