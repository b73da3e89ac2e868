// What training steps compute beside products with the matrix, as a framework would: elementwise, by rows, on
// edges. T is float, or double for the reference. Pointers are device memory, rows have no gaps; work goes to
// the stream. Numbers of edges are in the order of CSR, head after head.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace sptile::tools::layers {

/// A pattern in device memory, and its transpose: entry k of the transpose is entry from[k] of the pattern.
struct Edges {
  std::int64_t nodes = 0, count = 0;
  const std::int32_t *row_ptr = nullptr, *columns = nullptr;
  const std::int32_t *t_row_ptr = nullptr, *t_columns = nullptr, *from = nullptr;
};

/// Sizes of features: of a head, and heads side by side in rows.
struct Features {
  std::int64_t n = 0;
  int heads = 1;
};

/// Uniform floats in (-1, 1), the same for any T.
template <class T>
void fill(T* to, std::int64_t count, std::uint64_t seed, cudaStream_t stream);
void widen(const float* from, double* to, std::int64_t count, cudaStream_t stream);
/// Sums of (x - y)^2 and y^2, added to two numbers.
void add_difference(const float* x, const double* y, std::int64_t count, double* sums, cudaStream_t stream);

template <class T>
void bias_relu(T* c, const T* bias, std::int64_t rows, std::int64_t m, cudaStream_t stream);
template <class T>
void relu_gradient(const T* c, const T* dc, T* g, std::int64_t count, cudaStream_t stream);
template <class T>
void column_sums(const T* g, T* sums, std::int64_t rows, std::int64_t m, cudaStream_t stream);
/// out = a + b + c.
template <class T>
void add(const T* a, const T* b, const T* c, T* out, std::int64_t count, cudaStream_t stream);

/// Rows divided by their lengths; both are kept.
template <class T>
void normalize(const T* h, T* unit, T* length, std::int64_t rows, std::int64_t n, cudaStream_t stream);
/// dh = add + gradient through normalize, from that of the unit rows.
template <class T>
void normalize_gradient(const T* unit, const T* length, const T* du, const T* add, T* dh, std::int64_t rows,
                        std::int64_t n, cudaStream_t stream);

/// p = softmax over the entries of each row of scale * s, and its gradient ds.
template <class T>
void softmax(const Edges& edges, const T* s, T* p, double scale, int heads, cudaStream_t stream);
template <class T>
void softmax_gradient(const Edges& edges, const T* p, const T* dp, T* ds, double scale, int heads,
                      cudaStream_t stream);

/// s = leaky_relu(x_i + y_j) of one number for each node and head, side by side.
template <class T>
void additive_scores(const Edges& edges, const T* x, const T* y, T* s, double slope, int heads,
                     cudaStream_t stream);
/// Gradients of x and y from that of s, which becomes that of the sums.
template <class T>
void additive_gradient(const Edges& edges, const T* x, const T* y, T* ds, T* dx, T* dy, double slope,
                       int heads, cudaStream_t stream);

/// Numbers of edges in the order of the transpose.
template <class T>
void transpose(const Edges& edges, const T* p, T* pt, int heads, cudaStream_t stream);

/// s[i][h] = h-th part of row i times the h-th part of a; and gradients: dh = dv + dx a_x + dy a_y by parts.
template <class T>
void head_dots(const T* rows_of_heads, const T* a, T* s, std::int64_t rows, const Features& f,
               cudaStream_t stream);
template <class T>
void head_dots_gradient(const T* dv, const T* dx, const T* ax, const T* dy, const T* ay, T* dh,
                        std::int64_t rows, const Features& f, cudaStream_t stream);
/// da = sum over rows of ds[i][h] times the h-th part of row i.
template <class T>
void head_sums(const T* rows_of_heads, const T* ds, T* da, std::int64_t rows, const Features& f,
               cudaStream_t stream);

}  // namespace sptile::tools::layers
