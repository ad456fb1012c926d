internal import CXXHash

/// Works out a ``ContentIdentity`` from bytes that come in pieces.
///
/// The state lives in memory that xxHash allocates (it wants 64-byte alignment), owned by this value
/// alone: made in `init`, freed in `deinit`, touched only through `mutating` or consuming calls.
@safe
package struct ContentHasher: ~Copyable {
  // Nil only when memory ran out; then every call is a no-op and `finish` says so.
  private let state: OpaquePointer?

  package init() {
    unsafe state = XXH3_createState()
    _ = unsafe XXH3_128bits_reset(state)
  }

  deinit { _ = unsafe XXH3_freeState(state) }

  /// Adds the next piece.
  package mutating func update(_ bytes: borrowing RawSpan) {
    _ = unsafe bytes.withUnsafeBytes { buffer in
      unsafe XXH3_128bits_update(state, buffer.baseAddress, buffer.count)
    }
  }

  /// The identity of all pieces so far.
  package func finish() -> ContentIdentity {
    let hash = unsafe XXH3_128bits_digest(state)
    return ContentIdentity(high: hash.high64, low: hash.low64)
  }
}
