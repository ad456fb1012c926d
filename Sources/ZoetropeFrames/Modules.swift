// What the files of this module build on.
@_exported public import ZoetropeCodec
@_exported public import ZoetropeCore
@_exported public import ZoetropeScaling

#if SANITIZE_THREAD
  typealias Mutex = PthreadMutex
#endif
