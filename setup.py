"""The compiled kernels, which are optional: without a C compiler the reference runs instead."""

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "trueaxis._kernels",
            ["src/trueaxis/_kernels.c"],
            depends=["src/trueaxis/_kernels_body.h"],
            extra_compile_args=["-O3", "-std=gnu11", "-ffp-contract=fast"],
            py_limited_api=True,
            optional=True,
        )
    ]
)
