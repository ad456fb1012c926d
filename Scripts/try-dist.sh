#!/usr/bin/env bash
# try-dist.sh FOLDER: the part of test-dist.sh that runs without Swift. FOLDER has the files of a release and the
# expected results. With INSTALL=1, the package and the archives are installed and removed, otherwise only unpacked.
set -euo pipefail
cd "$1"
export LC_ALL=C.UTF-8
[ ! -e run ] || rm -r run
mkdir run
version=$(ls zoetrope_*.deb | cut -d_ -f2)
fail() { echo "$*" >&2; exit 1; }
# Unlike `grep -q`, reads all of its input: a writer that is still writing would end with SIGPIPE, and fail the pipeline.
has() { [ "$(grep -c -- "$1")" != 0 ]; }

# All files except logs and caches of package managers.
files() {
  find / -xdev \( -path "$PWD" -o -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path '/var/log/*' -o -path '/var/cache/*' \
    -o -path '/var/lib/apt/*' -o -path '/var/lib/dpkg/*-old' -o -path /images \) -prune -o -print | sort
}

# Tests the tool in PATH.
try_tool() {
  [ "$(zoetrope --version | head -n 1)" = "zoetrope $version" ] || fail "another version"
  zoetrope extract sample.gif --format rgba -o - | sha256sum | cmp - pixels
  zoetrope extract sample.gif -o run/frames --quiet
  [ "$(ls run/frames | wc -l)" = "$(zoetrope info sample.gif --format '{frames}')" ] || fail "frames are missing"
  rm -r run/frames
  # Neither command loses a pixel, a frame or a delay of this file.
  zoetrope convert sample.gif -o run/converted.png --quiet
  zoetrope optimize sample.gif -o run/optimized.gif --quiet
  local file facts='{width}x{height} {frames} {duration_ms} {plays}'
  for file in run/converted.png run/optimized.gif; do
    zoetrope extract $file --format rgba -o - | sha256sum | cmp - pixels
    [ "$(zoetrope info $file --format "$facts")" = "$(zoetrope info sample.gif --format "$facts")" ] ||
      fail "$file has other frames, delays or plays"
  done
  [ "$(wc -c <run/optimized.gif)" -lt "$(wc -c <sample.gif)" ] || fail "optimize makes nothing smaller"
  rm run/converted.png run/optimized.gif
  local status=0
  zoetrope extract sample.c -o run/frames 2>/dev/null || status=$?
  [ $status = 3 ] || fail "status $status for what is no image"
}

# Tests the manual pages and completions below SHARE.
try_texts() { # SHARE ZSH-FOLDER
  command -v man >/dev/null && { man -M "$1/man" zoetrope-extract | has --manifest || fail "no manual page"; }
  bash --norc -c '. "$1" && complete -p zoetrope' bash "$1/bash-completion/completions/zoetrope" >/dev/null
  if command -v zsh >/dev/null; then
    [ "$(zsh -fc 'fpath+=($1); autoload -U compinit && compinit -D -u && echo $_comps[zoetrope]' zsh "$1/$2")" = _zoetrope ] ||
      fail "zsh has no completion"
  fi
  if command -v fish >/dev/null; then
    HOME=$PWD/run fish --no-config -c 'source $argv[1]; complete -C "zoetrope conv"' \
      "$1/fish/vendor_completions.d/zoetrope.fish" | has '^convert' || fail "fish has no completion"
  fi
}

# Unpacks ARCHIVE to $prefix: /usr/local with INSTALL=1, otherwise FOLDER.
unpack() { # ARCHIVE FOLDER
  prefix=$2
  if [ -n "${INSTALL:-}" ]; then
    prefix=/usr/local
    # Some folders are empty before, such as /usr/local/bin. Removing an archive would delete these, too.
    find $prefix -type d -empty -exec touch {}/kept \;
    files >run/before
  else
    mkdir "$prefix"
  fi
  tar -xzf "$1" --strip-components=1 -C "$prefix"
}

# With INSTALL=1, removes the files of ARCHIVE with README's command, which fails for folders that others use.
remove() { # ARCHIVE
  [ -n "${INSTALL:-}" ] || return 0
  tar -tzf "$1" --strip-components=1 --show-transformed-names | tac | (cd "$prefix" && xargs rm -d) 2>run/others || :
  files >run/after
  diff run/before run/after || fail "the archive left traces"
  find "$prefix" -name kept -empty -delete
  removed=", and is removed without a trace"
}

