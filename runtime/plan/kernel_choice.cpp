#include "runtime/plan/kernel_choice.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "runtime/cuda/device_format.hpp"

namespace sptile::runtime {
namespace {

using formats::FormatView;

/// Reads column lists of a format on a device. Host memory has the size of the arrays, but only the pages of
/// the sample are touched.
class DeviceLists {
 public:
  explicit DeviceLists(const cuda::DeviceFormat& on_device) : on_device_(on_device) {}

  std::optional<FormatView> read(const FormatView& format) {
    if (view_.layout != nullptr) return view_;
    FormatView view = format;
    for (std::size_t i = 0; i < view.layout->arrays.size(); ++i)
      if (view.layout->arrays[i].holds_columns && view.arrays[i].size > 0)
        if (!reserve(i, view.arrays[i])) return std::nullopt;
    for (const auto& list : count_format(view).lists)
      for (const ListRange& range : sampled_ranges(list.size(), kSampledLoads))
        if (!copy(view, list.subspan(range.begin, range.size))) return std::nullopt;
    view_ = view;
    return view_;
  }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  using Memory = std::unique_ptr<void, Free>;

  bool reserve(std::size_t i, ArrayView& array) {
    memory_[i] = Memory(std::calloc(static_cast<std::size_t>(array.size), size_of(array.dtype)));
    array.data = memory_[i].get();
    return array.data != nullptr;
  }

  /// Copies a part of a list to its place in the reserved memory.
  bool copy(const FormatView& view, std::span<const std::int32_t> part) {
    if (part.empty()) return true;
    for (std::size_t i = 0; i < view.layout->arrays.size(); ++i) {
      if (memory_[i] == nullptr) continue;
      auto* const begin = static_cast<std::byte*>(memory_[i].get());
      const std::uintptr_t offset =
          reinterpret_cast<std::uintptr_t>(part.data()) - reinterpret_cast<std::uintptr_t>(begin);
      if (offset >= static_cast<std::uintptr_t>(view.arrays[i].bytes())) continue;
      const auto* const from = static_cast<const std::byte*>(on_device_.view.arrays[i].data) + offset;
      const ArrayView there(DType::i32, from, std::ssize(part));
      return cuda::download(on_device_.ordinal, there, begin + offset).has_value();
    }
    return false;
  }

  const cuda::DeviceFormat& on_device_;
  std::array<Memory, formats::kMaxArrays> memory_;
  FormatView view_ = {};
};

/// Returns whether column lists are on the device only.
bool lacks_lists(const FormatView& format) {
  for (std::size_t i = 0; i < format.layout->arrays.size(); ++i)
    if (format.layout->arrays[i].holds_columns && format.arrays[i].size > 0 &&
        format.arrays[i].data == nullptr)
      return true;
  return false;
}

}  // namespace

Result<std::vector<Candidate>> predict_held(const Operation& op, const HeldFormat& held,
                                            const PlanOptions& options, Detail detail) {
  if (!lacks_lists(held.matrix.format)) return predict_product(op, {&held.matrix, 1}, options, detail);
  DeviceLists lists(*held.on_device);
  return predict_product(op, {&held.matrix, 1}, options, detail,
                         [&](const FormatView& format) { return lists.read(format); });
}

Result<KernelChoice> choose_held_kernel(const Operation& op, const HeldFormat& held,
                                        const PlanOptions& options, const cuda::DeviceInfo& device) {
  const FormatView& format = held.matrix.format;
  PlanOptions named = options;
  if (options.kernel.empty()) {
    const auto list = predict_held(op, held, options, Detail::choice);
    if (!list) return tl::unexpected(list.error());
    if (const Candidate* const best = chosen_of(*list)) named.kernel = best->kernel->name;
  }
  return choose_kernel({&op, format.layout->name, held.dtype, format.cols}, named, device);
}

}  // namespace sptile::runtime
