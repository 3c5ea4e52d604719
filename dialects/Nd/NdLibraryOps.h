//===- NdLibraryOps.h - ops of nd that a routine of the runtime does ------===//
//
// Apart from NdOps.h, which most files include: sorting, decompositions of
// matrices and Fourier transforms concern few of them.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_DIALECTS_ND_NDLIBRARYOPS_H
#define DYN_DIALECTS_ND_NDLIBRARYOPS_H

#include "dialects/Nd/NdOps.h"

#include "dialects/Nd/NdLibraryInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialects/Nd/NdLibraryOps.h.inc"

#endif // DYN_DIALECTS_ND_NDLIBRARYOPS_H
