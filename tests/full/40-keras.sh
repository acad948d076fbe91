#!/bin/sh
# the tests that ask real Keras, in a Python environment kept in the user's cache
. tests/full/lib.sh
build release
if [ -z "${CLEMATIS_KERAS_PYTHON-}" ]; then
  # The versions that tests/golden was made with.
  home=$cache/clematis-keras/tf2.21.0-keras3.15.1
  CLEMATIS_KERAS_PYTHON=$home/bin/python
  if [ ! -e "$home/complete" ]; then
    need python3-venv
    echo "installing TensorFlow and Keras into $home, once"
    rm -rf "$home"
    python3 -m venv "$home" || skip "no virtual environment could be made"
    "$home/bin/pip" install --quiet --no-cache-dir --disable-pip-version-check \
      tensorflow-cpu==2.21.0 keras==3.15.1 ||
      skip "pip could not install tensorflow-cpu 2.21.0 and keras 3.15.1"
    : >"$home/complete"
  fi
  # Without it one test is skipped.
  "$home/bin/python" -c 'import tensorboard' 2>/dev/null ||
    "$home/bin/pip" install --quiet --no-cache-dir --disable-pip-version-check \
      tensorboard==2.21.0 || echo "pip could not install tensorboard 2.21.0"
fi
export CLEMATIS_KERAS_PYTHON
"$CLEMATIS_KERAS_PYTHON" -c 'import keras, tensorflow
print("Keras", keras.__version__, "on TensorFlow", tensorflow.__version__)' 2>"$CLM_FULL/keras" || {
  tail -n 5 "$CLM_FULL/keras"
  skip "$CLEMATIS_KERAS_PYTHON cannot import keras and tensorflow"
}
ctest --test-dir build -N -L '^keras$' | grep -q 'Test *#' || skip "no test has the label keras"
run_ctest build --label-regex '^keras$'
