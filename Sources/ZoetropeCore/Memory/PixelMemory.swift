internal import Glibc
internal import Synchronization

// The pool from which large blocks of pixels are allocated.
//
// Unsafe code: a block consists of `byteCount` bytes from `mmap`. It is either in the list of waiting blocks below or
// has exactly one owner, never both. This file neither reads nor writes the bytes of a block.

/// A pool that allocates and recycles large blocks of pixels.
///
/// Playback allocates and frees one canvas per frame. The system's allocator either returns the pages to the system
/// each time, so that every frame causes hundreds of page faults (measured: they take as long as decoding a 640×360 GIF
/// frame), or keeps the memory of about twenty canvases. This pool keeps a few freed blocks for the next frames and
/// returns the rest to the system immediately. A block in the pool keeps the picture that was drawn in it, so that the
/// canvas of that picture can reuse the pixels.
package enum PixelMemory {
  /// The size in bytes of the smallest block that the pool allocates. Smaller blocks come from the system's allocator.
  ///
  /// Under the address sanitizer, all blocks come from the system's allocator, because the sanitizer checks only memory
  /// that comes from there.
  #if SANITIZE_ADDRESS
    static let minimumByteCount = Int.max
  #else
    static let minimumByteCount = 1 << 16
  #endif
  /// Bounds on the waiting blocks that are not kept for any canvas: on the number of blocks of one size, and on the
  /// bytes of all these blocks. The bounds leave room for the blocks of the frames decoded ahead, so that the next
  /// animation of the same size can reuse these blocks.
  private static let maximumCountOfSize = 4
  private static let maximumBytes = 1 << 25
  /// Bounds on the waiting blocks that are kept for canvases: on the number of blocks that hold pictures of one canvas,
  /// and on the bytes of the blocks of all canvases. Several blocks are needed, because a consumer that falls behind
  /// frees several frames in a row. If a canvas finds no block with one of its pictures, every frame costs new pages
  /// and a full copy.
  private static let maximumCountOfCanvas = 5
  private static let maximumCanvasBytes = Atomic(1 << 26)

  private struct Waiting {
    var address: UInt
    var byteCount: Int
    /// The stamp of the picture in the block. It identifies a picture only while the picture's canvas is in use.
    var stamp: PictureStamp
  }

  private struct State {
    /// The waiting blocks, oldest first.
    var waiting: [Waiting] = []
    /// The number of blocks of each size, including both blocks with an owner and waiting blocks.
    var counts: [Int: Int] = [:]
    /// The canvases in use. When a block with a picture of one of these canvases is freed, it is kept for that canvas.
    var canvases: Set<UInt64> = []

    /// Returns the index of the waiting block to use, or nil if no waiting block is suitable. The block with the newest
    /// picture of `canvas` is preferred; the next choice is the block freed last among the blocks that are not kept for
    /// any canvas. A canvas never uses a block that is kept for another canvas, because the two canvases would keep
    /// taking blocks from each other. Only a request that is not for a canvas (`canvas` is 0) may take a block that is
    /// kept for a canvas, and only if there is no other block.
    func place(_ byteCount: Int, of canvas: UInt64) -> Int? {
      var newest: Int?
      var free: Int?
      var other: Int?
      for (place, block) in waiting.enumerated() where block.byteCount == byteCount {
        if block.stamp.canvas == 0 {
          free = place
        } else if block.stamp.canvas != canvas {
          other = place
        } else if newest.map({ waiting[$0].stamp.version < block.stamp.version }) ?? true {
          newest = place
        }
      }
      return newest ?? free ?? (canvas == 0 ? other : nil)
    }

    var waitingByteCount: Int { waiting.reduce(0) { $0 + $1.byteCount } }

    mutating func count(_ change: Int, _ byteCount: Int) {
      let count = counts[byteCount, default: 0] + change
      counts[byteCount] = count == 0 ? nil : count
    }

    /// Removes the oldest waiting blocks until the bounds hold again after `block` was appended, and returns the
    /// removed blocks.
    mutating func surplus(after block: Waiting) -> [Waiting] {
      let canvas = block.stamp.canvas
      var surplus: [Waiting] = []
      func isAlike(_ other: Waiting) -> Bool {
        canvas == 0
          ? other.stamp.canvas == 0 && other.byteCount == block.byteCount
          : other.stamp.canvas == canvas
      }
      let maximum = canvas == 0 ? maximumCountOfSize : maximumCountOfCanvas
      if waiting.count(where: isAlike) > maximum, let oldest = waiting.firstIndex(where: isAlike) {
        surplus.append(waiting.remove(at: oldest))
      }
      let maximumBytes =
        canvas == 0 ? PixelMemory.maximumBytes : maximumCanvasBytes.load(ordering: .relaxed)
      func isBounded(_ other: Waiting) -> Bool { (other.stamp.canvas == 0) == (canvas == 0) }
      var bytes = waiting.reduce(0) { $0 + (isBounded($1) ? $1.byteCount : 0) }
      while bytes > maximumBytes, let oldest = waiting.firstIndex(where: isBounded) {
        // Keep the block that was just freed for a canvas, however large it is.
        if canvas != 0, oldest == waiting.count - 1 { break }
        bytes -= waiting[oldest].byteCount
        surplus.append(waiting.remove(at: oldest))
      }
      for block in surplus { count(-1, block.byteCount) }
      return surplus
    }
  }

  private static let state = Mutex(State())

  /// Returns `byteCount` rounded up by at most a quarter, to one of four sizes per power of two.
  ///
  /// For a thousand frames, each slightly larger than the previous one, the system's allocator kept twice as much
  /// memory. Without rounding, each block in this pool would wait for another frame of exactly the same size.
  package static func rounded(_ byteCount: Int) -> Int {
    let step = 1 << max(Int.bitWidth - byteCount.leadingZeroBitCount - 3, 6)
    return (byteCount + step - 1) & ~(step - 1)
  }

  /// Returns the number of blocks of `byteCount` bytes, including both blocks with an owner and waiting blocks.
  package static func blockCount(of byteCount: Int) -> Int {
    state.withLock { $0.counts[byteCount, default: 0] }
  }

  /// The number of bytes that stay free when the system is asked for memory. Memory is refused while they can still be
  /// allocated, because the process is aborted if even a small allocation fails, such as that of an error.
  private static let reserve = 1 << 20
  private static let pageSize = sysconf(Int32(_SC_PAGESIZE))

  /// Held while memory is requested. Otherwise, another thread could take the memory that was found to be free for an
  /// array before the array is allocated.
  private static let requests = Mutex(())

  /// Throws `outOfMemory` if the system would refuse to allocate `byteCount` bytes now.
  ///
  /// Call this method before an array grows, because the process is aborted if an array cannot grow. Only sizes of at
  /// least 1 MiB are checked, and another thread may take the memory after the check. With ``allocating(_:_:)``, no
  /// thread of this library can.
  package static func require(_ byteCount: Int) throws(AnimatedImageError) {
    if byteCount >= 1 << 20 { try allocating(byteCount) {} }
  }

  /// Calls `body`, which allocates an array of `byteCount` bytes, or throws `outOfMemory` if the system would refuse
  /// that many bytes now.
  ///
  /// All other requests for large blocks and arrays wait until `body` has returned, so it should do nothing else. Sizes
  /// below 64 KiB are not checked.
  package static func allocating(
    _ byteCount: Int, _ body: () -> Void
  ) throws(AnimatedImageError) {
    guard byteCount >= 1 << 16 else { return body() }
    try requests.withLock { (_) throws(AnimatedImageError) in
      guard let address = map(byteCount) else { throw AnimatedImageError.noMemory(byteCount) }
      unsafe munmap(UnsafeMutableRawPointer(bitPattern: address), byteCount)
      body()
    }
  }

  /// Maps a block of `byteCount` bytes, all of which are zero, and returns its address. Returns nil if the system
  /// refuses. The caller holds ``requests``.
  private static func map(_ byteCount: Int) -> UInt? {
    guard byteCount <= Int.max - 2 * reserve else { return nil }
    let kept = (byteCount + pageSize - 1) / pageSize * pageSize
    func attempt() -> UInt? {
      let block = unsafe mmap(
        nil, kept + reserve, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      guard let block = unsafe block, UInt(bitPattern: block) != UInt.max else { return nil }
      return UInt(bitPattern: block)
    }
    var address = attempt()
    // The waiting blocks only save time, so they must not be the reason for a refusal.
    if address == nil, state.withLock({ $0.waitingByteCount >= byteCount }) {
      freeWaiting()
      address = attempt()
    }
    guard let address else { return nil }
    unsafe munmap(UnsafeMutableRawPointer(bitPattern: address + UInt(kept)), reserve)
    return address
  }

  /// Returns a block of `byteCount` bytes, the stamp of the picture in the block, and in `isZeroed` whether all bytes
  /// of the block are zero. Returns nil if allocation fails.
  ///
  /// - Parameter canvas: The number of the canvas that needs the block, or 0 for other uses. A block with a picture of
  ///   this canvas is preferred, newest picture first. From this call until ``release(_:)``, freed blocks with pictures
  ///   of the canvas are kept for the canvas.
  static func take(
    _ byteCount: Int, of canvas: UInt64 = 0
  ) -> (block: UnsafeMutableRawPointer, isZeroed: Bool, stamp: PictureStamp)? {
    let taken = state.withLock { state in
      if canvas != 0 { state.canvases.insert(canvas) }
      return state.place(byteCount, of: canvas).map { state.waiting.remove(at: $0) }
    }
    if let taken, let block = unsafe UnsafeMutableRawPointer(bitPattern: taken.address) {
      return unsafe (block, false, taken.stamp)
    }
    guard let address = requests.withLock({ _ in map(byteCount) }),
      let block = unsafe UnsafeMutableRawPointer(bitPattern: address)
    else { return nil }
    state.withLock { $0.count(1, byteCount) }
    return unsafe (block, true, PictureStamp())
  }

  /// Takes a block back from its owner.
  static func give(
    _ block: UnsafeMutableRawPointer, _ byteCount: Int, holding stamp: PictureStamp
  ) {
    let address = UInt(bitPattern: block)
    let surplus = state.withLock { state in
      let isAwaited = stamp.canvas != 0 && state.canvases.contains(stamp.canvas)
      let new = Waiting(
        address: address, byteCount: byteCount, stamp: isAwaited ? stamp : PictureStamp())
      state.waiting.append(new)
      return state.surplus(after: new)
    }
    free(surplus)
  }

  /// Stops keeping blocks for `canvas`, which has been released or is idle.
  package static func release(_ canvas: UInt64) {
    let surplus = state.withLock { state -> [Waiting] in
      guard state.canvases.remove(canvas) != nil else { return [] }
      let released = state.waiting.filter { $0.stamp.canvas == canvas }
      state.waiting.removeAll { $0.stamp.canvas == canvas }
      return released.flatMap { block in
        let block = Waiting(
          address: block.address, byteCount: block.byteCount, stamp: PictureStamp())
        state.waiting.append(block)
        return state.surplus(after: block)
      }
    }
    free(surplus)
  }

  /// Limits the bytes of the blocks kept for canvases to `byteCount`, or to 128 MiB if that is less, and frees the
  /// oldest blocks in excess of the limit.
  package static func limitCanvasBytes(to byteCount: Int) {
    let limit = min(byteCount, 1 << 27)
    // Return early: this method is called for every stored frame, usually with the same limit.
    guard maximumCanvasBytes.exchange(limit, ordering: .relaxed) > limit else { return }
    freeWaiting(downTo: limit) { $0.canvas != 0 }
  }

  /// Frees all waiting blocks.
  package static func freeWaiting() { freeWaiting(downTo: 0) { _ in true } }

  private static func freeWaiting(
    downTo limit: Int, where condition: (PictureStamp) -> Bool
  ) {
    let surplus = state.withLock { state in
      var bytes = state.waiting.reduce(0) { $0 + (condition($1.stamp) ? $1.byteCount : 0) }
      var surplus: [Waiting] = []
      while bytes > limit, let oldest = state.waiting.firstIndex(where: { condition($0.stamp) }) {
        let block = state.waiting.remove(at: oldest)
        bytes -= block.byteCount
        state.count(-1, block.byteCount)
        surplus.append(block)
      }
      return surplus
    }
    free(surplus)
  }

  private static func free(_ blocks: [Waiting]) {
    for block in blocks {
      unsafe munmap(UnsafeMutableRawPointer(bitPattern: block.address), block.byteCount)
    }
  }
}

extension [UInt8] {
  /// Creates an array of `byteCount` zeros.
  ///
  /// - Throws: `outOfMemory` if allocation fails.
  package init(asking byteCount: Int) throws(AnimatedImageError) {
    var zeros: [UInt8] = []
    try PixelMemory.allocating(byteCount) { zeros = [UInt8](repeating: 0, count: byteCount) }
    self = zeros
  }

  /// If the array has fewer than `count` bytes, replaces it with an array of `byteCount` zeros. The old contents are
  /// then lost.
  ///
  /// - Throws: `outOfMemory` if allocation fails.
  package mutating func makeRoom(for count: Int, taking byteCount: Int) throws(AnimatedImageError) {
    guard self.count < count else { return }
    // Free the old array first: the memory budget does not cover both arrays at the same time.
    self = []
    self = try [UInt8](asking: byteCount)
  }

  /// Makes room for `count` more bytes. Like appending, this at least doubles the capacity if it has to change.
  ///
  /// - Throws: `outOfMemory` if allocation fails.
  package mutating func makeRoom(adding count: Int) throws(AnimatedImageError) {
    guard count > capacity - self.count else { return }
    let room = Swift.max(self.count + count, 2 * capacity)
    try PixelMemory.allocating(room) { reserveCapacity(room) }
  }
}

extension AnimatedImageError {
  /// Returns the error for an allocation of `byteCount` bytes that the limits allow but the system refused.
  static func noMemory(_ byteCount: Int) -> AnimatedImageError {
    AnimatedImageError(.outOfMemory, "the system cannot allocate \(byteCount) bytes of memory")
  }
}
