//===- PlanParts.cpp - whose time a profile takes -------------------------===//
#include "passes/lower/Cost.h"
#include "passes/lower/KernelEmitter.h"
#include "passes/lower/Passes.h"
#include "passes/lower/ProductEmitter.h"
#include "passes/memory/Places.h"
#include "dialects/Nd/NdWindow.h"

#include "dialects/Run/RunOps.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace dyn::lower {
#define GEN_PASS_DEF_PLANPARTSPASS
#include "passes/lower/Passes.h.inc"
} // namespace dyn::lower

using namespace mlir;
using dyn::memory::bytesOf;
using dyn::memory::isScalar;

namespace dyn::lower {
namespace {

/// plan::Part without its number and its parent.
struct Part {
  StringRef kind;
  std::string what;
  int64_t bytes = 0, flops = 0;
  bool shared = false;
};

std::string sizesOf(ArrayRef<int64_t> shape) {
  auto texts = llvm::map_range(shape, [](int64_t size) { return std::to_string(size); });
  return "[" + llvm::join(texts, ", ") + "]";
}

/// "map [32, 10]: add, tanh": what a loop computes, without what only moves.
std::string wordsOf(kernel::FusedOp op) {
  constexpr size_t most = 5;
  llvm::SmallSetVector<StringRef, 8> names;
  for (Operation &inner : op.getBody().front())
    if (inner.getNumResults() && !isa<nd::ConstantOp, nd::BroadcastOp, nd::ReshapeOp, nd::SliceOp>(inner))
      names.insert(inner.getName().stripDialect());
  bool more = names.size() > most;
  std::string list = llvm::join(names.getArrayRef().take_front(most), ", ");
  return (kernel::stringifyForm(op.getForm()) + " " + sizesOf(op.getDomain())).str() +
         (list.empty() ? "" : ": " + list) + (more ? ", …" : "");
}

/// "svd [8, 8]": the routine and what it reads first.
std::string wordsOf(kernel::CallOp op) {
  StringRef routine = op.getRoutine();
  routine.consume_front("dyn_");
  return routine.str() + " " + sizesOf(nd::shapeOf(op.getInputs().front()));
}

/// Bytes of inputs and results; of scratch, which may be larger than what is used of it, nothing is said.
int64_t bytesOfCall(kernel::CallOp op) {
  int64_t bytes = 0;
  for (Value input : op.getInputs())
    bytes += bytesOf(input);
  for (Value result : op.getResults())
    if (!result.use_empty())
      bytes += bytesOf(result);
  return bytes;
}

kernel::FusedOp epilogueOf(kernel::ProductOp op) {
  auto next = dyn_cast_or_null<kernel::FusedOp>(op->getNextNode());
  return next && next.getEpilogue() ? next : nullptr;
}

/// Bytes of the operands of a concat that were not made where it puts them.
int64_t bytesJoined(nd::ConcatOp op) {
  int64_t bytes = 0;
  std::optional<memory::Place> place = memory::placeOf(op);
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    std::optional<memory::Place> slot = place;
    std::optional<int64_t> offset = memory::concatSlot(op, i);
    if (slot && offset)
      slot->offset += *offset;
    if (!slot || !offset || memory::placeOf(input) != slot)
      bytes += bytesOf(input);
  }
  return bytes;
}

class PartPlanner {
public:
  PartPlanner(ModuleOp module, int64_t vectorBytes)
      : module(module), vectorBytes(vectorBytes), b(module.getContext()) {}

  void run() {
    for (auto program : module.getOps<run::ProgramOp>()) {
      int64_t root = add(program, {"program", program.getName().str()}, -1);
      program->walk([&](run::CallOp call) {
        auto function = module.lookupSymbol<func::FuncOp>(call.getCallee());
        if (function && !function->hasAttr("part"))
          addBlock(function.getBody().front(), add(function, {"function", function.getName().str()}, root));
      });
    }
    module->setAttr("kernel.parts", b.getArrayAttr(parts));
  }

private:
  void addBlock(Block &block, int64_t parent) {
    for (Operation &op : block) {
      std::optional<Part> part = partOf(&op);
      int64_t inside = part ? add(&op, *part, parent) : parent;
      if (isa<nd::ScanOp, nd::WhileOp, nd::CondOp>(op))
        for (Region &region : op.getRegions())
          if (!region.empty())
            addBlock(region.front(), inside);
    }
  }

