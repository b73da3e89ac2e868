#include <cuda_runtime_api.h>

#include <vector>

#include "tools/bench/batch/place.hpp"
#include "tools/bench/batch/timing.hpp"
#include "tools/bench/bench_device.hpp"

namespace sptile::tools::batch {
namespace {

class CudaPlace : public Place {
 public:
  [[nodiscard]] Device device() const override { return Device::cuda; }
  void* put(const void* from, std::size_t bytes) override {
    void* const to = memory_.emplace_back(from, bytes).get();
    expect(cudaDeviceSynchronize());  // the products' stream waits for no other stream
    return to;
  }
  void write(void* to, const void* from, std::size_t bytes) override {
    expect(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
    expect(cudaDeviceSynchronize());
  }
  void read(void* to, const void* from, std::size_t bytes) override {
    expect(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
  }
  void run(const Step& step) override { timing::run({launch_of(step)}); }
  double call_us(const Step& step) override { return timing::stream_us({launch_of(step)}); }
  std::optional<double> graph_us(const Step& step) override { return timing::graph_us({launch_of(step)}, 0); }

 private:
  static timing::Launch launch_of(const Step& step) {
    return [step](cudaStream_t stream) { step(stream); };
  }

  std::vector<DeviceBytes> memory_;
};

}  // namespace

Result<std::unique_ptr<Place>> cuda_place() {
  int devices = 0;
  const cudaError_t found = cudaGetDeviceCount(&devices);
  if (found != cudaSuccess || devices == 0)
    return fail(Errc::device, found == cudaSuccess ? "there is no CUDA device" : cudaGetErrorString(found));
  return std::make_unique<CudaPlace>();
}

}  // namespace sptile::tools::batch
