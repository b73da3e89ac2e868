#include "tools/bench/layers/math.hpp"

namespace sptile::tools::layers {
namespace {

constexpr int kThreads = 256, kWarp = 32;

unsigned blocks_for(std::int64_t count) {
  const std::int64_t blocks = (count + kThreads - 1) / kThreads;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks < 1 << 16 ? blocks : 1 << 16);
}
unsigned blocks_for_rows(std::int64_t rows) { return blocks_for(rows * kWarp); }

__device__ std::int64_t thread() { return std::int64_t{kThreads} * blockIdx.x + threadIdx.x; }
__device__ std::int64_t threads() { return std::int64_t{kThreads} * gridDim.x; }

/// f(i) for each of them.
template <class F>
__global__ void for_each(std::int64_t count, F f) {
  for (std::int64_t i = thread(); i < count; i += threads()) f(i);
}
template <class F>
void launch(std::int64_t count, cudaStream_t stream, const F& f) {
  for_each<<<blocks_for(count), kThreads, 0, stream>>>(count, f);
}

/// f(row, lane) for each row, by a warp.
template <class F>
__global__ void for_each_row(std::int64_t rows, F f) {
  for (std::int64_t row = thread() / kWarp; row < rows; row += threads() / kWarp)
    f(row, static_cast<int>(threadIdx.x % kWarp));
}
template <class F>
void launch_rows(std::int64_t rows, cudaStream_t stream, const F& f) {
  for_each_row<<<blocks_for_rows(rows), kThreads, 0, stream>>>(rows, f);
}

template <class T>
__device__ T warp_sum(T x) {
  for (int step = kWarp / 2; step > 0; step /= 2) x += __shfl_xor_sync(~0u, x, step);
  return x;
}
template <class T>
__device__ T warp_max(T x) {
  for (int step = kWarp / 2; step > 0; step /= 2) {
    const T other = __shfl_xor_sync(~0u, x, step);
    x = other > x ? other : x;
  }
  return x;
}

// The finaliser of SplitMix64; see formats/core/random.hpp.
__device__ std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

/// Sums f(row, column) over rows for each of the columns: a block has 32 columns and part of the rows.
template <class T, class F>
__global__ void sum_rows(T* sums, std::int64_t rows, std::int64_t columns, F f) {
  constexpr int kHigh = kThreads / kWarp;
  __shared__ T part[kHigh][kWarp];
  const std::int64_t column = std::int64_t{kWarp} * blockIdx.y + threadIdx.x % kWarp;
  const int place = static_cast<int>(threadIdx.x / kWarp);
  T sum = 0;
  if (column < columns)
    for (std::int64_t row = std::int64_t{blockIdx.x} * kHigh + place; row < rows;
         row += std::int64_t{kHigh} * gridDim.x)
      sum += f(row, column);
  part[place][threadIdx.x % kWarp] = sum;
  __syncthreads();
  if (place != 0 || column >= columns) return;
  for (int i = 1; i < kHigh; ++i) sum += part[i][threadIdx.x];
  atomicAdd(sums + column, sum);
}
template <class T, class F>
void launch_sums(T* sums, std::int64_t rows, std::int64_t columns, cudaStream_t stream, const F& f) {
  cudaMemsetAsync(sums, 0, static_cast<std::size_t>(columns) * sizeof(T), stream);
  const std::int64_t high = (rows + 255) / 256;
  const dim3 grid(static_cast<unsigned>(high < 1     ? 1
                                        : high < 512 ? high
                                                     : 512),
                  static_cast<unsigned>((columns + kWarp - 1) / kWarp));
  sum_rows<T><<<grid, kThreads, 0, stream>>>(sums, rows, columns, f);
}

/// Row and head of a number that counts both, heads outside.
struct RowOfHead {
  std::int64_t row, offset;  ///< of the row's first entry, in all heads
  std::int64_t begin, end;
};
__device__ RowOfHead row_of_head(const Edges& e, std::int64_t number) {
  const std::int64_t head = number / e.nodes, row = number % e.nodes;
  return {row, head * e.count, head * e.count + e.row_ptr[row], head * e.count + e.row_ptr[row + 1]};
}

}  // namespace

template <class T>
void fill(T* to, std::int64_t count, std::uint64_t seed, cudaStream_t stream) {
  launch(count, stream, [=] __device__(std::int64_t i) {
    const std::uint64_t bits = mix(mix(seed) + static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15ull);
    to[i] = T(static_cast<float>(static_cast<double>(bits >> 40) * 0x1p-23 - 1));
  });
}

void widen(const float* from, double* to, std::int64_t count, cudaStream_t stream) {
  launch(count, stream, [=] __device__(std::int64_t i) { to[i] = from[i]; });
}

