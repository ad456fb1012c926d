#!/usr/bin/env bash
# test-library.sh FOLDER [plain|address|valgrind]...: tests the C ABI of the libzoetrope in FOLDER.
set -euo pipefail
folder=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/.."
flags=(-std=c11 -Wall -Wextra -Wpedantic -Werror -g -O1 -ISources/CZoetrope)
abi=(Tests/CABI/abi_*.c)
writer=(Tests/CABI/writer_*.c)
libraries=(-L"$folder" -lzoetrope -Wl,-rpath,"$folder" -lpthread -lm)
arguments=(Fixtures/Demo/variable-delay.gif Fixtures/Bad/apng-cut-in-frame-2.png Fixtures/APNG/metadata.png
  Fixtures/*/*.gif Fixtures/*/*.png)

# The animations to rewrite. The first one fits in a GIF after any edit.
written=(Fixtures/Demo/variable-delay.gif Fixtures/Demo/*.gif Fixtures/Demo/*.png)
# The animations to keep in a store. The first one has several frames.
stored=(Fixtures/Demo/variable-delay.gif Fixtures/Demo/*.png)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# expect NAME EXPECTED ACTUAL: fails if the output is not as expected.
expect() {
  [ "$3" = "$2" ] || { echo "$1 printed '$3', not '$2'" >&2; exit 1; }
}

for kind in "${@:-plain}"; do
  case $kind in
    plain)
      cc "${flags[@]}" "${abi[@]}" -o "$folder/abi_test" "${libraries[@]}"
      "$folder/abi_test" "${arguments[@]}"
      cc "${flags[@]}" "${writer[@]}" -o "$folder/writer_test" "${libraries[@]}"
      "$folder/writer_test" "$work" "${written[@]}"
      cc "${flags[@]}" Tests/CABI/store_test.c -o "$folder/store_test" "${libraries[@]}"
      "$folder/store_test" "$work" "${stored[@]}"
      # A program that loads and unloads the library by name.
      cc "${flags[@]}" Tests/CABI/unload_test.c -o "$folder/unload_test" -ldl
      timeout 60 "$folder/unload_test" "$folder/libzoetrope.so.1" Fixtures/Demo/variable-delay.gif
      # Exceptions and hypotf with the replacements for glibc 2.35.
      cc -O2 -fPIC -fno-builtin-hypotf -fno-math-errno -c Scripts/older-glibc.c -o "$folder/older-glibc.o"
      alone=(-O1 -fno-builtin -static-libgcc -static-libstdc++ "$folder/older-glibc.o")
      c++ -fPIC -shared -DIN_LIBRARY Tests/CABI/unwind_test.cpp "${alone[@]}" -o "$folder/libunwind_test.so"
      c++ Tests/CABI/unwind_test.cpp "${alone[@]}" "$folder/libunwind_test.so" -Wl,-rpath,"$folder" -o "$folder/unwind_test"
      for file in libunwind_test.so unwind_test; do
        if nm -D --undefined-only "$folder/$file" | grep -E '_dl_find_object|hypotf'; then exit 1; fi
      done
      "$folder/unwind_test"
      # The program in the documentation.
      sed -n '/^```c$/,/^```$/{/^```/!p}' Sources/Zoetrope/Zoetrope.docc/CAndPython.md >"$folder/documented.c"
      cc "${flags[@]}" "$folder/documented.c" -o "$folder/documented" "${libraries[@]}"
      expect "the program in CAndPython.md" "8 frames of 224x224" \
        "$("$folder/documented" Fixtures/Demo/variable-delay.gif)"
      # Reading, with the static library.
      static=("$folder/libzoetrope.a" -lstdc++ -lpthread -lm -ldl)
      cc "${flags[@]}" "${abi[@]}" -o "$folder/static_test" "${static[@]}"
      "$folder/static_test" "${arguments[@]}"
      # The header must also compile as C++, and so must the sample.
      c++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only -x c++ Sources/CZoetrope/zoetrope.h
      cc "${flags[@]}" Examples/C/contact.c -o "$folder/contact" "${libraries[@]}"
      expect "Examples/C/contact.c" "4 lines of frames" \
        "$("$folder/contact" Fixtures/Demo/variable-delay.gif 4 | grep -c '^frame ') lines of frames"
      if "$folder/contact" Fixtures/README.md 2>/dev/null; then
        echo "the sample takes a text for an animation" >&2
        exit 1
      fi
      cc "${flags[@]}" Examples/C/write.c -o "$folder/write" "${libraries[@]}"
      for name in disc.gif disc.png; do
        expect "Examples/C/write.c" "30 frames" "$("$folder/write" "$work/$name" | cut -d, -f1)"
        expect "the animation of Examples/C/write.c" "96x96, 30 frames, 1.00 s" \
          "$("$folder/contact" "$work/$name" 1 | head -n 1)"
      done
      ;;
    address)
      cc "${flags[@]}" -fsanitize=address,undefined -fno-sanitize-recover=all "${abi[@]}" \
        -o "$folder/abi_test_asan" "${libraries[@]}"
      ASAN_OPTIONS=detect_leaks=1 "$folder/abi_test_asan" "${arguments[@]}"
      cc "${flags[@]}" -fsanitize=address,undefined -fno-sanitize-recover=all "${writer[@]}" \
        -o "$folder/writer_test_asan" "${libraries[@]}"
      ASAN_OPTIONS=detect_leaks=1 "$folder/writer_test_asan" "$work" "${written[@]}"
      cc "${flags[@]}" -fsanitize=address,undefined -fno-sanitize-recover=all Tests/CABI/store_test.c \
        -o "$folder/store_test_asan" "${libraries[@]}"
      ASAN_OPTIONS=detect_leaks=1 "$folder/store_test_asan" "$work" "${stored[@]}"
      ;;
    valgrind)
      cc "${flags[@]}" "${abi[@]}" -o "$folder/abi_test" "${libraries[@]}"
      # Only definite leaks, because the runtime keeps its caches. Fewer and smaller files, because this is slow.
      ABI_TEST_SLOW=1 valgrind --quiet --error-exitcode=9 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
        --suppressions=Scripts/valgrind.supp "$folder/abi_test" "${arguments[@]:0:3}" Fixtures/Bad/*.gif
      cc "${flags[@]}" "${writer[@]}" -o "$folder/writer_test" "${libraries[@]}"
      valgrind --quiet --error-exitcode=9 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
        --suppressions=Scripts/valgrind.supp "$folder/writer_test" "$work" "${written[@]:0:1}"
      cc "${flags[@]}" Tests/CABI/store_test.c -o "$folder/store_test" "${libraries[@]}"
      valgrind --quiet --error-exitcode=9 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
        --suppressions=Scripts/valgrind.supp "$folder/store_test" "$work" "${stored[@]:0:1}"
      # As installed: a stripped library, and the suppressions that come with it.
      mkdir -p "$folder/stripped"
      strip --strip-all -o "$folder/stripped/libzoetrope.so.1" "$folder/libzoetrope.so.1"
      cc "${flags[@]}" Tests/CABI/play_test.c -o "$folder/play_test" -L"$folder/stripped" -l:libzoetrope.so.1 \
        -Wl,-rpath,"$folder/stripped"
      for file in Fixtures/Demo/variable-delay.gif Fixtures/APNG/metadata.png; do
        valgrind --quiet --error-exitcode=9 --leak-check=full \
          --show-leak-kinds=definite --errors-for-leak-kinds=definite --suppressions=Sources/CZoetrope/zoetrope.supp \
          "$folder/play_test" "$file"
      done
      ;;
    *) echo "no kind of test: $kind" >&2; exit 2 ;;
  esac
done
