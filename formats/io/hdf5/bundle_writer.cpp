#include "formats/io/hdf5/bundle_writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <future>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "formats/io/files/file_writes.hpp"
#include "formats/io/files/system_error.hpp"
#include "formats/io/hdf5/binsparse.hpp"
#include "formats/io/hdf5/hdf5_file.hpp"
#include "formats/layout/bundle_layout.hpp"
#include "formats/layout/csr.hpp"

namespace sptile::formats {
namespace {

/// Block size for hashing and writing: small enough that a block is still in cache when it is written.
constexpr std::int64_t kPiece = std::int64_t{1} << 20;
/// Arrays below this size are left to the kernel's own writeback.
constexpr std::uint64_t kWorthStarting = 4 << 20;
constexpr mode_t kReadOnly = 0444;

Status check_user_block(std::uint64_t bytes) {
  if (std::has_single_bit(bytes) && bytes >= kBundleAlignment && bytes <= kBundleUserBlockMax) return {};
  return fail(Errc::usage, fmt::format("user block of {} bytes; must be a power of two from {} to {}", bytes,
                                       kBundleAlignment, kBundleUserBlockMax));
}

ArrayView slice(const ArrayView& array, std::int64_t first, std::int64_t size) {
  const auto skip = first * static_cast<std::int64_t>(size_of(array.dtype));
  return {array.dtype, static_cast<const std::byte*>(array.data) + skip, std::min(size, array.size - first)};
}

Status write_header(int fd, const BundleHeader& header, const std::vector<BundleEntry>& entries) {
  int failed = write_all_at(fd, 0, &header, sizeof header);
  if (failed == 0)
    failed = write_all_at(fd, sizeof header, entries.data(), entries.size() * sizeof(BundleEntry));
  if (failed != 0) return system_failure(failed, "cannot write the header", {});
  return {};
}

}  // namespace

struct BundleWriter::State {
  std::string path;
  BundleWriteOptions options;
  AtomicFile file;  // must outlive the container
  Hdf5File container;
  std::vector<BundleEntry> entries = {};
  std::int64_t rows = 0, cols = 0, nnz = 0;
  DType dtype = DType::none;  // type of /csr/values; none: a pattern
  bool has_csr = false, has_transpose = false, pattern = false;
  std::optional<bool> symmetric = {};
  std::string matrix = {};                        // group of the current matrix; empty: the root
  std::optional<bool> first_symmetric = {};       // symmetry of the first matrix, for the header
  std::vector<std::future<void>> writeback = {};  // last member, because it uses the file until destroyed

  Status add_array(const std::string& array_path, const ArrayView& array);
  Status write_array(const ArrayView& array, BundleEntry& entry);
  void start_writeback(const BundleEntry& entry);
  Status describe_csr(const std::string& descriptor);
  Status check_format(const FormatView& view, const ArrayView& value_source, Side side) const;
  [[nodiscard]] Status check_value_source(std::string_view name, const ArrayView& value_source) const;
  Status add_format_group(const FormatLayout& layout, Side side);
  Status open_transpose();
  [[nodiscard]] Result<std::string> next_plan() const;
  Status finish_container();
  Result<BundleHeader> make_header() const;

