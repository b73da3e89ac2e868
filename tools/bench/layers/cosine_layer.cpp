// AGNN: out = softmax(beta cos(h_i, h_j)) H, a row over its entries.
#include "tools/bench/layers/sides.hpp"

namespace sptile::tools::layers {
namespace {

constexpr double kBeta = 2;

/// What both sides have.
template <class T>
struct Tensors {
  std::int64_t rows, n;
  T *h, *out, *dout, *dh;

  Tensors(const DeviceGraph& graph, const Shape& shape, Arrays<T>& arrays)
      : rows(graph.nodes()),
        n(shape.d),
        h(arrays.input("H", rows * n)),
        out(arrays.array("out", rows * n)),
        dout(arrays.input("dout", rows * n)),
        dh(arrays.array("dH", rows * n)) {}
};

}  // namespace

Side cosine_layer(const Request& request, const DeviceGraph& graph, const Shape& shape,
                  Arrays<float>& arrays) {
  const Tensors<float> t(graph, shape, arrays);
  float *const statistics = arrays.array("statistics", 2 * t.rows),
               *const delta = arrays.array("delta", t.rows), *const dx = arrays.array("dX", t.rows * t.n),
               *const dy = arrays.array("dY", t.rows * t.n), *const dv = arrays.array("dV", t.rows * t.n);
  Fastest forward =
      request.fastest("attention", {.n = t.n, .m = t.n, .score = Score::cosine},
                      {.dense = {{{t.h}, {t.h}, {t.h}, {}, {statistics}, {t.out}}}, .alpha = kBeta});
  Plan gradient = request.plan("attention_gradient", {.n = t.n, .m = t.n, .score = Score::cosine});
  Plan turned =
      request.plan("attention_gradient_t", {.n = t.n, .transpose = true, .m = t.n, .score = Score::cosine});
  Side side;
  side.workspace_bytes = forward.workspace_bytes + gradient.workspace_bytes() + turned.workspace_bytes();
  side.forward = {std::move(forward.launch)};
  side.backward = {
      launch_of(std::move(gradient),
                {.dense = {{{t.h}, {t.h}, {t.h}, {}, {statistics}, {t.out}, {t.dout}, {delta}, {}, {dx}}},
                 .alpha = kBeta}),
      launch_of(std::move(turned),
                {.dense = {{{t.h}, {t.h}, {t.h}, {}, {statistics}, {t.dout}, {delta}, {dv}, {dy}}},
                 .alpha = kBeta}),
      [=](cudaStream_t on) { add(dx, dy, dv, t.dh, t.rows * t.n, on); }};
  return side;
}

template <class T>
Side vendor_cosine_layer(const DeviceGraph& graph, const Shape& shape, Arrays<T>& arrays) {
  const Tensors<T> t(graph, shape, arrays);
  const Edges edges = graph.edges();
  T *const unit = arrays.array("unit", t.rows * t.n), *const length = arrays.array("length", t.rows),
           *const s = arrays.array("S", edges.count), *const p = arrays.array("P", edges.count),
           *const dp = arrays.array("dP", edges.count), *const ds = arrays.array("dS", edges.count),
           *const pt = arrays.array("P^T", edges.count), *const dst = arrays.array("dS^T", edges.count),
           *const dv = arrays.array("dV", t.rows * t.n), *const du = arrays.array("dU", t.rows * t.n),
           *const dut = arrays.array("dU of columns", t.rows * t.n),
           *const none = arrays.array("0", t.rows * t.n);
  const auto rows = [&](T* data) { return Rows<T>{data, t.n}; };
  Side side;
  side.forward = {[=](cudaStream_t on) { normalize(t.h, unit, length, t.rows, t.n, on); },
                  vendor_sddmm<T>(graph.with_values<T>(false, s), rows(unit), rows(unit), t.n),
                  [=](cudaStream_t on) { softmax(edges, s, p, kBeta, 1, on); },
                  vendor_spmm<T>(graph.with_values<T>(false, p), rows(t.h), rows(t.out), t.n)};
  side.backward = {vendor_sddmm<T>(graph.with_values<T>(false, dp), rows(t.dout), rows(t.h), t.n),
                   [=](cudaStream_t on) { softmax_gradient(edges, p, dp, ds, kBeta, 1, on); },
                   [=](cudaStream_t on) { transpose(edges, p, pt, 1, on); },
                   [=](cudaStream_t on) { transpose(edges, ds, dst, 1, on); },
                   vendor_spmm<T>(graph.with_values<T>(true, pt), rows(t.dout), rows(dv), t.n),
                   vendor_spmm<T>(graph.with_values<T>(false, ds), rows(unit), rows(du), t.n),
                   vendor_spmm<T>(graph.with_values<T>(true, dst), rows(unit), rows(dut), t.n),
                   [=](cudaStream_t on) { add(du, dut, none, du, t.rows * t.n, on); },
                   [=](cudaStream_t on) { normalize_gradient(unit, length, du, dv, t.dh, t.rows, t.n, on); }};
  return side;
}
template Side vendor_cosine_layer(const DeviceGraph&, const Shape&, Arrays<float>&);
template Side vendor_cosine_layer(const DeviceGraph&, const Shape&, Arrays<double>&);

}  // namespace sptile::tools::layers
