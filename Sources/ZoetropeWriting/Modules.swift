// What the files of this module build on.
@_exported public import ZoetropeFrames

#if SANITIZE_THREAD
  typealias Mutex = PthreadMutex
#endif
