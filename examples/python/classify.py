#!/usr/bin/env python3
"""Runs a model on an array filled with one value through the C API, using only Python's ctypes, and prints the outputs:
classify.py LIBRARY [MODEL [DEVICE]]"""

import ctypes as c
import math
import sys

VERSION, MAX_RANK, FLOAT32, HOST = 1, 8, 0, 0


class Options(c.Structure):
    _fields_ = [("device", c.c_char_p), ("math", c.c_char_p), ("plan", c.c_char_p), ("threads", c.c_int32),
                ("batch_wait_us", c.c_int32), ("batch_images", c.c_int32)]


class Value(c.Structure):
    _fields_ = [("name", c.c_char_p), ("type", c.c_int), ("rank", c.c_int32), ("shape", c.c_int64 * MAX_RANK)]


class Array(c.Structure):
    _fields_ = [("data", c.c_void_p), ("type", c.c_int32), ("memory", c.c_int32), ("rank", c.c_int32), ("shape", c.c_int64 * MAX_RANK)]


Session, Count = c.c_void_p, c.c_size_t


class Api(c.Structure):
    _fields_ = [
        ("version", c.c_int32),
        ("library_version", c.CFUNCTYPE(c.c_char_p)),
        ("last_error", c.CFUNCTYPE(c.c_char_p)),
        ("open", c.CFUNCTYPE(c.c_int, c.c_char_p, c.POINTER(Options), c.POINTER(Session))),
        ("close", c.CFUNCTYPE(None, Session)),
        ("device", c.CFUNCTYPE(c.c_char_p, Session)),
        ("device_name", c.CFUNCTYPE(c.c_char_p, Session)),
        ("input_count", c.CFUNCTYPE(Count, Session)),
        ("output_count", c.CFUNCTYPE(Count, Session)),
        ("input", c.CFUNCTYPE(c.c_int, Session, Count, c.POINTER(Value))),
        ("output", c.CFUNCTYPE(c.c_int, Session, Count, c.POINTER(Value))),
        ("output_shapes", c.CFUNCTYPE(c.c_int, Session, c.POINTER(Array), Count, c.POINTER(Array), Count)),
        ("run", c.CFUNCTYPE(c.c_int, Session, c.POINTER(Array), Count, c.POINTER(Array), Count, c.c_void_p)),
    ]


def main() -> int:
    library = c.CDLL(sys.argv[1])
    library.convlab_get_api.restype = c.POINTER(Api)
    api = library.convlab_get_api(VERSION).contents

    def must(status: int) -> None:
        if status != 0:
            print(f"classify.py: {api.last_error().decode()}", file=sys.stderr)
            sys.exit(status)

    model, device = [*sys.argv[2:], *["fa19", "auto"][len(sys.argv) - 2 :]][:2]
    session = Session()
    must(api.open(model.encode(), c.byref(Options(device=device.encode())), c.byref(session)))

    value = Value()
    must(api.input(session, 0, c.byref(value)))
    shape = [max(size, 1) for size in value.shape[: value.rank]]  # 1 for a size that the model leaves open
    pixels = (c.c_float * math.prod(shape))(*[0.5] * math.prod(shape))
    x = Array(c.cast(pixels, c.c_void_p), FLOAT32, HOST, value.rank, (c.c_int64 * MAX_RANK)(*shape))

    y = Array()
    must(api.output_shapes(session, c.byref(x), 1, c.byref(y), 1))
    scores = (c.c_float * math.prod(y.shape[: y.rank]))()
    y.data = c.cast(scores, c.c_void_p)
    must(api.run(session, c.byref(x), 1, c.byref(y), 1, None))
    for score in scores:
        print(f"{score:.6f}")
    api.close(session)
    return 0


if __name__ == "__main__":
    sys.exit(main())
