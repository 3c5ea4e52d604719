// Runs any pass alone on a text of IR; registers everything and decides nothing.
#include "passes/RegisterAll.h"
#include "passes/pipeline/Pipelines.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  dyn::registerAllDynPasses();
  mlir::DialectRegistry registry;
  dyn::registerAllDynDialects(registry);
  dyn::registerPipelineDialects(registry); // with their translations: a pass may write text
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Dyn optimizer driver\n", registry));
}
