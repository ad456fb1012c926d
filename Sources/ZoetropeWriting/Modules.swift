// All files of this module use the module below.
@_exported public import ZoetropeFrames

#if SANITIZE_THREAD
  typealias Mutex = PthreadMutex
#endif
