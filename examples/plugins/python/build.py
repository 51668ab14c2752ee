"""Builds libmpi4py_fft.so, a plugin whose functions are in transforms.py: `python3 build.py FOURSCORE.H [FOLDER]`.

The interpreter that runs this is the one that the plugin starts: it must have cffi, numpy, mpi4py and mpi4py-fft, the last
two for the MPI of fft_bench (Debian: python3-cffi python3-dev python3-mpi4py-fft).
"""

import re
import sys
import sysconfig
from pathlib import Path

import cffi

header = Path(sys.argv[1]).read_text()
folder = sys.argv[2] if len(sys.argv) > 2 else "."
text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
version = re.search(r"#define (FOURSCORE_PLUGIN_VERSION \d+)", text)[1]
text = re.sub(r'^#.*$|^extern "C" \{$|^\}$', "", text, flags=re.M)
functions = re.findall(r"^(?:int|const char \*)\s*fourscore_\w+\([^;]*\);", text, flags=re.M)
types = text
for function in functions:
    types = types.replace(function, "")

ffi = cffi.FFI()
ffi.cdef(f"#define {version}\n{types}")
ffi.embedding_api("\n".join(functions))
# Python's own modules look for its functions among all that is loaded, and a plugin is loaded for itself alone. It would
# start as the first python3 in PATH, which may have other packages.
source = f"""
#include "fourscore.h"
#include <dlfcn.h>
__attribute__((constructor)) static void prepare_python(void) {{
  Py_SetProgramName(L"{sys.executable}");
  dlopen("{sysconfig.get_config_var("INSTSONAME")}", RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}}
"""
ffi.set_source("fourscore_plugin", source, include_dirs=[str(Path(sys.argv[1]).resolve().parent)])
ffi.embedding_init_code((Path(__file__).parent / "transforms.py").read_text())
print(ffi.compile(tmpdir=folder, target="libmpi4py_fft.so"))
