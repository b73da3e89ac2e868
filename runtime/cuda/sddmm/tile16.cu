#include "formats/layout/bmat.hpp"
#include "formats/layout/me_tcf.hpp"
#include "runtime/cuda/sddmm/sddmm.hpp"
#include "runtime/cuda/sddmm/launch.cuh"

namespace sptile::runtime::cuda {
namespace {

struct Registers16 {
  static constexpr int kF32Narrow = 80, kF32Wide = 168, kF16Narrow = 64, kF16Wide = 128;
};

struct MeTcf {
  static constexpr std::string_view kSddmm = "cuda.me_tcf.sddmm";
  using Source = SampleMask16;
  static constexpr SampleScheduler kSample = sample_me_tcf;

  static void bind(const Launch& launch, SampleTask& task, std::int64_t element_bytes) {
    const formats::MeTcfView a = formats::as_me_tcf(launch.format);
    const std::byte* const masks = launch.schedule + launch.host->numbers[kSampleMasksAt];
    task.tiles.arrays = {a.sparse_a_to_b.data(), masks, a.values.data, a.values.bytes()};
    task.tiles.results = results_of(launch, a.values, 0, element_bytes);
  }
};

struct Bmat {
  static constexpr std::string_view kSddmm = "cuda.bmat.sddmm";
  using Source = SampleWords16;
  static constexpr SampleScheduler kSample = sample_bmat;

  static void bind(const Launch& launch, SampleTask& task, std::int64_t element_bytes) {
    const formats::BmatView a = formats::as_bmat(launch.format);
    task.tiles.arrays = {a.col_id.data(), a.bits.data(), a.values.data, a.values.bytes()};
    task.tiles.results = results_of(launch, a.values, 0, element_bytes);
  }
};

}  // namespace

std::span<const DeviceKernel> me_tcf_sddmm_kernels() {
  return sample_kernels<SampleFamily<MeTcf, Registers16>>();
}
std::span<const DeviceKernel> bmat_sddmm_kernels() {
  return sample_kernels<SampleFamily<Bmat, Registers16>>();
}

}  // namespace sptile::runtime::cuda
