// The imports on which all files of this module rely.
@_exported public import ZoetropeCodec
@_exported public import ZoetropeCore
@_exported public import ZoetropeScaling

#if SANITIZE_THREAD
  typealias Mutex = PthreadMutex
#endif
