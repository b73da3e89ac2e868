#include "formats/io/matrix_market/matrix_market_reader.hpp"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/core/parallel_pipeline.hpp"
#include "formats/io/files/available_memory.hpp"
#include "formats/io/matrix_market/entries_to_csr.hpp"
#include "formats/io/matrix_market/entry_store.hpp"
#include "formats/io/matrix_market/mtx_block.hpp"
#include "formats/io/matrix_market/mtx_header.hpp"
#include "formats/io/matrix_market/mtx_line.hpp"
#include "formats/io/text/line_blocks.hpp"

namespace sptile::formats {
namespace {

// The header, and the text after it in the same block.
struct Opening {
  MtxHeader header;
  std::int64_t size_line = 0;
  TextBlock rest;
};

std::string place(const std::string& name, std::int64_t line) { return name + ":" + std::to_string(line); }

// Returns the number of entries that fit in the remaining text. A header that promises more than the size of
// a plain file allows is thus detected before allocating; a short rest is read nevertheless, to report the
// line with the error.
Result<std::int64_t> proven_entries(const Opening& opening, const TextStream& stream) {
  constexpr std::int64_t kShort = 64 << 10;
  const std::optional<std::int64_t> size = stream.size();
  if (!size) return 0;
  const std::int64_t left = *size - opening.rest.first_byte, needed = min_bytes(opening.header);
  if (needed >= 0 && needed <= left) return opening.header.entries;
  if (left <= kShort) return 0;
  return fail(Errc::bad_input,
              "the header declares " + std::to_string(opening.header.entries) + " entries, but the " +
                  std::to_string(std::max<std::int64_t>(0, left)) +
                  " bytes after it are too few for them; the file may be truncated",
              place(stream.name(), opening.size_line));
}

Result<Opening> read_opening(LineBlocks& blocks, bool real_part) {
  MtxHeaderReader reader(real_part);
  Opening opening;
  const std::string name = blocks.stream().name();
  TextBlock& block = opening.rest;
  for (;;) {
    const Result<bool> more = blocks.next(block);
    if (!more) return tl::unexpected(more.error());
    if (!*more)
      return fail(Errc::bad_input, "the file ends before " + std::string(reader.awaits()),
                  place(name, std::max<std::int64_t>(1, blocks.lines())));
    while (!block.text.empty()) {
      const std::size_t before = block.text.size();
      const std::int64_t line = block.first_line;
      Result<bool> complete = reader.take(take_line(block.text));
      if (!complete) return fail(complete.error().code, complete.error().message, place(name, line));
      block.first_line += 1;
      block.lines -= 1;
      block.first_byte += static_cast<std::int64_t>(before - block.text.size());
      if (!*complete) continue;
      opening.header = reader.header();
      opening.size_line = line;
      return opening;
    }
  }
}

// A block in the pipeline.
struct Work {
  TextBlock block;
  EntryPiece piece;
  EntryTarget target;
  BlockSummary summary;
};

// Reads, parses and checks the body. The first and the last stage process blocks in file order, so that the
// first error of the file is reported for any number of threads.
class BodyReader {
 public:
  BodyReader(LineBlocks& blocks, Opening opening, std::int64_t proven, const MtxReadOptions& options,
             const MtxReadSizes& sizes)
      : blocks_(blocks),
        header_(opening.header),
        size_line_(opening.size_line),
        options_(options),
        store_(header_, options.dtype, proven, sizes.segment_entries),
        first_(std::move(opening.rest)) {}

  Status run();

  EntryStore& store() { return store_; }
  [[nodiscard]] bool sorted() const { return sorted_; }
  [[nodiscard]] std::int64_t nonfinite() const { return nonfinite_; }
  [[nodiscard]] const ValueLoss& loss() const { return loss_; }

 private:
  Work* read();
  void collect(Work& work);
  std::optional<LineDefect> find_surplus(const Work& work) const;
  std::optional<LineDefect> find_other_triangle(const Work& work);
  void look_at_order(const Work& work);
  Status check_end() const;
  [[nodiscard]] std::string where(std::int64_t line) const { return place(blocks_.stream().name(), line); }

