// The C ABI; Sources/CZoetrope/zoetrope.h documents the functions.
//
// The functions (`Opening`, `Reading`, `Storing`, `Playing`, `Writing`, `Rewriting`) turn C arguments into Swift values
// with the helpers of `ForeignMemory` and `ForeignOutput`, and call types that know nothing of C (`AnimationHandle`, `Player`).

#if SANITIZE_THREAD
  internal import Zoetrope

  typealias Mutex = PthreadMutex
#endif
