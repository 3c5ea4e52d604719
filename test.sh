#!/usr/bin/env bash
# Builds what the tests need and runs all of them: unit tests (ctest), specs and passes (lit), and the unit tests of
# grammar, frontend, runtime and evaluator under AddressSanitizer and UndefinedBehaviorSanitizer.
#
#   ./test.sh            everything
#   ./test.sh --quick    without the sanitizers
#
# The last line counts: `N passed, N failed`.
set -uo pipefail
cd "$(dirname "$0")" || exit

lit=/usr/lib/llvm-22/bin/lit
sanitized=(dyn_front_test dyn_check_test dyn_runtime_test dyn_nd_test) # unit tests that also run under the sanitizers
logs=build/test-logs
passed=0
failed=0
broken=()

# Adds the counts of a JUnit file (ctest and lit both write one); a missing or empty one counts as a failure.
count() {
  local name=$1 file=$2 numbers
  numbers=$(python3 - "$file" <<'PY'
import sys
import xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
cases = list(root.iter("testcase"))
skipped = [c for c in cases if c.find("skipped") is not None or c.get("status") in ("disabled", "notrun")]
bad = [c for c in cases if c.find("failure") is not None or c.find("error") is not None]
for case in bad:
    print("FAILED", case.get("classname", ""), case.get("name"), file=sys.stderr)
for case in skipped:
    print("SKIPPED", case.get("classname", ""), case.get("name"), file=sys.stderr)
print(len(cases) - len(bad) - len(skipped), len(bad) + (not cases))
PY
  ) || numbers="0 1"
  passed=$((passed + ${numbers% *}))
  failed=$((failed + ${numbers#* }))
  [ "${numbers#* }" -eq 0 ] || broken+=("$name")
}

step() {
  local name=$1
  shift
  echo "== $name"
  "$@" || { echo "== $name: exit status $?"; return 1; }
}

rm -rf "$logs"
mkdir -p "$logs"
logs=$PWD/$logs

if step "build" scripts/configure.sh build >"$logs/configure.log" && step "build" cmake --build build; then
  step "unit tests" ctest --test-dir build --output-on-failure -j "$(nproc)" --output-junit "$logs/unit.xml"
  count "unit tests" "$logs/unit.xml"
  step "specs and passes" "$lit" -v --param build=build --xunit-xml-output "$logs/lit.xml" test
  count "specs and passes" "$logs/lit.xml"
else
  failed=$((failed + 1))
  broken+=("build")
fi

if [ "${1:-}" != --quick ]; then
  if step "sanitizer build" scripts/configure.sh build-sanitize -DDYN_SANITIZE=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo \
      >"$logs/configure-sanitize.log" && step "sanitizer build" cmake --build build-sanitize --target "${sanitized[@]}"; then
    step "sanitized unit tests" ctest --test-dir build-sanitize --output-on-failure -j "$(nproc)" \
      -R "^($(IFS='|' && echo "${sanitized[*]}"))\$" --output-junit "$logs/sanitized.xml"
    count "sanitized unit tests" "$logs/sanitized.xml"
  else
    failed=$((failed + 1))
    broken+=("sanitizer build")
  fi
fi

[ "${#broken[@]}" -eq 0 ] || printf 'failed: %s\n' "${broken[@]}"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
