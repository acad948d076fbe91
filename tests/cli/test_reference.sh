#!/bin/sh
# The pages made of the table of options. Needs no device.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

run help markdown
expect_status 0
check
if ! cmp -s out "$project/docs/cli.md"; then
  diff "$project/docs/cli.md" out | head -n 20
  fail "docs/cli.md is old: write it anew with \`clematis help markdown >docs/cli.md\`"
fi

run help man
expect_status 0
expect out '^\.TH CLEMATIS 1'
expect out '^\.B \\-\\-epochs N'
sed -n 's/^OPTION("\([a-z-]*\)".*/\1/p' "$project/src/cli/opts.def" >names
while read -r name; do
  expect out "$(printf '%s' "$name" | sed 's/-/\\\\-/g')"
done <names
if command -v groff >/dev/null; then
  check
  groff -man -ww -z out 2>warnings
  if [ -s warnings ]; then fail "$(cat warnings)"; fi
fi
finish
