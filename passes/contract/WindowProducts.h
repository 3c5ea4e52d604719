//===- WindowProducts.h - contractions with windows -----------------------===//
#ifndef DYN_PASSES_CONTRACT_WINDOWPRODUCTS_H
#define DYN_PASSES_CONTRACT_WINDOWPRODUCTS_H

#include "mlir/IR/PatternMatch.h"

namespace dyn::contract {

/// Contractions with a window (nd.window) become products that read it from the images, and so do their derivatives;
/// what follows such a product element by element follows it in its shape. To run before contractions are normalized.
void populateWindowProducts(mlir::RewritePatternSet &patterns);

} // namespace dyn::contract

#endif // DYN_PASSES_CONTRACT_WINDOWPRODUCTS_H
