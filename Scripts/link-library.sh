#!/usr/bin/env bash
# link-library.sh ARCHIVE FOLDER: links libzoetrope. SwiftPM cannot link a library that contains the Swift runtime, so
# this does it from the static archives of this package, of the Swift runtime, and of the C libraries. The shared
# library needs libc and libm; the static one also needs libstdc++. Both export only the functions of zoetrope.h.
set -euo pipefail
archive=$1 folder=$2
root=$(cd "$(dirname "$0")/.." && pwd)
header=$root/Sources/CZoetrope/zoetrope.h
version=$(sed -n 's/^#define ZOETROPE_VERSION "\(.*\)"$/\1/p' "$header")
# Ask the compiler, because swiftc may be a launcher in another directory.
resources=$(swiftc -print-target-info | sed -n 's/.*"runtimeResourcePath": *"\(.*\)".*/\1/p')
toolchain=$(cd "$resources/../.." && pwd)
runtime=$toolchain/lib/swift_static/linux
mkdir -p "$folder"
name=libzoetrope.so
file=$folder/$name.1
work=$(mktemp -d "$folder/.link.XXXXXX")
trap 'rm -rf "$work"' EXIT

# The functions that the header declares. Nothing else is exported.
functions=$(grep -oE '\bzoetrope_[a-z_]+\(' "$header" | tr -d '(' | sort -u)
{
  echo "ZOETROPE_1 {"
  echo "  global:"
  sed 's/.*/    &;/' <<<"$functions"
  echo "  local: *;"
  echo "};"
} >"$work/zoetrope.map"

# Debian builds its archives for position-independent executables. Their code works in a shared library, except that it
# expects libc's variable `stderr` in the program. So it gets a variable of ours.
cat >"$work/stderr.c" <<'EOF'
#include <stdio.h>
FILE *zoetrope_stderr;
__attribute__((constructor)) static void set(void) { zoetrope_stderr = stderr; }
EOF
cc -O2 -fPIC -c "$work/stderr.c" -o "$work/stderr.o"
cc -O2 -fPIC -fno-builtin-hypotf -fno-math-errno -Wall -Wextra -Werror -c "$root/Scripts/older-glibc.c" -o "$work/older-glibc.o"
archives=() originals=()
for library in gif png16 deflate xxhash z; do
  path=$(cc -print-file-name="lib$library.a")
  originals+=("$path")
  [ -f "$path" ] || { echo "no static lib$library: install its development package" >&2; exit 1; }
  objcopy --redefine-sym stderr=zoetrope_stderr "$path" "$work/lib$library.a"
  archives+=("$work/lib$library.a")
done

swift=(-L"$runtime" -lswiftCore -lswift_Concurrency -lswiftSynchronization -lswiftObservation -lswift_StringProcessing
  -lswift_RegexParser -lswiftGlibc -lswiftSwiftOnoneSupport -lswift_Builtin_float -lFoundationEssentials -l_FoundationCShims
  -l_FoundationCollections -ldispatch -lBlocksRuntime)

# nodelete keeps dlclose from unloading the Swift runtime and the library's threads, which is impossible. swiftrt.o
# registers the metadata of Swift types. Everything that no exported function reaches is dropped.
"$toolchain/bin/clang++" -shared -fuse-ld=lld -o "$work/$name" \
  -Wl,-soname,$name.1 -Wl,--version-script="$work/zoetrope.map" -Wl,-z,defs -Wl,-z,relro,-z,now \
  -Wl,--gc-sections -Wl,--build-id=none -Wl,-z,nodelete -Wl,--as-needed -static-libstdc++ -static-libgcc \
  "$runtime/$(uname -m)/swiftrt.o" -Wl,--whole-archive "$archive" -Wl,--no-whole-archive \
  "$work/stderr.o" "$work/older-glibc.o" -Wl,--start-group "${archives[@]}" \
  "${swift[@]}" -Wl,--end-group -lm -lpthread -ldl
# KEEP_SYMBOLS=1 keeps the names, for valgrind and profilers.
if [ -n "${KEEP_SYMBOLS:-}" ]; then strip=--strip-debug; else strip=--strip-all; fi
"$toolchain/bin/llvm-objcopy" "$strip" "$work/$name"

# The static library is one object. All other names are local, so that they cannot clash with those of the program.
"$toolchain/bin/ld.lld" -r --gc-sections $(sed 's/^/-u /' <<<"$functions") -o "$work/all.o" \
  "$runtime/$(uname -m)/swiftrt.o" --whole-archive "$archive" --no-whole-archive \
  --start-group "${originals[@]}" "${swift[@]}" --end-group
"$toolchain/bin/llvm-objcopy" --strip-debug --keep-global-symbols=<(echo "$functions") "$work/all.o" "$work/zoetrope.o"
"$toolchain/bin/llvm-ar" rcs "$work/libzoetrope.a" "$work/zoetrope.o"
[ "$(nm --defined-only -g "$work/libzoetrope.a" | sed -n 's/.* [A-Za-z] //p' | sort -u)" = "$functions" ] || {
  echo "libzoetrope.a does not export the symbols of the header" >&2
  exit 1
}
mv -f "$work/libzoetrope.a" "$folder/"

# Check the exported functions, the libraries it needs, and the oldest libc with which it runs.
exported=$(nm -D --defined-only "$work/$name" | sed -n 's/.* T \(.*\)@@ZOETROPE_1$/\1/p' | sort -u)
others=$(nm -D --defined-only "$work/$name" | grep -v ' T .*@@ZOETROPE_1$' | grep -v ' A ZOETROPE_1$' || :)
if [ "$exported" != "$functions" ] || [ -n "$others" ]; then
  echo "exported symbols are not those of the header:" >&2
  diff <(echo "$functions") <(echo "$exported") >&2 || :
  echo "$others" | head >&2
  exit 1
fi
floor=$(nm -D --undefined-only "$work/$name" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)
mv -f "$work/$name" "$file"
ln -sf "$name.1" "$folder/$name"
echo "$file: version $version, $(stat -c %s "$file") bytes, $(wc -l <<<"$exported") functions"
echo "needs $(objdump -p "$file" | sed -n 's/ *NEEDED *//p' | tr '\n' ' ')from ${floor/GLIBC_/glibc }"
echo "$folder/libzoetrope.a: $(stat -c %s "$folder/libzoetrope.a") bytes, needs -lstdc++ -lm -lpthread -ldl"
echo "${floor/GLIBC_/}" >"$folder/glibc-floor"
