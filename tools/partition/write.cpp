#include "tools/partition/write.hpp"

#include <array>
#include <utility>

#include "formats/io/files/atomic_file.hpp"
#include "formats/io/hdf5/bundle_writer.hpp"
#include "formats/layout/csr.hpp"
#include "formats/layout/part_layout.hpp"
#include "tools/partition/names.hpp"
#include "tools/partition/part_matrices.hpp"

namespace sptile::tools {
namespace {

using formats::BundleWriter;

class PartWriter {
 public:
  PartWriter(const RowSource& source, const reorder::Division& division, const Survey& survey,
             const PartitionDescription& description, std::uint64_t id, Progress* progress)
      : source_(source),
        division_(division),
        survey_(survey),
        description_(description),
        id_(id),
        progress_(progress) {}

  Result<std::uint64_t> write(std::int32_t part, const formats::AtomicFolder& folder) {
    const std::string name = part_name(part);
    auto file = folder.create_file(name);
    if (!file) return tl::unexpected(std::move(file.error()));
    auto writer = BundleWriter::create(std::move(*file), folder.path_of(name),
                                       {.attributes = {{"source_name", description_.source},
                                                       {"partition", description_.id},
                                                       {"rank", std::int64_t{part}},
                                                       {"parts", std::int64_t{division_.parts()}}},
                                        .progress = progress_});
    if (!writer) return tl::unexpected(std::move(writer.error()));
    Status s = add_matrix(*writer, read(part, local_matrix(source_.a, division_, part)), true);
    if (s) s = writer->begin_matrix(formats::kHaloMatrix);
    const PlaceSet& needed = survey_.needed[static_cast<std::size_t>(part)];
    if (s) s = add_matrix(*writer, read(part, halo_matrix(source_.a, division_, part, needed)), false);
    if (s) s = add_lists(*writer, part);
    if (!s) return tl::unexpected(std::move(s.error()));
    return writer->commit();
  }

 private:
  formats::Csr read(std::int32_t part, formats::Csr matrix) const {
    if (division_.is_block(part)) source_.done_with(division_.first(part), division_.last(part));
    return matrix;
  }

  // Adds a matrix and, if the entire matrix is not symmetric, its transpose. Only these two are in memory.
  Status add_matrix(BundleWriter& writer, const formats::Csr& matrix, bool is_local) const {
    Status s = writer.add_csr(matrix.view());
    if (description_.symmetric) return s && is_local ? writer.add_symmetry(true) : s;
    if (!s) return s;
    const formats::Csr turned = formats::transpose(matrix.view());
    return writer.add_format(formats::as_format(turned.view()), {}, {}, formats::Side::transpose);
  }

  Status add_lists(BundleWriter& writer, std::int32_t part) const {
    const PartLists lists = part_lists(division_, survey_, part);
    const formats::PartNumbers numbers{formats::kPartLayoutVersion, part,
                                       division_.parts(),           description_.rows,
                                       description_.entries,        description_.symmetric ? 1 : 0};
    const ArrayView all_numbers(DType::i64, &numbers, sizeof numbers / sizeof(std::int64_t));
    const auto view = [](const auto& list) { return ArrayView(std::span(list)); };
    const std::array<std::pair<std::string_view, ArrayView>, 7> arrays = {
        {{formats::kPartId, ArrayView(DType::u64, &id_, 1)},
         {formats::kPartNumbers, all_numbers},
         {formats::kPartOldIds, view(lists.old_ids)},
         {formats::kPartHaloIds, view(lists.halo_ids)},
         {formats::kPartSendOffset, view(lists.send_offset)},
         {formats::kPartSendRows, view(lists.send_rows)},
         {formats::kPartReceiveOffset, view(lists.receive_offset)}}};
    return writer.add_arrays(formats::kPartGroup, arrays);
  }

  const RowSource& source_;
  const reorder::Division& division_;
  const Survey& survey_;
  const PartitionDescription& description_;
  std::uint64_t id_;
  Progress* progress_;
};

Status write_description(const PartitionDescription& description, const formats::AtomicFolder& folder) {
  auto file = folder.create_file(std::string(kDescriptionName));
  if (!file) return tl::unexpected(std::move(file.error()));
  const Status written = file->write(description_text(description));
  return written ? file->commit(0444) : written;
}

}  // namespace

std::uint64_t partition_id(const reorder::Division& division, std::uint64_t content) {
  formats::BundleHasher hasher;
  hasher.add(&content, sizeof content);
  hasher.add(division.offset.data(), division.offset.size() * sizeof(std::int64_t));
  for (std::int64_t at = 0; at < division.rows(); ++at) {
    const std::int64_t row = division.row_at(at);
    hasher.add(&row, sizeof row);
  }
  return hasher.hash();
}

Result<PartitionDescription> write_partition(const RowSource& source, const reorder::Division& division,
                                             const Survey& survey, const PartitionTask& task,
                                             const formats::AtomicFolder& folder, Progress* progress) {
  const DType dtype = source.a.values.dtype;
  const std::uint64_t content = content_hash(survey.digest, division.rows(), size_of(dtype));
  const std::uint64_t id = partition_id(division, content);
  PartitionDescription description{.id = hex_digits(id),
                                   .content = hex_digits(content),
                                   .rows = division.rows(),
                                   .entries = source.a.nnz(),
                                   .dtype = dtype,
                                   .symmetric = survey.digest.symmetric(),
                                   .method = task.method,
                                   .reorder = task.reorder,
                                   .source = task.source,
                                   .seed = task.seed,
                                   .parts = survey.parts,
                                   .file_bytes = {}};
  PartWriter writer(source, division, survey, description, id, progress);
  if (progress != nullptr) progress->steps = division.parts();
  for (std::int32_t part = 0; part < division.parts(); ++part) {
    const auto bytes = writer.write(part, folder);
    if (!bytes) return tl::unexpected(bytes.error());
    description.file_bytes.push_back(*bytes);
    if (progress != nullptr) ++progress->steps_done;
  }
  if (Status s = write_description(description, folder); !s) return tl::unexpected(std::move(s.error()));
  return description;
}

}  // namespace sptile::tools
