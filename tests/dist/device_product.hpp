// Products with operands in device memory are right, whatever streams they have.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sptile_dist.hpp"
#include "tests/dist/reference.hpp"

namespace sptile::test {

/// Operands of one product, and the stream on which it is formed.
template <class T>
class DeviceOperands {
 public:
  explicit DeviceOperands(const std::vector<T>& b) : host_(b), b_(b.size()), c_(b.size()) {}

  /// Sends B, and lets run(b, c, stream) go.
  template <class Run>
  void start(const Run& run) {
    const std::size_t bytes = host_.size() * sizeof(T);
    if (bytes > 0)
      dist::detail::check(
          cudaMemcpyAsync(b_.data(), host_.data(), bytes, cudaMemcpyHostToDevice, stream_.get()),
          "cudaMemcpyAsync");
    run(std::span<const T>(b_.data(), b_.size()), std::span<T>(c_.data(), c_.size()), stream_.get());
  }

  /// C, once it is there.
  void read(std::vector<T>& c) const {
    if (!c.empty())
      dist::detail::check(cudaMemcpy(c.data(), c_.data(), c.size() * sizeof(T), cudaMemcpyDeviceToHost),
                          "cudaMemcpy");
  }

 private:
  std::vector<T> host_;
  dist::detail::CudaArray<T, false> b_, c_;
  dist::detail::CudaStream stream_;
};

/// A B and A^T B, one run after the other and two at a time; the bytes that they send.
template <class T, class Product>
void check_device_product(Product& product, const Matrix& whole, std::int64_t n,
                          double tolerance = tolerance_of<T>) {
  const std::vector<double> forward = whole_product<T>(whole, n, false);
  const auto run = [&](auto b, auto c, auto stream) { product.run(b, c, stream); };
  const auto run_transposed = [&](auto b, auto c, auto stream) { product.run_transposed(b, c, stream); };
  const auto through_device = [&](const auto& way) {
    return [&product, &way](const std::vector<T>& b, std::vector<T>& c) {
      DeviceOperands<T> operands(b);
      operands.start(way);
      product.wait();
      operands.read(c);
    };
  };
  const std::int64_t before = product.bytes_sent();
  compare<T>("A B", forward, product.old_ids(), n, through_device(run), tolerance);
  compare<T>("A^T B", whole_product<T>(whole, n, true), product.old_ids(), n, through_device(run_transposed),
             tolerance);

  const std::vector<T> b = rows_of_b<T>(product.old_ids(), n);
  std::vector<T> c(b.size(), T(-7)), of_zeros = c;
  DeviceOperands<T> one(b), other(std::vector<T>(b.size(), T(0)));
  one.start(run);
  other.start(run);
  product.wait();
  one.read(c);
  other.read(of_zeros);
  compare_rows<T>("A B beside another", forward, product.old_ids(), n, c, tolerance);
  if (of_zeros != std::vector<T>(b.size(), T(0))) fail("A 0 beside another is not 0");

  const Part& part = product.part();
  const auto row = static_cast<std::int64_t>(sizeof(T)) * n;
  const std::int64_t there = part.send_offset().back() * row, back = part.receive_offset().back() * row;
  const std::int64_t wanted = product.fell_back() ? 0 : 4 * there + 2 * (part.symmetric() ? there : back);
  if (product.bytes_sent() - before != wanted)
    fail("six runs sent " + std::to_string(product.bytes_sent() - before) + " bytes, not " +
         std::to_string(wanted));
}

}  // namespace sptile::test