  /// Adds the path of the bundle to an error.
  [[nodiscard]] Status named(Status s) const {
    if (!s && s.error().where.empty()) s.error().where = path;
    return s;
  }
};

/// Starts writing the array to disk while the next one is computed, so that the fsync of commit is short.
/// Runs in a thread, because the call blocks while the disk's queue is full.
void BundleWriter::State::start_writeback(const BundleEntry& entry) {
  if (entry.bytes < kWorthStarting) return;
  const auto start = [fd = file.fd(), offset = container.array_offset(), bytes = entry.bytes] {
    ::sync_file_range(fd, static_cast<off_t>(offset), static_cast<off_t>(bytes), SYNC_FILE_RANGE_WRITE);
  };
  try {
    writeback.push_back(std::async(std::launch::async, start));
  } catch (const std::system_error&) {  // no thread available: commit takes longer
  }
}

/// Creates one array, then hashes and writes it block by block.
Status BundleWriter::State::add_array(const std::string& array_path, const ArrayView& array) {
  BundleEntry entry{};
  if (array_path.size() >= sizeof entry.path)
    return fail(Errc::internal,
                fmt::format("path {} is longer than {} bytes", array_path, sizeof entry.path - 1));
  const std::uint64_t table_bytes = sizeof(BundleHeader) + (entries.size() + 1) * sizeof entry;
  if (table_bytes > options.user_block || entries.size() >= kBundleEntriesMax)
    return fail(Errc::usage,
                fmt::format("user block of {} bytes is too small for the table of arrays; {} would suffice",
                            options.user_block, std::bit_ceil(table_bytes)));
  if (Status s = container.add_array(array_path, array.dtype, array.size); !s) return s;
  std::copy(array_path.begin(), array_path.end(), entry.path);
  entry.dtype = static_cast<std::uint32_t>(array.dtype);
  entry.rank = 1;
  entry.dims[0] = static_cast<std::uint64_t>(array.size);
  entry.dims[1] = 1;
  entry.bytes = static_cast<std::uint64_t>(array.bytes());
  if (Status s = options.layout_only ? Status() : write_array(array, entry); !s) return s;
  entries.push_back(entry);
  return {};
}

Status BundleWriter::State::write_array(const ArrayView& array, BundleEntry& entry) {
  BundleHasher hasher;
  const std::int64_t step = kPiece / static_cast<std::int64_t>(size_of(array.dtype));
  for (std::int64_t first = 0; first < array.size; first += step) {
    if (cancelled(options.progress)) return fail(Errc::io, "cancelled");
    const ArrayView piece = slice(array, first, step);
    hasher.add(piece.data, static_cast<std::uint64_t>(piece.bytes()));
    if (Status s = container.write(first, piece); !s) return s;
    advance(options.progress, piece.bytes());
  }
  entry.hash = hasher.hash();
  start_writeback(entry);
  return {};
}

/// Programs that read binsparse look for the matrix in the root unless given the group /csr or that of
/// another matrix.
Status BundleWriter::State::describe_csr(const std::string& descriptor) {
  const std::string group(kCsrLayout.group);
  Status s = container.add_attribute(matrix.empty() ? "/" : matrix, kBinsparseAttribute, descriptor);
  if (s) s = container.add_attribute(matrix + group, kBinsparseAttribute, descriptor);
  for (const std::string array : {kCsrPointersPath, kCsrIndicesPath, kCsrValuesPath})
    if (s) s = container.add_link(matrix + array, matrix + array.substr(group.size()));
  return s;
}

BundleWriter::BundleWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
BundleWriter::BundleWriter(BundleWriter&&) noexcept = default;
BundleWriter& BundleWriter::operator=(BundleWriter&&) noexcept = default;
BundleWriter::~BundleWriter() = default;

Result<BundleWriter> BundleWriter::create(const std::string& path, const BundleWriteOptions& options) {
  if (Status s = check_user_block(options.user_block); !s)
    return fail(s.error().code, s.error().message, path);
  Result<AtomicFile> file = options.fd < 0 ? AtomicFile::create(path, {options.force, options.group})
                                           : AtomicFile::borrow(options.fd, path);
  if (!file) return tl::unexpected(file.error());
  return create(std::move(*file), path, options);
}

Result<BundleWriter> BundleWriter::create(AtomicFile file, const std::string& path,
                                          const BundleWriteOptions& options) {
  if (Status s = check_user_block(options.user_block); !s)
    return fail(s.error().code, s.error().message, path);
  Result<Hdf5File> container = Hdf5File::create(file.fd(), options.user_block, options.progress);
  if (!container) return fail(container.error().code, container.error().message, path);
  auto state = std::unique_ptr<State>(new State{path, options, std::move(file), std::move(*container)});
  Status s = state->container.add_attribute("/", "sptile_version", std::string(SPTILE_VERSION));
  for (const auto& [name, value] : options.attributes)
    if (s) s = state->container.add_attribute("/", name, value);
  if (s = state->named(s); !s) return tl::unexpected(s.error());
  return BundleWriter(std::move(state));
}

namespace {

/// User block of a bundle.
struct Front {
  BundleHeader header{};
  std::vector<BundleEntry> entries;
};

Status read_at(int fd, std::uint64_t offset, void* to, std::size_t bytes) {
  auto* next = static_cast<std::byte*>(to);
  while (bytes > 0) {
    const ssize_t count = ::pread(fd, next, bytes, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_failure(errno, "cannot read", {});
    if (count == 0) return fail(Errc::bad_input, "is truncated; copy it again");
    const auto step = static_cast<std::size_t>(count);
    next += step, offset += step, bytes -= step;
  }
  return {};
}

/// The readers in runtime/bundle report invalid bundles in more detail.
Result<Front> read_front(int fd) {
  Front front;
  if (Status s = read_at(fd, 0, &front.header, sizeof front.header); !s) return tl::unexpected(s.error());
  const bool known = std::equal(std::begin(kBundleMagic), std::end(kBundleMagic), front.header.magic) &&
                     front.header.version == kBundleVersion && front.header.must_know == 0 &&
                     front.header.entries <= kBundleEntriesMax;
  if (!known) return fail(Errc::bad_input, "is not a bundle of this version of sptile; convert again");
  front.entries.resize(front.header.entries);
  const std::size_t table = front.entries.size() * sizeof(BundleEntry);
  if (Status s = read_at(fd, sizeof front.header, front.entries.data(), table); !s)
    return tl::unexpected(s.error());
  if (bundle_header_hash(front.header, front.entries) != front.header.header_hash)
    return fail(Errc::bad_input, "header is damaged: its XXH3 hash differs; convert again");
  return front;
}

Status copy_bytes(int from, int to, std::uint64_t bytes, Progress* progress) {
  std::vector<std::byte> piece(static_cast<std::size_t>(kPiece));
  begin(progress, "copy", static_cast<std::int64_t>(bytes));
  for (std::uint64_t at = 0; at < bytes; at += piece.size()) {
    if (cancelled(progress)) return fail(Errc::io, "cancelled");
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), bytes - at));
    if (Status s = read_at(from, at, piece.data(), step); !s) return s;
    if (const int failed = write_all_at(to, at, piece.data(), step); failed != 0)
      return system_failure(failed, "cannot write", {});
    advance(progress, static_cast<std::int64_t>(step));
  }
  return {};
}

}  // namespace

