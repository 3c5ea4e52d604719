//===- Parts.cpp - objectives of one part of the batch --------------------===//
//
// `gradient(p, per=part(k))` runs the objective on n/k rows, k times. What it
// computes for one example is the same code, so the objective is copied before
// `example` becomes a dimension; BatchExample reads rows from the part's first
// on, as the last argument says.
//
//===----------------------------------------------------------------------===//
#include "passes/expand/Parts.h"

#include "dialects/Nd/NdOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace dyn {

static constexpr llvm::StringRef partsAttr = "parts";

int64_t expand::partsOf(ir::ObjectiveOp objective) {
  auto parts = objective->getAttrOfType<IntegerAttr>(partsAttr);
  return parts ? parts.getInt() : 1;
}

/// Row r of part i draws what row i n/k + r of the whole batch would.
static void moveDraws(ir::ObjectiveOp objective, Value part) {
  Block &body = objective.getBody().front();
  objective.walk([&](nd::DrawOp draw) {
    if (!ir::carries(draw.getType(), "example"))
      return;
    OpBuilder builder(&body, body.begin());
    Location loc = draw.getLoc();
    auto type = cast<RankedTensorType>(part.getType());
    int64_t before = objective.getBatch() * cast<RankedTensorType>(draw.getType()).getNumElements();
    Value each = nd::ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, builder.getI64IntegerAttr(before)));
    Value base = nd::MulOp::create(builder, loc, part, each);
    builder.setInsertionPoint(draw);
    draw.getBaseMutable().assign(nd::AddOp::create(builder, loc, draw.getBase(), base));
  });
}

static ir::ObjectiveOp objectiveOfPart(ir::ObjectiveOp whole, int64_t parts) {
  std::string name = (whole.getSymName() + "_of_" + Twine(parts) + "_parts").str();
  if (auto made = SymbolTable::lookupNearestSymbolFrom<ir::ObjectiveOp>(whole, StringAttr::get(whole.getContext(), name)))
    return made;
  OpBuilder builder(whole);
  builder.setInsertionPointAfter(whole);
  auto made = cast<ir::ObjectiveOp>(builder.clone(*whole));
  made.setSymName(name);
  made.setBatch(whole.getBatch() / parts);
  made->setAttr(partsAttr, builder.getI64IntegerAttr(parts));
  auto number = RankedTensorType::get({}, builder.getI64Type());
  moveDraws(made, made.getBody().front().addArgument(number, whole.getLoc()));
  return made;
}

void expand::makePartObjectives(Operation *op) {
  llvm::SmallVector<ir::PartGradientsOp> users;
  op->walk([&](ir::PartGradientsOp user) { users.push_back(user); });
  for (ir::PartGradientsOp user : users) {
    auto whole = SymbolTable::lookupNearestSymbolFrom<ir::ObjectiveOp>(user, user.getObjectiveAttr());
    if (whole && partsOf(whole) == 1)
      user.setObjective(objectiveOfPart(whole, user.getParts()).getSymName());
  }
}

} // namespace dyn
