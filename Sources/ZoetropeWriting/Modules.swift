// The module that all files of this module use.
@_exported public import ZoetropeFrames

#if SANITIZE_THREAD
  typealias Mutex = PthreadMutex
#endif
