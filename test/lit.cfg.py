# One runner for .mlir and .dyn:  lit --param build=build test
#
# Substitutions: %dync, %dyn-opt and %dyn-run-nd (the tools of that build), %python, %ptxas where it is installed. FileCheck, not and split-file are on the path.
import ctypes
import glob
import os
import sys

import lit.formats

here = os.path.dirname(__file__)
build = os.path.abspath(lit_config.params.get("build", os.path.join(here, "..", "build")))

config.name = "dyn"
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = here
config.test_exec_root = os.path.join(build, "test")
config.suffixes = [".mlir", ".dyn"]
# Read by tests (errors by dyn_check_test), not tests themselves.
config.excludes = ["errors", "grammar", "reference", "specs", "tools", "Inputs"]

config.environment["PATH"] = os.pathsep.join(["/usr/lib/llvm-22/bin", os.environ["PATH"]])
# Compiled objects of the tests stay in the build folder.
config.environment["XDG_CACHE_HOME"] = os.path.join(config.test_exec_root, "cache")

# The assembler of NVIDIA's code, for tests only: from PyPI into the build folder (setup.sh).
ptxas = glob.glob(os.path.join(build, "ptxas", "lib", "python3*", "site-packages", "nvidia", "*", "bin", "ptxas"))
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas[0]))


def has_cuda_device():
    """As the runtime looks: the driver's library, started, with a device."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int()
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0


if has_cuda_device():
    config.available_features.add("cuda")

config.substitutions += [
    ("%dyn-run-nd", os.path.join(build, "bin", "dyn-run-nd")),
    ("%dync", os.path.join(build, "bin", "dync")),
    ("%dyn-opt", os.path.join(build, "bin", "dyn-opt")),
    ("%python", sys.executable),
]