void add_difference(const float* x, const double* y, std::int64_t count, double* sums, cudaStream_t stream) {
  launch_rows((count + 1023) / 1024, stream, [=] __device__(std::int64_t part, int lane) {
    double difference = 0, norm = 0;
    for (std::int64_t i = 1024 * part + lane; i < 1024 * (part + 1) && i < count; i += kWarp) {
      difference += (x[i] - y[i]) * (x[i] - y[i]);
      norm += y[i] * y[i];
    }
    difference = warp_sum(difference);
    norm = warp_sum(norm);
    if (lane == 0) atomicAdd(sums, difference);
    if (lane == 0) atomicAdd(sums + 1, norm);
  });
}

template <class T>
void bias_relu(T* c, const T* bias, std::int64_t rows, std::int64_t m, cudaStream_t stream) {
  launch(rows * m, stream, [=] __device__(std::int64_t i) {
    const T x = c[i] + bias[i % m];
    c[i] = x > 0 ? x : T(0);
  });
}

template <class T>
void relu_gradient(const T* c, const T* dc, T* g, std::int64_t count, cudaStream_t stream) {
  launch(count, stream, [=] __device__(std::int64_t i) { g[i] = c[i] > 0 ? dc[i] : T(0); });
}

template <class T>
void column_sums(const T* g, T* sums, std::int64_t rows, std::int64_t m, cudaStream_t stream) {
  launch_sums(sums, rows, m, stream,
              [=] __device__(std::int64_t row, std::int64_t column) { return g[row * m + column]; });
}

template <class T>
void add(const T* a, const T* b, const T* c, T* out, std::int64_t count, cudaStream_t stream) {
  launch(count, stream, [=] __device__(std::int64_t i) { out[i] = a[i] + b[i] + c[i]; });
}

template <class T>
void normalize(const T* h, T* unit, T* length, std::int64_t rows, std::int64_t n, cudaStream_t stream) {
  launch_rows(rows, stream, [=] __device__(std::int64_t row, int lane) {
    T sum = 0;
    for (std::int64_t j = lane; j < n; j += kWarp) sum += h[row * n + j] * h[row * n + j];
    const T all = sqrt(warp_sum(sum));
    for (std::int64_t j = lane; j < n; j += kWarp) unit[row * n + j] = all > 0 ? h[row * n + j] / all : T(0);
    if (lane == 0) length[row] = all;
  });
}

template <class T>
void normalize_gradient(const T* unit, const T* length, const T* du, const T* add, T* dh, std::int64_t rows,
                        std::int64_t n, cudaStream_t stream) {
  launch_rows(rows, stream, [=] __device__(std::int64_t row, int lane) {
    T dot = 0;
    for (std::int64_t j = lane; j < n; j += kWarp) dot += unit[row * n + j] * du[row * n + j];
    dot = warp_sum(dot);
    const T all = length[row];
    for (std::int64_t j = lane; j < n; j += kWarp) {
      const std::int64_t i = row * n + j;
      dh[i] = add[i] + (all > 0 ? (du[i] - unit[i] * dot) / all : T(0));
    }
  });
}

template <class T>
void softmax(const Edges& edges, const T* s, T* p, double scale, int heads, cudaStream_t stream) {
  launch_rows(edges.nodes * heads, stream, [=] __device__(std::int64_t number, int lane) {
    const RowOfHead row = row_of_head(edges, number);
    T most = -INFINITY, sum = 0;
    for (std::int64_t k = row.begin + lane; k < row.end; k += kWarp) {
      const T x = T(scale) * s[k];
      most = x > most ? x : most;
    }
    most = warp_max(most);
    for (std::int64_t k = row.begin + lane; k < row.end; k += kWarp) sum += exp(T(scale) * s[k] - most);
    sum = warp_sum(sum);
    for (std::int64_t k = row.begin + lane; k < row.end; k += kWarp) p[k] = exp(T(scale) * s[k] - most) / sum;
  });
}

template <class T>
void softmax_gradient(const Edges& edges, const T* p, const T* dp, T* ds, double scale, int heads,
                      cudaStream_t stream) {
  launch_rows(edges.nodes * heads, stream, [=] __device__(std::int64_t number, int lane) {
    const RowOfHead row = row_of_head(edges, number);
    T dot = 0;
    for (std::int64_t k = row.begin + lane; k < row.end; k += kWarp) dot += p[k] * dp[k];
    dot = warp_sum(dot);
    for (std::int64_t k = row.begin + lane; k < row.end; k += kWarp) ds[k] = T(scale) * p[k] * (dp[k] - dot);
  });
}

template <class T>
void additive_scores(const Edges& edges, const T* x, const T* y, T* s, double slope, int heads,
                     cudaStream_t stream) {
  launch_rows(edges.nodes * heads, stream, [=] __device__(std::int64_t number, int lane) {
    const RowOfHead row = row_of_head(edges, number);
    const std::int64_t head = number / edges.nodes;
    for (std::int64_t k = row.begin + lane; k < row.end; k += kWarp) {
      const T sum = x[row.row * heads + head] + y[edges.columns[k - row.offset] * std::int64_t{heads} + head];
      s[k] = sum > 0 ? sum : T(slope) * sum;
    }
  });
}

