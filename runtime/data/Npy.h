//===- Npy.h - one array as numpy saves it, plain or gzip -----------------===//
//
// "\x93NUMPY", two bytes of version, the length of the header (2 bytes, from
// version 2 on 4, little endian), the header, the values. The header is a
// Python dict: {'descr': '<f4', 'fortran_order': False, 'shape': (100, 3), }.
// The first dimension counts rows. Bools, whole numbers of 1 to 8 bytes and
// floats of 2, 4 and 8 in either byte order are read; other types are refused
// by name. numpy.lib.format describes it.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_RUNTIME_DATA_NPY_H
#define DYN_RUNTIME_DATA_NPY_H

#include "runtime/data/Bytes.h"
#include "runtime/data/Reader.h"

namespace dyn::data {

Expected<Extent> inspectNpy(const std::string &path);
Expected<std::unique_ptr<Reader>> openNpy(const std::string &path);

/// The same of any bytes: members of an .npz are such files.
Expected<Extent> inspectNpy(Bytes &bytes);
/// An array in Fortran order has its rows scattered: its bytes are kept while it is read.
Expected<std::unique_ptr<Reader>> openNpy(std::unique_ptr<Bytes> bytes);

} // namespace dyn::data
#endif // DYN_RUNTIME_DATA_NPY_H
