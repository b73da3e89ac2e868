// The operands of one side of a comparison, by name.
#pragma once

#include <cmath>
#include <map>
#include <string>

#include "runtime/include/sptile.hpp"
#include "tools/bench/bench_device.hpp"
#include "tools/bench/layers/math.hpp"
#include "tools/bench/layers/timing.hpp"

namespace sptile::tools::layers {

template <class T>
class Arrays {
 public:
  /// An array of numbers that follow from its name, the same on all sides.
  T* input(const std::string& name, std::int64_t count) {
    T* const to = array(name, count);
    std::uint64_t seed = 0;
    for (const char c : name) seed = 31 * seed + static_cast<unsigned char>(c);
    fill(to, count, seed, work_stream());
    expect(cudaStreamSynchronize(work_stream()));
    return to;
  }

  /// An array of zeros, or the one of this name.
  T* array(const std::string& name, std::int64_t count) {
    const auto bytes = static_cast<std::size_t>(count) * sizeof(T);
    if (!arrays_.contains(name)) expect_room(bytes);
    const auto [place, made] = arrays_.try_emplace(name, bytes);
    if (made) expect(cudaDeviceSynchronize());  // it is cleared on another stream
    return static_cast<T*>(place->second.get());
  }

  [[nodiscard]] T* get(const std::string& name) const { return static_cast<T*>(arrays_.at(name).get()); }
  [[nodiscard]] std::int64_t count(const std::string& name) const {
    return static_cast<std::int64_t>(arrays_.at(name).size() / sizeof(T));
  }
  [[nodiscard]] std::size_t bytes() const {
    std::size_t all = 0;
    for (const auto& [name, array] : arrays_) all += array.size();
    return all;
  }

 private:
  /// What does not fit is not measured, and the next may.
  static void expect_room(std::size_t bytes) {
    std::size_t free = 0, total = 0;
    expect(cudaMemGetInfo(&free, &total));
    if (bytes > free)
      throw Exception(SPTILE_DEVICE, "an operand takes " + std::to_string(bytes) +
                                         " bytes of device memory, " + std::to_string(free) + " are free");
  }

  std::map<std::string, DeviceBytes> arrays_;
};

/// ||computed - reference|| / ||reference|| of two arrays.
inline double error_of(const Arrays<float>& computed, const Arrays<double>& reference,
                       const std::string& name, const std::string& reference_name) {
  const DeviceBytes sums(2 * sizeof(double));
  expect(cudaDeviceSynchronize());
  add_difference(computed.get(name), reference.get(reference_name), computed.count(name),
                 static_cast<double*>(sums.get()), work_stream());
  double host[2] = {};
  expect(cudaStreamSynchronize(work_stream()));
  expect(cudaMemcpy(host, sums.get(), sizeof host, cudaMemcpyDeviceToHost));
  return host[0] == 0 ? 0 : std::sqrt(host[0] / host[1]);
}

}  // namespace sptile::tools::layers
