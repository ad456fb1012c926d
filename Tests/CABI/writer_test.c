/* Tests of writing with the C ABI: writer_test FOLDER FILE...
   Runs under the address sanitizer and valgrind too: `make test-lib WITH=address`. */
#include "writer_test.h"

atomic_int checks, failures;
const char *folder;

int main(int count, char **arguments) {
  if (count < 3) {
    fprintf(stderr, "usage: writer_test FOLDER FILE...\n");
    return 2;
  }
  folder = arguments[1];
  test_bad_arguments();
  test_pixel_formats();
  test_files();
  test_relative_paths();
  test_sinks();
  test_threads();
  test_refusals();
  test_rewriting(arguments[2]);
  test_cancelling_a_rewrite(arguments[2]);
  test_budgets();
  test_cancelling_a_budget();
  for (int i = 2; i < count; i++) test_optimizing(arguments[i]);
  test_fork(arguments[2]);
  printf("%d checks, %d failed\n", checks, failures);
  return failures != 0;
}
