// Partitions of small matrices on disk.
#pragma once

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "formats/core/csr.hpp"
#include "formats/core/random.hpp"
#include "reorder/partition/division.hpp"
#include "tests/bundle_image.hpp"
#include "tests/bundle_sample.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/partition/check.hpp"
#include "tools/partition/names.hpp"
#include "tools/partition/write.hpp"

namespace sptile::tests {

/// Order of the rows of a part: as `sptile partition` writes them, or as they are divided, like its earlier
/// versions.
enum class PartOrder { boundary_last, divided };

/// Writes a directory as `sptile partition` does.
inline tools::PartitionDescription write_parts(const formats::CsrView& a, reorder::Division division,
                                               const std::string& out,
                                               PartOrder order = PartOrder::boundary_last) {
  auto folder = formats::AtomicFolder::create(out, false, tools::is_partition_file);
  REQUIRE(folder);
  const tools::RowSource source{a, {}};
  auto survey = tools::survey_parts(source, division, nullptr);
  REQUIRE_MESSAGE(survey, survey.error().text());
  if (order == PartOrder::boundary_last) tools::put_boundary_last(division, *survey);
  auto written = tools::write_partition(source, division, *survey, {out, "test", "identity", "test", 1},
                                        *folder, nullptr);
  REQUIRE_MESSAGE(written, written.error().text());
  REQUIRE(folder->commit());
  return *written;
}

/// Returns a random part for each row; some parts may be empty.
inline std::vector<std::int32_t> random_parts(std::int64_t rows, std::int32_t parts, std::uint64_t seed) {
  RandomStream random(seed);
  std::vector<std::int32_t> part(static_cast<std::size_t>(rows));
  for (auto& p : part) p = static_cast<std::int32_t>(random.below(parts));
  return part;
}

/// Returns a line for each failed check of a directory: "CODE where: name: message".
inline std::string complaints(const std::string& folder) {
  std::vector<tools::BundleCheck> checks;
  static_cast<void>(tools::check_partition(folder, nullptr, checks));
  std::string text;
  for (const tools::BundleCheck& check : checks)
    if (!check.outcome)
      text += std::to_string(static_cast<int>(check.outcome.error().code)) + " " +
              check.outcome.error().where + ": " + check.name + ": " + check.outcome.error().message + "\n";
  return text;
}

/// Replaces a read-only file.
inline void replace(const std::string& path, std::span<const std::byte> bytes) {
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

/// Changes the numbers of an array of a part, and corrects the header and all hashes.
template <class T>
void forge(const std::string& file, const std::string& path,
           const std::function<void(std::span<T>)>& change) {
  Image image(bytes_of(file));
  formats::BundleEntry& entry = image.entry(path);
  change({reinterpret_cast<T*>(image.bytes().data() + entry.offset), entry.bytes / sizeof(T)});
  entry.hash = formats::bundle_hash(image.bytes().data() + entry.offset, entry.bytes);
  image.seal();
  replace(file, image.bytes());
}

}  // namespace sptile::tests