Result<BundleWriter> BundleWriter::extend(int source, const std::string& path, Progress* progress) {
  Result<Front> front = read_front(source);
  if (!front) return fail(front.error().code, front.error().message, path);
  Result<AtomicFile> file = AtomicFile::replace(source, path);
  if (!file) return tl::unexpected(file.error());
  if (Status s = copy_bytes(source, file->fd(), front->header.file_size, progress); !s)
    return fail(s.error().code, s.error().message, path);
  Result<Hdf5File> container = Hdf5File::open(file->fd(), progress);
  if (!container) return fail(container.error().code, container.error().message, path);
  const BundleWriteOptions options{
      .force = true, .user_block = front->header.user_block, .attributes = {}, .progress = progress};
  auto state = std::unique_ptr<State>(new State{path, options, std::move(*file), std::move(*container)});
  state->entries = std::move(front->entries);
  state->has_csr = true;
  const std::uint64_t flags = front->header.may_ignore;
  state->pattern = (flags & kBundlePattern) != 0;
  if ((flags & (kBundleSymmetric | kBundleNotSymmetric)) != 0)
    state->symmetric = (flags & kBundleSymmetric) != 0;
  return BundleWriter(std::move(state));
}

Status BundleWriter::begin_matrix(const std::string& name) {
  assert(state_->has_csr);
  if (state_->matrix.empty()) state_->first_symmetric = state_->symmetric;
  state_->matrix = matrix_group(name);
  state_->has_csr = state_->has_transpose = false;
  state_->symmetric.reset();
  return state_->named(state_->container.add_group(state_->matrix));
}