  std::optional<Part> partOf(Operation *op) {
    using Result = std::optional<Part>;
    return llvm::TypeSwitch<Operation *, Result>(op)
        .Case([&](kernel::FusedOp fused) -> Result {
          if (fused.getEpilogue()) // ends with its product
            return std::nullopt;
          int64_t lanes = KernelEmitter::lanesOf(fused, vectorBytes);
          bool shared = grainOf(fused, KernelEmitter::extentOf(fused), lanes) != 0;
          return Part{"fused", wordsOf(fused), bytesMoved(fused), flopsOf(fused), shared};
        })
        .Case([&](kernel::ProductOp product) -> Result { return partOfProduct(product); })
        .Case([&](kernel::CallOp call) -> Result {
          return Part{"library", wordsOf(call), bytesOfCall(call)};
        })
        .Case([&](run::ReadOp read) -> Result {
          if (isScalar(read) || !memory::placeOfResult(read, 0))
            return std::nullopt;
          return Part{"copy", ("read " + read.getName()).str(), 2 * bytesOf(read)};
        })
        .Case([&](run::WriteOp write) -> Result {
          Value value = write.getValue();
          memory::Place to{int64_t(write.getArena()),
                           int64_t(write.getOffset()) * memory::elementBytes(value.getType())};
          if (isScalar(value) || memory::placeOf(value) == to)
            return std::nullopt;
          return Part{"copy", ("write " + write.getName()).str(), 2 * bytesOf(value)};
        })
        .Case([&](nd::ConcatOp concat) -> Result {
          int64_t bytes = bytesJoined(concat);
          return bytes ? Result(Part{"copy", "concat to " + sizesOf(nd::shapeOf(concat)), 2 * bytes}) : std::nullopt;
        })
        .Case([&](nd::DrawOp draw) -> Result {
          return Part{"library", ("draw " + nd::stringifyDist(draw.getDist()) + " ").str() + sizesOf(nd::shapeOf(draw)),
                      bytesOf(draw), 0, true};
        })
        .Case<nd::ScatterOp, nd::CumulateOp, nd::ArgReduceOp, nd::SegmentReduceOp, nd::SegmentSpreadOp, nd::UnwindowOp>(
            [&](Operation *host) -> Result {
              int64_t bytes = bytesOf(host->getResult(0));
              for (Value operand : host->getOperands())
                bytes += bytesOf(operand);
              return Part{"host", host->getName().stripDialect().str() + " " + sizesOf(nd::shapeOf(domainOf(host))),
                          bytes, flopsOf(host)};
            })
        .Case([&](run::EmitOp emit) -> Result {
          return Part{"metric", nameOfMetric(emit.getMetric()), bytesOf(emit.getValue())};
        })
        .Case([&](nd::ScanOp scan) -> Result {
          return Part{"loop", "scan of " + std::to_string(scan.getTrip()) + " passes"};
        })
        .Case<nd::WhileOp, nd::CondOp>(
            [&](Operation *loop) -> Result { return Part{"loop", loop->getName().stripDialect().str()}; })
        .Default([](Operation *) -> Result { return std::nullopt; });
  }

  std::string nameOfMetric(uint64_t number) {
    auto names = module->getAttrOfType<ArrayAttr>("kernel.metric_names");
    return names && number < names.size() ? cast<StringAttr>(names[number]).str() : std::to_string(number);
  }

  /// With the rows that are finished while they are in cache.
  Part partOfProduct(kernel::ProductOp op) {
    kernel::ProductShape s = kernel::shapeOf(op);
    std::string what = "matmul " + (s.batch == 1 ? "" : std::to_string(s.batch) + " of ") + std::to_string(s.m) +
                       " x " + std::to_string(s.k) + " x " + std::to_string(s.n) + (op.getWindow() ? " over windows" : "");
    int64_t bytes = bytesOf(op.getA()) + bytesOf(op.getB()) + bytesOf(op.getResult()), flops = flopsOf(op);
    if (kernel::FusedOp rows = epilogueOf(op)) {
      what += ", " + wordsOf(rows);
      bytes += bytesMoved(rows) - bytesOf(op.getResult());
      flops += flopsOf(rows);
    }
    return {"product", what, bytes, flops, !isWrittenOut(op, vectorBytes)};
  }

  int64_t add(Operation *op, const Part &part, int64_t parent) {
    auto number = int64_t(parts.size());
    op->setAttr("part", b.getI64IntegerAttr(number));
    auto i64 = [&](int64_t value) { return b.getI64IntegerAttr(value); };
    parts.push_back(b.getDictionaryAttr(
        {b.getNamedAttr("kind", b.getStringAttr(part.kind)), b.getNamedAttr("what", b.getStringAttr(part.what)),
         b.getNamedAttr("spec", b.getStrArrayAttr(placesOf(op))), b.getNamedAttr("parent", i64(parent)),
         b.getNamedAttr("bytes", i64(part.bytes)), b.getNamedAttr("flops", i64(part.flops)),
         b.getNamedAttr("shared", b.getBoolAttr(part.shared))}));
    return number;
  }

  /// file:line of the op, then of what its body, and its epilogue, compute.
  static SmallVector<StringRef> placesOf(Operation *op) {
    llvm::SmallSetVector<StringAttr, 8> places;
    auto see = [&](Operation *inner) {
      inner->getLoc()->walk([&](Location loc) {
        if (auto file = dyn_cast<FileLineColLoc>(loc))
          places.insert(StringAttr::get(op->getContext(), file.getFilename().getValue() + ":" + Twine(file.getLine())));
        return WalkResult::advance();
      });
    };
    see(op);
    if (isa<kernel::FusedOp>(op))
      op->walk(see);
    auto product = dyn_cast<kernel::ProductOp>(op);
    if (kernel::FusedOp rows = product ? epilogueOf(product) : nullptr)
      rows->walk(see);
    return llvm::map_to_vector(places, [](StringAttr place) { return place.getValue(); });
  }

  ModuleOp module;
  int64_t vectorBytes;
  Builder b;
  SmallVector<Attribute> parts;
};

struct PlanParts : impl::PlanPartsPassBase<PlanParts> {
  using PlanPartsPassBase::PlanPartsPassBase;
  void runOnOperation() override { PartPlanner(getOperation(), vectorBytes).run(); }
};

} // namespace
} // namespace dyn::lower
