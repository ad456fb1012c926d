// The implementation of the C ABI. Sources/CZoetrope/zoetrope.h documents the functions.
//
// The functions are in `Opening`, `Reading`, `Storing`, `Playing`, `Writing` and `Rewriting`. They convert C arguments
// to Swift values with the helpers of `ForeignMemory` and `ForeignOutput`, and call types that do not use C
// (`AnimationHandle`, `Player`).

#if SANITIZE_THREAD
  internal import Zoetrope

  typealias Mutex = PthreadMutex
#endif
