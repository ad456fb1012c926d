internal import Glibc
internal import Synchronization

/// Detects whether the process is a forked child of a process that had already used the library.
enum ForkGuard {
  private static let hasForked = Atomic(false)
  /// The id of the process that first used the library. Initializing this property registers a fork handler, which
  /// children inherit.
  private static let processID: pid_t = {
    pthread_atfork(nil, nil) { ForkGuard.hasForked.store(true, ordering: .relaxed) }
    return getpid()
  }()

  /// Whether this process was forked after its parent had used the library. Comparing process ids alone does not
  /// suffice, because parent and child may both be process 1 of their namespaces. The fork handler alone does not
  /// suffice either, because a child that was created with the system call clone() does not run it.
  static var isForked: Bool {
    getpid() != processID || hasForked.load(ordering: .relaxed)
  }
}
