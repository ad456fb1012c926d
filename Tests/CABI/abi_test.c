/* Tests of the C ABI: abi_test DELAYS.gif DAMAGED.gif METADATA.png FILE...
   Runs under the address sanitizer and valgrind too: `make test-lib WITH=address`. */
#include "abi_test.h"

#include <sched.h>
#include <sys/wait.h>

atomic_int checks, failures;

/* A child that has its parent's process identity: each is the first of a namespace. */
static void test_fork_among_first_processes(const char *program, const char *path) {
  pid_t child = fork();
  if (child == 0) {
    if (unshare(CLONE_NEWPID)) _exit(77);
    pid_t first = fork();
    if (first == 0) execl(program, program, "--first-process", path, (char *)NULL);
    int status;
    _exit(waitpid(first, &status, 0) == first && WIFEXITED(status) ? WEXITSTATUS(status) : 99);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) printf("not tested: namespaces of processes are not allowed\n");
  else CHECK(WEXITSTATUS(status) == ZOETROPE_FORKED);
}

static int be_first_process(const char *path) {
  zoetrope_animation *animation;
  if (getpid() != 1 || zoetrope_open_file(path, NULL, &animation, NULL)) return 98;
  if (unshare(CLONE_NEWPID)) return 77;
  pid_t child = fork();
  if (child == 0) _exit(getpid() == 1 ? zoetrope_open_file(path, NULL, &animation, NULL) : 97);
  int status = 0;
  zoetrope_close(animation);
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 96;
}

int main(int count, char **arguments) {
  /* Without a leak check, which cannot look into the first process of a namespace. */
  if (count == 3 && !strcmp(arguments[1], "--first-process")) _exit(be_first_process(arguments[2]));
  if (count < 4) {
    fprintf(stderr, "usage: abi_test DELAYS.gif DAMAGED METADATA.png FILE...\n");
    return 2;
  }
  const char *delays = arguments[1];
  test_bad_arguments(delays);
  test_facts(delays);
  test_damage(arguments[2]);
  test_metadata(arguments[3]);
  test_pixels(delays);
  test_renderings(delays);
  test_sampling(delays);
  test_png(delays);
  test_reader(delays);
  test_descriptors(delays);
  test_versions();
  test_closing_ends_reading();
  test_threads(delays);
  test_cancelling_a_call_that_waits(delays);
  test_that_calls_take_turns(delays);
  test_timeout(delays);
  test_timeout_of_a_silent_pipe();
  test_cancelling_opening(delays);
  test_cancelling_opening_of_a_silent_pipe();
  if (!getenv("ABI_TEST_SLOW")) {
    test_hostile_calls();
    test_hostile_player();
  }
  test_playback(delays);
  for (int i = 4; i < count; i++)
    if (strstr(arguments[i], "/spinner.png")) test_durations_of_playback(arguments[i]);
  test_dirty(delays);
  test_fork(delays);
  if (!getenv("ABI_TEST_SLOW")) test_fork_among_first_processes(arguments[0], delays);
  for (int i = 4; i < count; i++) {
    test_times(arguments[i]);
    test_file(arguments[i]);
  }
  printf("%d checks, %d failed\n", checks, failures);
  return failures != 0;
}