  LineBlocks& blocks_;
  const MtxHeader header_;
  const std::int64_t size_line_;
  const MtxReadOptions& options_;
  EntryStore store_;

  std::optional<TextBlock> first_;  // start of the body, from the block with the header
  std::vector<std::unique_ptr<Work>> works_;
  parallel::IdleItems<Work> idle_;
  Status source_ = {};                // error of the first stage
  std::atomic<bool> stopped_{false};  // the last stage found an error
  std::optional<Error> error_;        // error of the last stage

  bool sorted_ = true;
  std::int32_t last_row_ = 0;
  bool lower_ = false, upper_ = false;  // triangles with entries so far
  std::int64_t nonfinite_ = 0;
  ValueLoss loss_;
  std::optional<Error> overflow_;  // first overflow
};

// Returns the next block, with space for its entries; nullptr at the end.
Work* BodyReader::read() {
  if (stopped_) return nullptr;
  if (cancelled(options_.progress)) {
    source_ = fail(Errc::io, "cancelled", blocks_.stream().name());
    return nullptr;
  }
  Work* work = idle_.pop();
  if (work == nullptr) work = works_.emplace_back(std::make_unique<Work>()).get();
  if (first_) {
    work->block = *std::exchange(first_, std::nullopt);
  } else {
    const std::int64_t before = blocks_.stream().input().position();
    const Result<bool> more = blocks_.next(work->block);
    advance(options_.progress, blocks_.stream().input().position() - before);
    if (!more) source_ = tl::unexpected(more.error());
    if (!more || !*more) return nullptr;
  }
  work->piece = store_.reserve(work->block.lines);
  work->target = store_.target(work->piece);
  return work;
}

// Returns the first entry beyond the number promised by the header.
std::optional<LineDefect> BodyReader::find_surplus(const Work& work) const {
  const std::int64_t capacity = header_.entries - store_.entries();
  if (work.summary.entries <= capacity) return std::nullopt;
  return LineDefect{line_of_entry(work.block.text, capacity),
                    "more entries than the " + std::to_string(header_.entries) + " declared in line " +
                        std::to_string(size_line_) + "; correct the count or remove the surplus"};
}

// Returns the first entry outside the triangle of the file's first off-diagonal entry.
std::optional<LineDefect> BodyReader::find_other_triangle(const Work& work) {
  if (header_.symmetry == MtxSymmetry::general || !header_.coordinate) return std::nullopt;
  const bool mixed = (lower_ || work.summary.lower) && (upper_ || work.summary.upper);
  if (!mixed) {
    lower_ |= work.summary.lower;
    upper_ |= work.summary.upper;
    return std::nullopt;
  }
  for (std::int64_t i = 0;; ++i) {
    lower_ |= work.target.rows[i] > work.target.cols[i];
    upper_ |= work.target.rows[i] < work.target.cols[i];
    if (lower_ && upper_)
      return LineDefect{
          line_of_entry(work.block.text, i),
          "entry (" + std::to_string(work.target.rows[i] + 1) + ", " +
              std::to_string(work.target.cols[i] + 1) +
              ") is in the other triangle than the preceding entries; symmetric files list one triangle"};
  }
}

void BodyReader::look_at_order(const Work& work) {
  if (!header_.coordinate || work.summary.entries == 0) return;
  sorted_ = sorted_ && work.summary.sorted && work.target.rows[0] >= last_row_;
  last_row_ = work.target.rows[work.summary.entries - 1];
}

void BodyReader::collect(Work& work) {
  if (stopped_) return;
  std::optional<LineDefect> defect = find_surplus(work);
  const auto earlier = [&](std::optional<LineDefect> other) {
    if (other && (!defect || other->line < defect->line)) defect = std::move(other);
  };
  earlier(find_other_triangle(work));
  earlier(work.summary.defect);
  if (defect) {
    error_ = Error{Errc::bad_input, std::move(defect->message), where(work.block.first_line + defect->line)};
    stopped_ = true;
    return;
  }
  look_at_order(work);
  nonfinite_ += work.summary.nonfinite;
  ValueLoss loss{work.summary.lost, {}};
  if (auto& first = work.summary.loss)
    loss.first =
        Error{Errc::bad_input, std::move(first->message), where(work.block.first_line + first->line)};
  loss_ += loss;
  store_.keep(work.piece, work.summary.entries);
}

Status BodyReader::check_end() const {
  if (error_) return tl::unexpected(*error_);
  if (!source_) return source_;
  if (store_.entries() == header_.entries) return {};
  return fail(Errc::bad_input,
              "the file ends after " + std::to_string(store_.entries()) + " of the " +
                  std::to_string(header_.entries) + " entries declared in line " +
                  std::to_string(size_line_) + "; the file may be truncated",
              where(blocks_.lines()));
}

Status BodyReader::run() {
  parallel::pipeline<Work>([this] { return read(); },
                           [this](Work* work) {
                             work->summary =
                                 parse_block(header_, options_.dtype, work->block.text, work->target);
                           },
                           [this](Work* work) {
                             collect(*work);
                             idle_.push(work);
                           });
  return check_end();
}

Result<MtxMatrix> read_all(InputBytes input, const MtxReadOptions& options, const MtxReadSizes& sizes) {
  begin(options.progress, "read", input.size().value_or(0));
  if (options.hash_source) input.start_hash();
  Result<TextStream> stream = TextStream::open(std::move(input));
  if (!stream) return tl::unexpected(stream.error());
  LineBlocks blocks(*std::move(stream), sizes.block_bytes);
  Result<Opening> opening = read_opening(blocks, options.real_part);
  if (!opening) return tl::unexpected(opening.error());
  const Result<std::int64_t> proven = proven_entries(*opening, blocks.stream());
  if (!proven) return tl::unexpected(proven.error());

  MtxMatrix matrix;
  matrix.header = opening->header;
  BodyReader body(blocks, *std::move(opening), *proven, options, sizes);
  if (Status done = body.run(); !done) return tl::unexpected(done.error());
  matrix.nonfinite = body.nonfinite();
  matrix.loss = body.loss();
  matrix.source_sha256 = blocks.stream().input().finish_hash();
  Result<AssembledCsr> assembled =
      entries_to_csr(matrix.header, body.store(), body.sorted(), options.dtype,
                     sizes.memory_limit > 0 ? sizes.memory_limit : available_memory(), options.compress_rows);
  if (!assembled) {
    assembled.error().where = blocks.stream().name();
    return tl::unexpected(assembled.error());
  }
  matrix.csr = std::move(assembled->csr);
  matrix.nonempty = std::move(assembled->nonempty);
  matrix.duplicates = assembled->duplicates;
  matrix.nonfinite += assembled->loss.overflowed;
  matrix.loss += assembled->loss;
  matrix.integers = assembled->integers;
  return matrix;
}

}  // namespace

Result<MtxMatrix> read_matrix_market(InputBytes input, const MtxReadOptions& options,
                                     const MtxReadSizes& sizes) {
  assert(info(options.dtype).is_value);
  const std::string name = input.name();
  try {
    return read_all(std::move(input), options, sizes);
  } catch (const std::bad_alloc& error) {
    return fail(Errc::io, out_of_memory(error), name);
  }
}

Result<MtxHeader> read_matrix_market_header(const std::string& path, bool real_part) {
  Result<InputBytes> input = InputBytes::open(path);
  if (!input) return tl::unexpected(input.error());
  return read_matrix_market_header(*std::move(input), real_part);
}

Result<MtxHeader> read_matrix_market_header(InputBytes input, bool real_part) {
  Result<TextStream> stream = TextStream::open(std::move(input));
  if (!stream) return tl::unexpected(stream.error());
  constexpr std::int64_t kBlockBytes = 4 << 10;
  LineBlocks blocks(*std::move(stream), kBlockBytes);
  const Result<Opening> opening = read_opening(blocks, real_part);
  if (!opening) return tl::unexpected(opening.error());
  if (const auto proven = proven_entries(*opening, blocks.stream()); !proven)
    return tl::unexpected(proven.error());
  return opening->header;
}

Result<MtxMatrix> read_matrix_market(const std::string& path, const MtxReadOptions& options) {
  Result<InputBytes> input = InputBytes::open(path, options.progress);
  if (!input) return tl::unexpected(input.error());
  return read_matrix_market(*std::move(input), options);
}

}  // namespace sptile::formats
