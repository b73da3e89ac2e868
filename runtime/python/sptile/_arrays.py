"""Dense operands of any framework: where they lie, new ones, contiguous copies, and streams.

NumPy arrays, CuPy arrays and torch tensors are known; anything else comes through the buffer protocol,
`__array_interface__`, `__cuda_array_interface__` or, last, DLPack. Only NumPy is imported here: of the other
frameworks an operand can only be if its program has imported them.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from . import _library as c
from .errors import ArgumentTypeError, DeviceError, UnsupportedError, UsageError

DTYPE_NAMES = {c.DTYPE_F16: "float16", c.DTYPE_BF16: "bfloat16", c.DTYPE_F32: "float32", c.DTYPE_F64: "float64"}
ELEMENT_NAMES = {**DTYPE_NAMES, c.DTYPE_I32: "int32"}  # also of ids among operands
DTYPE_CODES = {name: code for code, name in DTYPE_NAMES.items()}
ITEMSIZE = {c.DTYPE_F16: 2, c.DTYPE_BF16: 2, c.DTYPE_F32: 4, c.DTYPE_F64: 8, c.DTYPE_I32: 4, c.DTYPE_I64: 8}
_SPELLINGS = {**DTYPE_CODES, "f16": c.DTYPE_F16, "bf16": c.DTYPE_BF16, "f32": c.DTYPE_F32, "f64": c.DTYPE_F64}
_INDEX_CODES = {"int32": c.DTYPE_I32, "int64": c.DTYPE_I64}
DEVICE_NAMES = {c.DEVICE_CPU: "cpu", c.DEVICE_CUDA: "cuda"}


def dtype_code(dtype: Any, what: str = "dtype") -> int:
    """Returns the code of a dense type: a name, a NumPy or a torch dtype."""
    try:
        name = np.dtype(dtype).name if isinstance(dtype, type) else getattr(dtype, "name", None)
    except TypeError:
        name = None
    code = _SPELLINGS.get(str(name or dtype).removeprefix("torch."))
    if code is None:
        raise UsageError(f"{what} must be {', '.join(DTYPE_CODES)}, f16, bf16, f32 or f64, got {dtype!r}")
    return code


def numpy_dtype(code: int) -> np.dtype[Any]:
    """NumPy's type of an operand; bfloat16 needs ml_dtypes."""
    if code != c.DTYPE_BF16:
        return np.dtype(ELEMENT_NAMES[code])
    try:
        import ml_dtypes  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        raise UnsupportedError("NumPy has no bfloat16; install ml_dtypes, or use torch") from None
    bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return bfloat16


def device_name(device: int, ordinal: int) -> str:
    return "cpu" if device == c.DEVICE_CPU else f"cuda:{ordinal}"


class View(NamedTuple):
    """Memory of an operand. `strides` count elements; None: a stride is not a multiple of the element size."""

    owner: Any
    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    dtype: int | None
    """Code of a dense or an index type; None for any other."""
    dtype_name: str
    device: int
    ordinal: int
    writable: bool
    framework: Framework
    itemsize: int
    """Bytes of an element, whatever its type."""
    stream: int | None = None
    """Stream on which the data are produced, if the array names one."""

    @property
    def device_name(self) -> str:
        return device_name(self.device, self.ordinal)

    @property
    def aligned(self) -> bool:
        return self.dtype is None or self.pointer % ITEMSIZE[self.dtype] == 0


class FastPath(NamedTuple):
    """Arrays of a framework that a product takes after a few cheap looks: whole, of these types."""

    array: Any
    """Exact class of the arrays; None if there is no fast path."""
    operand: Any
    result: Any
    """Types of operands and results, as arrays have them."""
    pair: Callable[[Any, Any, int], tuple[int, int] | None]
    """(operand, result, device ordinal) -> pointers; None if they are not contiguous, are on another device, or need
    the full checks of the framework."""
    stream: Callable[[int], int] | None = None
    """Works like `Framework.stream` without looking up the framework; None for frameworks without streams."""


NO_FAST_PATH = FastPath(None, None, None, lambda _b, _c, _ordinal: None)


