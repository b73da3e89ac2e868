// GCN and GIN: C = relu(A X W + b).
#include "tools/bench/layers/sides.hpp"

namespace sptile::tools::layers {
namespace {

/// What both sides have.
template <class T>
struct Tensors {
  std::int64_t rows, d, h;
  T *x, *w, *bias, *z, *c, *dc, *g, *dbias, *dw, *dx;

  Tensors(const DeviceGraph& graph, const Shape& shape, Arrays<T>& arrays)
      : rows(graph.nodes()),
        d(shape.d),
        h(shape.h),
        x(arrays.input("X", rows * d)),
        w(arrays.input("W", d * h)),
        bias(arrays.input("bias", h)),
        z(arrays.array("Z", rows * d)),
        c(arrays.array("C", rows * h)),
        dc(arrays.input("dC", rows * h)),
        g(arrays.array("G", rows * h)),
        dbias(arrays.array("dbias", h)),
        dw(arrays.array("dW", d * h)),
        dx(arrays.array("dX", rows * d)) {}
};

}  // namespace

Side update_layer(const Request& request, const DeviceGraph& graph, const Shape& shape,
                  Arrays<float>& arrays) {
  const Tensors<float> t(graph, shape, arrays);
  Fastest forward = request.fastest("spmm_update", {.n = t.d, .m = t.h, .activation = Activation::relu},
                                    {.dense = {{{t.x}, {t.w}, {t.bias}, {t.z}, {t.c}}}});
  Plan gradient = request.plan("update_gradient", {.n = t.d, .m = t.h, .activation = Activation::relu});
  Fastest back =
      request.fastest("spmm_update", {.n = t.h, .transpose = true, .m = t.d, .transposed_weights = true},
                      {.dense = {{{t.g}, {t.w}, {}, {}, {t.dx}}}});
  Side side;
  side.workspace_bytes = forward.workspace_bytes + gradient.workspace_bytes() + back.workspace_bytes;
  side.forward = {std::move(forward.launch)};
  side.backward = {
      launch_of(std::move(gradient), {.dense = {{{t.z}, {t.dc}, {t.c}, {t.g}, {t.dbias}, {t.dw}}}}),
      std::move(back.launch)};
  return side;
}

template <class T>
Side vendor_update_layer(const DeviceGraph& graph, const Shape& shape, Arrays<T>& arrays) {
  const Tensors<T> t(graph, shape, arrays);
  T* const gw = arrays.array("G W^T", t.rows * t.d);
  Side side;
  side.forward = {vendor_spmm<T>(graph.weighted<T>(false), {t.x, t.d}, {t.z, t.d}, t.d),
                  vendor_gemm<T>({t.z}, {t.w}, t.c, t.rows, t.h, t.d),
                  [t](cudaStream_t on) { bias_relu(t.c, t.bias, t.rows, t.h, on); }};
  side.backward = {[t](cudaStream_t on) { relu_gradient(t.c, t.dc, t.g, t.rows * t.h, on); },
                   [t](cudaStream_t on) { column_sums(t.g, t.dbias, t.rows, t.h, on); },
                   vendor_gemm<T>({t.z, true}, {t.g}, t.dw, t.d, t.h, t.rows),
                   vendor_gemm<T>({t.g}, {t.w, true}, gw, t.rows, t.d, t.h),
                   vendor_spmm<T>(graph.weighted<T>(true), {gw, t.d}, {t.dx, t.d}, t.d)};
  return side;
}
template Side vendor_update_layer(const DeviceGraph&, const Shape&, Arrays<float>&);
template Side vendor_update_layer(const DeviceGraph&, const Shape&, Arrays<double>&);

}  // namespace sptile::tools::layers