template <class T>
void additive_gradient(const Edges& edges, const T* x, const T* y, T* ds, T* dx, T* dy, double slope,
                       int heads, cudaStream_t stream) {
  launch_rows(edges.nodes * heads, stream, [=] __device__(std::int64_t number, int lane) {
    const RowOfHead row = row_of_head(edges, number);
    const std::int64_t head = number / edges.nodes;
    T all = 0;
    for (std::int64_t k = row.begin + lane; k < row.end; k += kWarp) {
      const T sum = x[row.row * heads + head] + y[edges.columns[k - row.offset] * std::int64_t{heads} + head];
      ds[k] *= sum > 0 ? T(1) : T(slope);
      all += ds[k];
    }
    all = warp_sum(all);
    if (lane == 0) dx[row.row * heads + head] = all;
  });
  launch_rows(edges.nodes * heads, stream, [=] __device__(std::int64_t number, int lane) {
    const std::int64_t head = number / edges.nodes, column = number % edges.nodes;
    T all = 0;
    for (std::int64_t k = edges.t_row_ptr[column] + lane; k < edges.t_row_ptr[column + 1]; k += kWarp)
      all += ds[head * edges.count + edges.from[k]];
    all = warp_sum(all);
    if (lane == 0) dy[column * heads + head] = all;
  });
}

template <class T>
void transpose(const Edges& edges, const T* p, T* pt, int heads, cudaStream_t stream) {
  launch(edges.count * heads, stream, [=] __device__(std::int64_t i) {
    const std::int64_t head = i / edges.count;
    pt[i] = p[head * edges.count + edges.from[i - head * edges.count]];
  });
}

template <class T>
void head_dots(const T* rows_of_heads, const T* a, T* s, std::int64_t rows, const Features& f,
               cudaStream_t stream) {
  launch_rows(rows * f.heads, stream, [=] __device__(std::int64_t part, int lane) {
    const std::int64_t head = part % f.heads;
    T sum = 0;
    for (std::int64_t j = lane; j < f.n; j += kWarp) sum += rows_of_heads[part * f.n + j] * a[head * f.n + j];
    sum = warp_sum(sum);
    if (lane == 0) s[part] = sum;
  });
}

template <class T>
void head_dots_gradient(const T* dv, const T* dx, const T* ax, const T* dy, const T* ay, T* dh,
                        std::int64_t rows, const Features& f, cudaStream_t stream) {
  const std::int64_t width = f.n * f.heads;
  launch(rows * width, stream, [=] __device__(std::int64_t i) {
    const std::int64_t column = i % width, part = i / f.n;
    dh[i] = dv[i] + dx[part] * ax[column] + dy[part] * ay[column];
  });
}

template <class T>
void head_sums(const T* rows_of_heads, const T* ds, T* da, std::int64_t rows, const Features& f,
               cudaStream_t stream) {
  const std::int64_t width = f.n * f.heads, n = f.n, heads = f.heads;
  launch_sums(da, rows, width, stream, [=] __device__(std::int64_t row, std::int64_t column) {
    return ds[row * heads + column / n] * rows_of_heads[row * width + column];
  });
}

#define SPTILE_LAYER_MATH(T)                                                                                \
  template void fill(T*, std::int64_t, std::uint64_t, cudaStream_t);                                        \
  template void bias_relu(T*, const T*, std::int64_t, std::int64_t, cudaStream_t);                          \
  template void relu_gradient(const T*, const T*, T*, std::int64_t, cudaStream_t);                          \
  template void column_sums(const T*, T*, std::int64_t, std::int64_t, cudaStream_t);                        \
  template void add(const T*, const T*, const T*, T*, std::int64_t, cudaStream_t);                          \
  template void normalize(const T*, T*, T*, std::int64_t, std::int64_t, cudaStream_t);                      \
  template void normalize_gradient(const T*, const T*, const T*, const T*, T*, std::int64_t, std::int64_t,  \
                                   cudaStream_t);                                                           \
  template void softmax(const Edges&, const T*, T*, double, int, cudaStream_t);                             \
  template void softmax_gradient(const Edges&, const T*, const T*, T*, double, int, cudaStream_t);          \
  template void additive_scores(const Edges&, const T*, const T*, T*, double, int, cudaStream_t);           \
  template void additive_gradient(const Edges&, const T*, const T*, T*, T*, T*, double, int, cudaStream_t); \
  template void transpose(const Edges&, const T*, T*, int, cudaStream_t);                                   \
  template void head_dots(const T*, const T*, T*, std::int64_t, const Features&, cudaStream_t);             \
  template void head_dots_gradient(const T*, const T*, const T*, const T*, const T*, T*, std::int64_t,      \
                                   const Features&, cudaStream_t);                                          \
  template void head_sums(const T*, const T*, T*, std::int64_t, const Features&, cudaStream_t)

SPTILE_LAYER_MATH(float);
SPTILE_LAYER_MATH(double);

}  // namespace sptile::tools::layers
