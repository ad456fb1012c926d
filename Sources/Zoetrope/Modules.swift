// Re-exported, so that users import only `Zoetrope`.
@_exported public import ZoetropeCaching
@_exported public import ZoetropeFrames
@_exported public import ZoetropePlayback
@_exported public import ZoetropeRemote
@_exported public import ZoetropeStore
@_exported public import ZoetropeWriting

#if SANITIZE_THREAD
  typealias Mutex = PthreadMutex
#endif
