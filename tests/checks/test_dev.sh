#!/bin/sh
# test_dev.sh ROOT: what ./dev does before it can build, with the system's programs played by others.
set -u
cd "$1" || exit 1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
  echo "failed: $*"
  cat "$folder/out"
  exit 1
}

# play NAME TEXT: a program NAME that runs TEXT, found before the system's.
play() {
  printf '#!/bin/sh\n%s\n' "$2" >"$folder/$1"
  chmod +x "$folder/$1"
}

# run STATUS COMMAND...: the command ends with STATUS; its output is kept.
run() {
  expected=$1
  shift
  status=0
  PATH=$folder:$PATH "$@" >"$folder/out" 2>&1 </dev/null || status=$?
  [ "$status" -eq "$expected" ] || fail "$* ended with $status, expected $expected"
}

says() { grep -q -e "$1" "$folder/out" || fail "the output lacks '$1':"; }

run 0 ./dev help
for verb in setup build demo test bench format lint install; do says "^  $verb "; done
run 64 ./dev dance
says "there is no verb 'dance'"

# Packages are missing, and there is neither root nor sudo's consent.
play dpkg-query 'case $* in *cmocka*) exit 1 ;; *) echo "install ok installed" ;; esac'
play id 'echo 1000'
play sudo 'exit 1'
play apt-get 'echo apt-get "$@" >>'"$folder/apt"
for verb in setup build demo test bench install lint; do
  run 69 ./dev $verb
  says '^apt-get update && apt-get install --yes --no-install-recommends libcmocka-dev$'
done
[ ! -e "$folder/apt" ] || fail "something was installed without leave"

# sudo allows it: what is missing is installed, and nothing else.
# shellcheck disable=SC2016 # expands in the played program
play sudo '[ "$1" != -n ] || shift; exec "$@"'
play cc 'exit 0'
run 69 ./dev setup
grep -q -x 'apt-get install --yes --no-install-recommends libcmocka-dev' "$folder/apt" ||
  fail "the missing package was not installed"

# No device is found: PoCL is installed; where that does not help, this is said.
play dpkg-query 'case $* in *pocl*) exit 1 ;; *) echo "install ok installed" ;; esac'
play cc 'exit 1'
run 69 ./dev setup
grep -q -x 'apt-get install --yes --no-install-recommends pocl-opencl-icd' "$folder/apt" ||
  fail "PoCL was not installed"
says 'no OpenCL device, although'
echo "./dev behaves"
