internal import CXXHash

/// Works out a ``ContentIdentity`` from bytes that come in pieces.
///
/// The state lives in memory that xxHash allocates (it wants 64-byte alignment), owned by this value
/// alone: made in `init`, freed in `deinit`, touched only through `mutating` or consuming calls.
@safe
package struct ContentHasher: ~Copyable {
  private let state: OpaquePointer

  /// A hasher of no bytes yet. Throws `limitExceeded` when the system has no memory for its state.
  package init() throws(AnimatedImageError) {
    guard let state = unsafe XXH3_createState() else {
      throw AnimatedImageError(.limitExceeded, "no memory for a hash")
    }
    unsafe self.state = state
    // The secret is never freed, so it outlives the state, which refers to it.
    let secret = unsafe HashSecret.process.bytes
    _ = unsafe XXH3_128bits_reset_withSecret(state, secret.baseAddress, secret.count)
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

/// The random bytes that key the hashes of this process, so that nobody outside can construct two
/// files that collide.
///
/// Sendable, and the pointer safe to use anywhere: written once before anybody else sees it, then only
/// read, and never freed.
@safe
struct HashSecret: @unchecked Sendable {
  static let process = HashSecret()

  let bytes: UnsafeRawBufferPointer

  private init() {
    // Twice the least that the hash takes.
    let count = 2 * Int(XXH3_SECRET_SIZE_MIN)
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 64)
    var random = SystemRandomNumberGenerator()
    for place in memory.indices {
      unsafe memory[place] = UInt8.random(in: 0...255, using: &random)
    }
    unsafe bytes = UnsafeRawBufferPointer(memory)
  }
}