Status BundleWriter::add_arrays(const std::string& group,
                                std::span<const std::pair<std::string_view, ArrayView>> arrays) {
  Status s = state_->container.add_group(group);
  for (const auto& [name, array] : arrays)
    if (s) s = state_->add_array(group + "/" + std::string(name), array);
  return state_->named(s);
}

Status BundleWriter::add_csr(const CsrView& a) {
  assert(!state_->has_csr);
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  if (!a.is_pattern() && a.values.dtype != DType::f32 && a.values.dtype != DType::f64)
    return fail(Errc::usage, "/csr requires f32 or f64; convert the values first", state_->path);
  if (a.rows > kMax || a.cols > kMax)
    return fail(Errc::unsupported, "more than 2^31 - 1 rows or columns", state_->path);
  if (Status s = kCsrLayout.check_lengths(as_format(a)); !s) return state_->named(s);
  if (!state_->matrix.empty() && a.values.dtype != state_->dtype)
    return fail(Errc::usage, state_->matrix + " has a different value type from the first matrix",
                state_->path);
  state_->rows = a.rows, state_->cols = a.cols, state_->nnz = a.nnz();
  state_->pattern = a.is_pattern();
  state_->dtype = a.values.dtype;
  state_->has_csr = true;

  constexpr float kOne = 1;  // iso value of patterns in binsparse
  const ArrayView values = a.is_pattern() ? ArrayView(DType::f32, &kOne, 1) : a.values;
  const std::array<std::int64_t, 3> shape{a.rows, a.cols, a.nnz()};
  const std::pair<const char*, ArrayView> arrays[] = {{kShapePath, {DType::i64, shape.data(), shape.size()}},
                                                      {kCsrPointersPath, ArrayView(a.row_ptr)},
                                                      {kCsrIndicesPath, ArrayView(a.col_idx)},
                                                      {kCsrValuesPath, values}};
  std::int64_t bytes = 0;
  for (const auto& [path, array] : arrays) bytes += array.bytes();
  begin(state_->options.progress, "write", bytes);
  Status s = state_->container.add_group(state_->matrix + std::string(kCsrLayout.group));
  for (const auto& [path, array] : arrays)
    if (s) s = state_->add_array(state_->matrix + path, array);
  if (s) s = state_->describe_csr(binsparse_descriptor(a));
  if (s) s = state_->container.add_group(state_->matrix + "/formats");
  return state_->named(s);
}

Status BundleWriter::add_symmetry(bool symmetric) {
  assert(state_->has_csr && !state_->has_transpose);
  if (symmetric && state_->rows != state_->cols)
    return fail(Errc::usage, "a matrix that is not square cannot be symmetric", state_->path);
  state_->symmetric = symmetric;
  const std::string group = state_->matrix.empty() ? "/" : state_->matrix;
  return state_->named(state_->container.add_attribute(group, "symmetric", std::int64_t{symmetric}));
}

Status BundleWriter::State::open_transpose() {
  if (has_transpose) return {};
  has_transpose = true;
  Status s = container.add_group(matrix + kTransposeGroup);
  return s ? container.add_group(matrix + kTransposeGroup + "/formats") : s;
}

Status BundleWriter::add_row_order(std::span<const std::int32_t> new_to_old, Side side) {
  assert(state_->has_csr);
  const std::int64_t rows = side == Side::matrix ? state_->rows : state_->cols;
  if (static_cast<std::int64_t>(new_to_old.size()) != rows)
    return fail(Errc::usage, fmt::format("row order has {} ids for {} rows", new_to_old.size(), rows),
                state_->path);
  begin(state_->options.progress, "write", ArrayView(new_to_old).bytes());
  Status s = side == Side::matrix ? Status() : state_->open_transpose();
  if (s) s = state_->add_array(state_->matrix + row_order_path(side), ArrayView(new_to_old));
  return state_->named(s);
}

