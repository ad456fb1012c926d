// Imports and type aliases for all files of this module.
@_exported public import ZoetropeFrames

#if SANITIZE_THREAD
  typealias Mutex = PthreadMutex
#endif
