// Re-exported: a user imports `Zoetrope` alone, whichever layer a type stands in.
@_exported public import ZoetropeCodec
@_exported public import ZoetropeCore

#if SANITIZE_THREAD
  typealias Mutex = PthreadMutex
#endif