archive=$(echo "zoetrope-$version"-linux-*.tar.gz)
[ "$(tar -tzf "$archive" | cut -d/ -f2 | sort -u | xargs)" = "bin share" ] || fail "the archive has other folders"
unpack "$archive" "$PWD/run/prefix"
(PATH=$prefix/bin:$PATH && try_tool)
try_texts "$prefix/share" zsh/site-functions
remove "$archive"
echo "tar archive: runs${removed:-}"

[ -z "$(dpkg-deb -f zoetrope_*.deb Depends)" ] || fail "the package depends on others"
if [ -n "${INSTALL:-}" ]; then
  files >run/before
  apt-get install -y -qq "$PWD"/zoetrope_*.deb >run/apt 2>&1 || { cat run/apt; exit 1; }
  [ "$(command -v zoetrope)" = /usr/bin/zoetrope ] || fail "not installed"
  try_tool
  try_texts /usr/share zsh/vendor-completions
  man zoetrope | has EXAMPLES || fail "man does not find the page"
  # The shells must find the completions by themselves.
  bash --norc -c '. /usr/share/bash-completion/bash_completion
    { _comp_load zoetrope || _completion_loader zoetrope; } 2>/dev/null; complete -p zoetrope' >/dev/null || fail "bash has no completion"
  [ "$(zsh -fc 'autoload -U compinit && compinit -D -u && echo $_comps[zoetrope]')" = _zoetrope ] || fail "zsh does not find it"
  dpkg --verify zoetrope
  apt-get remove -y -qq zoetrope >>run/apt 2>&1
  files >run/after
  diff run/before run/after || fail "the package left traces"
  if dpkg -s zoetrope >/dev/null 2>&1; then fail "still known to dpkg"; fi
  echo "package: installs, runs, and is removed without a trace"
else
  dpkg-deb -x zoetrope_*.deb run/package
  (PATH=$PWD/run/package/usr/bin:$PATH && try_tool)
  try_texts "$PWD/run/package/usr/share" zsh/vendor-completions
  echo "package: runs when unpacked"
fi

archive=$(echo libzoetrope-*.tar.gz)
unpack "$archive" "$PWD/run/c"
if [ -n "${INSTALL:-}" ]; then
  ldconfig
else
  export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
fi
expect_sample() {
  [ "$("$1" sample.gif)" = "8 frames of 224x224" ] || fail "the C program of the documentation prints something else"
}
[ "$(pkg-config --modversion zoetrope)" = "$version" ] || fail "pkg-config names another version"
cc -std=c11 -Wall -Wextra -Werror sample.c -o run/sample $(pkg-config --cflags --libs zoetrope)
expect_sample run/sample
echo "C library: compiles and runs with pkg-config"
if command -v cmake >/dev/null; then
  mkdir run/cmake
  cat >run/cmake/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.18)
project(sample C)
find_package(zoetrope ${version%.*} REQUIRED)
add_executable(sample "$PWD/sample.c")
target_link_libraries(sample PRIVATE zoetrope::zoetrope)
END
  cmake -S run/cmake -B run/cmake/build -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
  cmake --build run/cmake/build >/dev/null
  expect_sample run/cmake/build/sample
  echo "C library: compiles and runs with CMake"
fi
remove "$archive"
[ -z "${INSTALL:-}" ] || { ldconfig && echo "C library: is removed without a trace"; }

python3 -m venv run/venv
# Ignore bytecode that pip may write.
installed() { find run/venv -ipath '*zoetrope*'; }
run/venv/bin/pip install -q --no-index --no-deps --disable-pip-version-check ./*.whl
[ "$(run/venv/bin/python -m zoetrope --version)" = "zoetrope $version" ] || fail "the wheel has another version"
run/venv/bin/python try-wheel.py "$IMAGES" | diff frames - || fail "the wheel reads something else here"
installed | has '/licenses/THIRD-PARTY.txt$' || fail "the wheel lacks licences"
run/venv/bin/pip uninstall -q -y --disable-pip-version-check zoetrope
[ -z "$(installed)" ] || fail "the wheel left $(installed)"
echo "wheel: installs under $(python3 --version), reads $(cut -d' ' -f2- frames | cut -c-60)..., and is removed without a trace"
rm -r run
