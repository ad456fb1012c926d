// Re-exported, so that users import only `Zoetrope`.
@_exported public import ZoetropeCodec
@_exported public import ZoetropeCore

#if SANITIZE_THREAD
  typealias Mutex = PthreadMutex
#endif
