#if SANITIZE_THREAD
  internal import Zoetrope

  /// The lock that the thread sanitizer knows, for this module too.
  typealias Mutex = PthreadMutex
#endif