class Framework(NamedTuple):
    """How to handle arrays of one framework."""

    name: str
    empty: Callable[[tuple[int, ...], int, int], Any]
    """(shape, dtype code, device ordinal) -> a new array."""
    contiguous: Callable[[Any], Any]
    """A copy whose elements follow each other."""
    stream: Callable[[int], int | None]
    """Returns the current stream of a device; None for frameworks without streams."""
    put: Callable[[Any, int], Any]
    """(NumPy array, device ordinal) -> an array with the same numbers."""
    double: Callable[[Any], Any]
    """An array as a NumPy array of float64."""
    of_double: Callable[[Any, int, int], Any]
    """(NumPy array of float64, dtype code, device ordinal) -> a new array of that type."""
    fast_path: Callable[[int, int], FastPath] = lambda _operand, _result: NO_FAST_PATH
    """(type codes of operands and results) -> the fast path of these types."""


@lru_cache(maxsize=64)
def _element(dtype: Any) -> tuple[int | None, str]:
    """Returns the type code, None if there is none, and the name of a NumPy or torch dtype."""
    name = str(dtype).removeprefix("torch.")
    return DTYPE_CODES.get(name, _INDEX_CODES.get(name)), name


def _elements(byte_strides: tuple[int, ...], itemsize: int) -> tuple[int, ...] | None:
    elements = tuple([stride // itemsize for stride in byte_strides])
    return None if any([stride % itemsize for stride in byte_strides]) else elements


# ---- NumPy ----

address = ctypes.addressof
export: Any = ctypes.c_char.from_buffer  # of contiguous, writable, nonempty arrays


def _numpy_pair(b: Any, c_: Any, _: int) -> tuple[int, int] | None:
    try:
        return address(export(b)), address(export(c_))
    except (TypeError, ValueError, BufferError):
        return None


NUMPY = Framework(
    "numpy",
    lambda shape, dtype, _: np.empty(shape, numpy_dtype(dtype)),
    lambda array: array.copy(order="C"),
    lambda _: None,
    lambda array, _: array,
    lambda array: array.astype(np.float64),
    lambda array, dtype, _: array.astype(numpy_dtype(dtype)),
    lambda operand, result: FastPath(np.ndarray, numpy_dtype(operand), numpy_dtype(result), _numpy_pair),
)


def _numpy_view(array: np.ndarray[Any, Any]) -> View:
    code, name = _element(array.dtype)
    return View(
        array,
        array.ctypes.data if code is None or code == c.DTYPE_BF16 else array.__array_interface__["data"][0],
        array.shape,
        _elements(array.strides, array.itemsize or 1),
        code,
        name,
        c.DEVICE_CPU,
        0,
        bool(array.flags.writeable),
        NUMPY,
        array.itemsize,
    )


# ---- CuPy ----


def _cupy_empty(shape: tuple[int, ...], dtype: int, ordinal: int) -> Any:
    cupy = sys.modules["cupy"]
    with cupy.cuda.Device(ordinal):
        return cupy.empty(shape, numpy_dtype(dtype))


def _cupy_pair(b: Any, c_: Any, ordinal: int) -> tuple[int, int] | None:
    # `flags` would make an object for each look.
    if not (b._c_contiguous and c_._c_contiguous):
        return None
    b_memory, c_memory = b.data, c_.data
    if not b_memory.device_id == ordinal == c_memory.device_id:
        return None
    return b_memory.ptr, c_memory.ptr


def _cupy_stream() -> Callable[[int], int]:
    current = sys.modules["cupy"].cuda.get_current_stream
    return lambda ordinal: current(ordinal).ptr


def _cupy_fast_path(operand: int, result: int) -> FastPath:
    array = sys.modules["cupy"].ndarray
    if not hasattr(array, "_c_contiguous"):
        return NO_FAST_PATH
    return FastPath(array, numpy_dtype(operand), numpy_dtype(result), _cupy_pair, _cupy_stream())


def _cupy_put(array: Any, ordinal: int) -> Any:
    cupy = sys.modules["cupy"]
    with cupy.cuda.Device(ordinal):
        return cupy.asarray(array)


CUPY = Framework(
    "cupy",
    _cupy_empty,
    lambda array: array.copy(order="C"),
    lambda ordinal: _cupy_stream()(ordinal),
    _cupy_put,
    lambda array: sys.modules["cupy"].asnumpy(array).astype(np.float64),
    lambda array, dtype, ordinal: _cupy_put(array.astype(numpy_dtype(dtype)), ordinal),
    _cupy_fast_path,
)


def _cupy_view(array: Any) -> View:
    return View(
        array,
        int(array.data.ptr),
        array.shape,
        _elements(array.strides, array.itemsize or 1),
        *_element(array.dtype),
        c.DEVICE_CUDA,
        int(array.data.device_id),
        True,
        CUPY,
        array.itemsize,
    )


# ---- torch ----


def _torch_empty(device: str) -> Callable[[tuple[int, ...], int, int], Any]:
    def empty(shape: tuple[int, ...], dtype: int, ordinal: int) -> Any:
        torch = sys.modules["torch"]
        where = device if device == "cpu" else f"{device}:{ordinal}"
        return torch.empty(shape, dtype=getattr(torch, ELEMENT_NAMES[dtype]), device=where)

    return empty


def _torch_put(device: str) -> Callable[[Any, int], Any]:
    def put(array: Any, ordinal: int) -> Any:
        where = device if device == "cpu" else f"{device}:{ordinal}"
        return sys.modules["torch"].from_numpy(array).to(where)

    return put


def _torch_double(tensor: Any) -> Any:
    return tensor.detach().double().cpu().numpy()


def _torch_of_double(device: str) -> Callable[[Any, int, int], Any]:
    put = _torch_put(device)
    return lambda array, dtype, ordinal: put(array, ordinal).to(
        getattr(sys.modules["torch"], DTYPE_NAMES[dtype])
    )


def _torch_contiguous(tensor: Any) -> Any:
    return tensor.clone(memory_format=sys.modules["torch"].contiguous_format)


def _torch_fast_path(on_cpu: bool) -> Callable[[int, int], FastPath]:
    def fast_path(operand: int, result: int) -> FastPath:
        torch: Any = sys.modules["torch"]
        strided = torch.strided

        def pair(b: Any, c_: Any, ordinal: int) -> tuple[int, int] | None:
            if b.layout is not strided or c_.layout is not strided or b.requires_grad or c_.requires_grad:
                return None
            if on_cpu and not (b.is_cpu and c_.is_cpu):
                return None
            if not on_cpu and not (b.is_cuda and c_.is_cuda and b.get_device() == ordinal == c_.get_device()):
                return None
            if not (b.is_contiguous() and c_.is_contiguous()) or b.is_neg() or c_.is_neg():
                return None
            return b.data_ptr(), c_.data_ptr()

        return FastPath(
            torch.Tensor,
            getattr(torch, DTYPE_NAMES[operand]),
            getattr(torch, DTYPE_NAMES[result]),
            pair,
            None if on_cpu else _torch_stream,
        )

    return fast_path


def _torch_stream(ordinal: int) -> int:
    return int(sys.modules["torch"].cuda.current_stream(ordinal).cuda_stream)


TORCH_CPU = Framework(
    "torch",
    _torch_empty("cpu"),
    _torch_contiguous,
    lambda _: None,
    _torch_put("cpu"),
    _torch_double,
    _torch_of_double("cpu"),
    _torch_fast_path(True),
)
TORCH_CUDA = Framework(
    "torch",
    _torch_empty("cuda"),
    _torch_contiguous,
    _torch_stream,
    _torch_put("cuda"),
    _torch_double,
    _torch_of_double("cuda"),
    _torch_fast_path(False),
)


def _torch_view(tensor: Any, name: str) -> View:
    torch = sys.modules["torch"]
    if tensor.is_nested:
        raise UsageError(f"{name} must not be a nested tensor")
    if tensor.layout is not torch.strided or tensor.device.type not in ("cpu", "cuda"):
        raise UsageError(
            f"{name} must be a dense tensor on cpu or cuda, got a {tensor.layout} tensor on {tensor.device}"
        )
    if tensor.requires_grad and torch.is_grad_enabled():
        raise UsageError(
            f"{name} requires a gradient, which a plan does not record; use sptile.torch, or {name}.detach()"
        )
    if tensor.is_neg() or tensor.is_conj():
        raise UsageError(f"{name} is a lazily negated or conjugated view; pass {name}.resolve_conj().resolve_neg()")
    on_cpu = tensor.device.type == "cpu"
    try:
        pointer = tensor.data_ptr()
    except RuntimeError as error:
        raise UsageError(f"{name} is a {type(tensor).__name__} without memory: {error}") from None
    return View(
        tensor,
        pointer,
        tuple(tensor.shape),
        tuple(tensor.stride()),
        *_element(tensor.dtype),
        c.DEVICE_CPU if on_cpu else c.DEVICE_CUDA,
        tensor.device.index or 0,
        True,
        TORCH_CPU if on_cpu else TORCH_CUDA,
        tensor.element_size(),
    )


# ---- Anything with an interface ----


def _no_empty(shape: tuple[int, ...], dtype: int, ordinal: int) -> Any:
    raise UsageError("out is required: sptile cannot allocate arrays of this library")


def _no_copy(array: Any) -> Any:
    raise UsageError("operands that sptile cannot copy must be row-major with a last stride of 1")


def _no_list(*_: Any) -> Any:
    raise UsageError("the nonzeros of A are not in CSR order; pass CuPy arrays or torch tensors")


FOREIGN_CUDA = Framework(
    "__cuda_array_interface__", _no_empty, _no_copy, lambda _: None, _no_list, _no_list, _no_list
)


def _cuda_ordinal(array: Any, pointer: int) -> int:
    """Returns the device of a pointer, from the array if it names one, otherwise from the driver."""
    device = getattr(array, "device", None)
    ordinal = getattr(device, "id", getattr(device, "index", None))
    if isinstance(ordinal, int):
        return ordinal
    if pointer == 0:
        return 0
    found = ctypes.c_int(0)
    _driver(b"cuPointerGetAttribute", ctypes.byref(found), ctypes.c_int(9), ctypes.c_uint64(pointer))
    return found.value


def _driver(function: bytes, *arguments: Any) -> None:
    """Calls the CUDA driver, which is there when a program has device memory."""
    try:
        status = getattr(ctypes.CDLL("libcuda.so.1"), function.decode())(*arguments)
    except (OSError, AttributeError) as error:
        raise DeviceError(f"cannot call the CUDA driver: {error}") from None
    if status != 0:
        raise DeviceError(f"{function.decode()} failed with CUDA error {status}")


def fetch_list(pointer: int, count: int, ordinal: int) -> np.ndarray[Any, Any]:
    """A copy of int64 numbers in the memory of a device, whatever device the thread uses."""
    fetched = np.empty(count, np.int64)
    device, context = ctypes.c_int(0), ctypes.c_void_p()
    _driver(b"cuDeviceGet", ctypes.byref(device), ctypes.c_int(ordinal))
    _driver(b"cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    _driver(b"cuCtxPushCurrent_v2", context)
    try:
        to, size = ctypes.c_void_p(fetched.ctypes.data), ctypes.c_size_t(fetched.nbytes)
        if count:
            _driver(b"cuMemcpyDtoH_v2", to, ctypes.c_uint64(pointer), size)
    finally:
        _driver(b"cuCtxPopCurrent_v2", ctypes.byref(context))
        _driver(b"cuDevicePrimaryCtxRelease_v2", device)
    return fetched


def wait_for(stream: int) -> None:
    """Waits until the work on a stream is done."""
    _driver(b"cuStreamSynchronize", ctypes.c_void_p(stream))


def _interface_view(array: Any, name: str) -> View:
    interface = array.__cuda_array_interface__
    try:
        dtype = np.dtype(interface["typestr"])
        pointer, read_only = interface["data"]
        shape = tuple(int(extent) for extent in interface["shape"])
        strides, mask = interface.get("strides"), interface.get("mask")
        stream = interface.get("stream")
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{name}.__cuda_array_interface__ is invalid: {error!r}") from None
    if mask is not None or dtype.itemsize == 0:
        raise UsageError(f"{name} must have no mask and elements of a fixed size")
    elements = _packed(shape) if strides is None else _elements(tuple(strides), dtype.itemsize)
    pointer = int(pointer or 0)
    ordinal = _cuda_ordinal(array, pointer)
    return View(
        array,
        pointer,
        shape,
        elements,
        *_element(dtype),
        c.DEVICE_CUDA,
        ordinal,
        not read_only,
        FOREIGN_CUDA,
        dtype.itemsize,
        None if stream is None else int(stream),
    )


def _packed(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def _from_dlpack(array: Any, name: str) -> Any:
    kind = int(array.__dlpack_device__()[0])
    try:
        if kind == 1:
            return np.from_dlpack(array)
        if kind == 2 and "cupy" in sys.modules:
            return sys.modules["cupy"].from_dlpack(array)
        if kind == 2 and "torch" in sys.modules:
            return sys.modules["torch"].from_dlpack(array)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise UsageError(f"cannot import {name} through DLPack: {error}") from None
    raise UsageError(
        f"{name} is on DLPack device type {kind}; use host memory, or CUDA memory after importing CuPy or torch"
    )


def view(array: Any, name: str) -> View:
    """Returns a view of an operand without copying. Raises UsageError for objects that are not arrays or whose
    memory was freed; `name` appears in messages."""
    found = _view(array, name)
    if found.pointer == 0 and 0 not in found.shape:
        raise UsageError(f"{name} has shape {found.shape} but a null pointer; its memory was freed")
    return found


def list_address(array: Any, dtype: int, count: int, name: str) -> int:
    """Returns the address of `count` contiguous elements of a type. Raises UsageError for another shape, type or
    layout."""
    found = view(array, name)
    if found.shape != (count,) or found.itemsize != ITEMSIZE[dtype]:
        raise UsageError(
            f"{name} must have shape {(count,)} and {ITEMSIZE[dtype]} bytes per element, got {found.shape} and "
            f"{found.itemsize}"
        )
    if found.pointer % ITEMSIZE[dtype] or (count > 1 and found.strides != (1,)):
        raise UsageError(f"{name} must be contiguous and aligned")
    return found.pointer


def _view(array: Any, name: str) -> View:
    if isinstance(array, np.ndarray):
        if isinstance(array, np.ma.MaskedArray):
            raise UsageError(f"{name} must not be a masked array; pass {name}.data or {name}.filled()")
        return _numpy_view(array)
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is not None and isinstance(array, getattr(torch, "Tensor", ())):
        return _torch_view(array, name)
    if cupy is not None and isinstance(array, getattr(cupy, "ndarray", ())):
        return _cupy_view(array)
    if hasattr(array, "__cuda_array_interface__"):
        return _interface_view(array, name)
    if hasattr(array, "__array_interface__"):
        return _numpy_view(np.asarray(array))
    try:
        return _numpy_view(np.asarray(memoryview(array)))
    except (TypeError, ValueError, BufferError):
        pass
    if hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
        return view(_from_dlpack(array, name), name)
    raise ArgumentTypeError(
        f"{name} must be a NumPy or CuPy array, a torch tensor, or an object with the buffer protocol, "
        f"__cuda_array_interface__ or DLPack, got {type(array).__name__}"
    )


# ---- Streams ----


def stream_handle(stream: Any) -> int:
    """The cudaStream_t of a stream: an int, or a stream of CuPy, torch or cuda.core."""
    for attribute in ("ptr", "cuda_stream"):
        if hasattr(stream, attribute):
            return int(getattr(stream, attribute))
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    if isinstance(stream, int) and not isinstance(stream, bool) and 0 <= stream < 1 << 64:
        return stream
    raise ArgumentTypeError(f"stream must be an int (cudaStream_t) or a stream of CuPy or torch, got {stream!r}")


# ---- Memory of the library, seen by others ----


class HostMemory:
    """Memory of the library for `numpy.asarray`: read-only, kept by `owner`."""

    def __init__(self, owner: Any, pointer: int, count: int, typestr: str) -> None:
        self.owner = owner
        self.__array_interface__ = {
            "version": 3,
            "shape": (count,),
            "typestr": typestr,
            "data": (pointer, True),
        }


class DeviceMemory:
    """The same in device memory, for `cupy.asarray` and `torch.as_tensor`."""

    def __init__(self, owner: Any, pointer: int, count: int, typestr: str) -> None:
        self.owner = owner
        self.__cuda_array_interface__ = {
            "version": 3,
            "shape": (count,),
            "typestr": typestr,
            "data": (pointer, True),
            "strides": None,
            "stream": None,
        }

    def __reduce__(self) -> str | tuple[Any, ...]:
        raise TypeError("cannot copy or pickle DeviceMemory; use cupy.asarray(view).copy()")
