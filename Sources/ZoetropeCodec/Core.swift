// Re-exported so that every file of this module sees the layer below.
@_exported public import ZoetropeCore

#if SANITIZE_THREAD
  typealias Mutex = PthreadMutex
#endif
