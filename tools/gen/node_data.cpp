#include "tools/gen/node_data.hpp"

#include <array>
#include <string_view>

namespace sptile::tools::gen {
namespace {
constexpr std::array<std::string_view, 3> kSplitNames = {"train", "val", "test"};

template <class T>
std::vector<T> gather(const std::vector<T>& values, const std::vector<std::int32_t>& new_to_old) {
  std::vector<T> result;
  result.reserve(values.size());
  for (const std::int32_t old : new_to_old) result.push_back(values[static_cast<std::size_t>(old)]);
  return result;
}
}  // namespace

NodeData permute_nodes(const NodeData& nodes, const std::vector<std::int32_t>& new_to_old) {
  return {formats::permute_rows(nodes.features.view(), new_to_old), gather(nodes.labels, new_to_old),
          gather(nodes.splits, new_to_old)};
}

Status write_labels(const NodeData& nodes, formats::OutputBytes& output) {
  constexpr std::size_t kBlock = 1 << 20;
  std::string text = "label\tsplit\n";
  for (std::size_t i = 0; i < nodes.labels.size(); ++i) {
    text.append(std::to_string(nodes.labels[i])).append(1, '\t');
    text.append(kSplitNames[static_cast<std::size_t>(nodes.splits[i])]).append(1, '\n');
    if (text.size() < kBlock) continue;
    if (Status s = output.write(text); !s) return s;
    text.clear();
  }
  return output.write(text);
}

}  // namespace sptile::tools::gen