Status BundleWriter::State::check_value_source(std::string_view name, const ArrayView& value_source) const {
  if (!value_source.present() || (value_source.dtype == DType::i64 && value_source.size == nnz && !pattern))
    return {};
  return fail(Errc::usage,
              fmt::format("{}: value_source must be i64, one per entry, of a matrix with values", name));
}

/// Fails early for a bundle that every reader would reject as inconsistent.
Status BundleWriter::State::check_format(const FormatView& view, const ArrayView& value_source,
                                         Side side) const {
  const std::string name(view.layout->name);
  if (view.layout == &kCsrLayout && side == Side::matrix)
    return fail(Errc::usage, "csr must be added with add_csr");
  if (side == Side::transpose && symmetric.value_or(false))
    return fail(Errc::usage, name + ": the matrix is symmetric and its transpose has no separate formats");
  const std::int64_t tall = side == Side::matrix ? rows : cols, wide = side == Side::matrix ? cols : rows;
  if (view.rows != tall || view.cols != wide || view.nnz != nnz || view.is_pattern() != pattern)
    return fail(Errc::usage, fmt::format("{} does not match {}: shape, entries or value types differ", name,
                                         side == Side::matrix ? "the matrix in /csr" : "its transpose"));
  if (view.layout == &kCsrLayout && view.value_dtype() != dtype)
    return fail(Errc::usage, "csr of the transpose must have values of the type of those in /csr");
  if (Status s = check_value_source(name, value_source); !s) return s;
  return view.layout->check_lengths(view);
}

Status BundleWriter::State::add_format_group(const FormatLayout& layout, Side side) {
  Status s = side == Side::matrix ? Status() : open_transpose();
  return s ? container.add_group(matrix + bundle_group(layout, side)) : s;
}

Status BundleWriter::add_format(const FormatView& view, const Parameters& parameters, ArrayView value_source,
                                Side side) {
  assert(state_->has_csr);
  const FormatLayout& layout = *view.layout;
  if (Status s = state_->check_format(view, value_source, side); !s) return state_->named(s);
  begin(state_->options.progress, "write", index_bytes(view) + value_bytes(view) + value_source.bytes());
  Status s = state_->add_format_group(layout, side);
  for (const auto& [name, value] : parameters)
    if (s) s = state_->container.add_attribute(state_->matrix + bundle_group(layout, side), name, value);
  for (std::size_t i = 0; i < layout.arrays.size(); ++i)
    if (s && view.arrays[i].present())
      s = state_->add_array(state_->matrix + bundle_path(layout, i, side), view.arrays[i]);
  if (s && value_source.present())
    s = state_->add_array(state_->matrix + value_source_path(layout, side), value_source);
  return state_->named(s);
}

Status BundleWriter::add_transposed_source(const FormatLayout& layout, ArrayView value_source) {
  assert(state_->symmetric.value_or(false));
  begin(state_->options.progress, "write", value_source.bytes());
  Status s = state_->check_value_source(layout.name, value_source);
  if (s) s = state_->add_format_group(layout, Side::transpose);
  if (s) s = state_->add_array(state_->matrix + value_source_path(layout, Side::transpose), value_source);
  return state_->named(s);
}

Status BundleWriter::add_choices(const std::string& lines) {
  const ArrayView bytes(DType::u8, lines.data(), static_cast<std::int64_t>(lines.size()));
  Status s = state_->add_array(kChoicesPath, bytes);
  if (s) s = state_->container.add_attribute("/", kChoicesPath + 1, lines);
  return state_->named(s);
}

/// Returns the first number above those of all plans.
Result<std::string> BundleWriter::State::next_plan() const {
  constexpr long kMaxPlans = 10000;
  const std::string prefix = std::string(kPlansPath) + "/";
  long next = 0;
  for (const BundleEntry& entry : entries)
    if (std::string_view(entry.path).starts_with(prefix))
      next = std::max(next, std::min(std::strtol(entry.path + prefix.size(), nullptr, 10), kMaxPlans) + 1);
  if (next < kMaxPlans) return fmt::format("{}{:04}", prefix, next);
  return fail(Errc::usage, fmt::format("expected plans at the end of {}{}; convert again", prefix, next - 1));
}

