internal import Glibc
internal import Synchronization

/// Detects a forked child of a process that had used the library.
enum ForkGuard {
  private static let hasForked = Atomic(false)
  /// The process that first used the library. Its initialization registers the fork handler, which children inherit.
  private static let processID: pid_t = {
    pthread_atfork(nil, nil) { ForkGuard.hasForked.store(true, ordering: .relaxed) }
    return getpid()
  }()

  /// Whether this process is such a child. Process ids alone would not suffice, because parent and child may both be
  /// process 1 of their namespaces. Neither would the handler, because a child created with the system call clone()
  /// does not run it.
  static var isForked: Bool {
    getpid() != processID || hasForked.load(ordering: .relaxed)
  }
}
