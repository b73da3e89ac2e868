#include "formats/io/files/output_group.hpp"

#include <utility>

#include "formats/io/files/atomic_file.hpp"

namespace sptile::formats {

OutputGroup::OutputGroup() = default;
OutputGroup::OutputGroup(OutputGroup&&) noexcept = default;
OutputGroup& OutputGroup::operator=(OutputGroup&&) noexcept = default;
OutputGroup::~OutputGroup() = default;

Status OutputGroup::commit() {
  std::vector<AtomicFile> files = std::exchange(files_, {});
  for (std::size_t i = 0; i < files.size(); ++i) {
    const Status placed = files[i].place(true);
    if (placed) continue;
    while (i-- > 0) files[i].roll_back();
    return placed;
  }
  Status all;
  for (AtomicFile& file : files)
    if (Status s = file.settle(); !s && all) all = std::move(s);
  return all;
}

}  // namespace sptile::formats