Status BundleWriter::add_plan(std::string_view key, std::span<const std::int64_t> numbers,
                              std::span<const std::byte> schedule) {
  const Result<std::string> group = state_->next_plan();
  if (!group) return state_->named(tl::unexpected(group.error()));
  const auto bytes = [](const auto& data) {
    return ArrayView(DType::u8, data.data(), static_cast<std::int64_t>(data.size()));
  };
  begin(state_->options.progress, "write",
        static_cast<std::int64_t>(key.size() + numbers.size_bytes() + schedule.size()));
  const auto has_plans = state_->container.has(kPlansPath);
  if (!has_plans) return state_->named(tl::unexpected(has_plans.error()));
  Status s = *has_plans ? Status{} : state_->container.add_group(kPlansPath);
  if (s) s = state_->container.add_group(*group);
  if (s) s = state_->add_array(*group + "/" + kPlanKeyName, bytes(key));
  if (s) s = state_->add_array(*group + "/" + kPlanNumbersName, ArrayView(numbers));
  if (s) s = state_->add_array(*group + "/" + kPlanScheduleName, bytes(schedule));
  return state_->named(s);
}

Status BundleWriter::remove_plan(const std::string& group) {
  std::erase_if(state_->entries, [&](const BundleEntry& entry) {
    return std::string_view(entry.path).starts_with(group + "/");
  });
  return state_->named(state_->container.remove(group));
}

/// Queries the offsets of the arrays, sorts the table and closes the HDF5 container.
Status BundleWriter::State::finish_container() {
  for (BundleEntry& entry : entries) {
    const Result<Hdf5Place> place = container.place(entry.path);
    if (!place) return tl::unexpected(place.error());
    if (place->bytes != entry.bytes)
      return fail(Errc::internal, std::string("HDF5 changed the size of ") + entry.path);
    entry.offset = place->offset;
  }
  const auto before = [](const BundleEntry& a, const BundleEntry& b) {
    return std::pair(a.offset, std::string_view(a.path)) < std::pair(b.offset, std::string_view(b.path));
  };
  std::sort(entries.begin(), entries.end(), before);
  return container.close();
}

Result<BundleHeader> BundleWriter::State::make_header() const {
  BundleHeader header{};
  std::array<std::byte, kSuperblockBytes> superblock{};
  const off_t size = ::lseek(file.fd(), 0, SEEK_END);
  if (size < 0 || ::pread(file.fd(), superblock.data(), superblock.size(),
                          static_cast<off_t>(options.user_block)) != static_cast<ssize_t>(superblock.size()))
    return system_failure(errno, "cannot read back what HDF5 wrote", path);
  std::copy(std::begin(kBundleMagic), std::end(kBundleMagic), header.magic);
  header.version = kBundleVersion;
  header.entries = static_cast<std::uint32_t>(entries.size());
  header.user_block = options.user_block;
  header.file_size = static_cast<std::uint64_t>(size);
  header.superblock_hash = bundle_hash(superblock.data(), superblock.size());
  header.may_ignore = pattern ? kBundlePattern : 0;
  const std::optional<bool>& of_root = matrix.empty() ? symmetric : first_symmetric;
  if (of_root) header.may_ignore |= *of_root ? kBundleSymmetric : kBundleNotSymmetric;
  header.header_hash = bundle_header_hash(header, entries);
  return header;
}

Result<std::uint64_t> BundleWriter::commit() {
  assert(state_->has_csr);
  begin(state_->options.progress, "sync", 0);
  if (Status s = state_->named(state_->finish_container()); !s) return tl::unexpected(s.error());
  const Result<BundleHeader> header = state_->make_header();
  if (!header) return tl::unexpected(header.error());
  Status s = write_header(state_->file.fd(), *header, state_->entries);
  state_->writeback.clear();  // waits for the threads
  if (s) s = state_->file.commit(kReadOnly);
  if (s = state_->named(s); !s) return tl::unexpected(s.error());
  return header->file_size;
}

}  // namespace sptile::formats
