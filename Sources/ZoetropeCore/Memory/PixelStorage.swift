internal import Glibc
internal import Synchronization

// Memory for pixels, and its allocation.
//
// Unsafe: a block is an address and a size from the allocator or `mmap`. Each block either belongs
// to one `PixelStorage` from `init` to `deinit` or waits in `PixelMemory`. Every read or write in
// this file is bounds-checked.

/// A block of memory aligned to 64 bytes: either one that is zeroed on creation and freed with its
/// last owner, or part of a read-only mapping, borrowed for the lifetime of this object.
///
/// The block is `byteCount` bytes long and lives exactly as long as this object. Every access below
/// borrows the object.
@safe
package final class PixelStorage: @unchecked Sendable {
  // Sendable: written only by its sole owner (a `PixelBuffer`, the holder of a `FramePixels`, a
  // scratch block of a decoder or scaler) or by a `Canvas` with the only reference; once shared, it
  // is only read. A borrowed block is never written: `Canvas`, the only type that takes over blocks
  // it did not create, checks `isWritable` first, and the pages are mapped without write
  // permission.
  @usableFromInline let base: UnsafeMutableRawPointer
  /// The size of the block in bytes.
  package let byteCount: Int
  private let origin: Origin
  /// The owner of a borrowed block, retained to keep the block alive.
  private let lender: (any AnyObject & Sendable)?

  private enum Origin { case allocator, pixelMemory, lent }

  /// Whether a sole owner may change the bytes. False for a borrowed block.
  package var isWritable: Bool { origin != .lent }

  /// The stamp of the picture in the block. Atomic, because a canvas writes it while bitmaps share the block.
  private let stampWord = Atomic<UInt64>(0)

  package var stamp: PictureStamp {
    get { PictureStamp(word: stampWord.load(ordering: .relaxed)) }
    set {
      // Usually equal already. Checking first leaves the cache line shared.
      if newValue != stamp { stampWord.store(newValue.word, ordering: .relaxed) }
    }
  }

  /// Allocates `byteCount` bytes (at least 64), zeroed by default.
  ///
  /// The process ends if allocation fails. Use it only for sizes that do not come from a file.
  package convenience init(byteCount: Int, zeroed: Bool = true) {
    do {
      try self.init(asking: byteCount, zeroed: zeroed)
    } catch {
      fatalError("\(error)")
    }
  }

  /// Like ``init(byteCount:zeroed:)``, for sizes that come from a file.
  ///
  /// - Throws: `outOfMemory` if a large allocation fails. If a small one fails, the process ends,
  ///   as for any small allocation in Swift.
  package init(asking byteCount: Int, zeroed: Bool = true) throws(AnimatedImageError) {
    let count = max(byteCount, 64)
    self.byteCount = count
    lender = nil
    origin = count >= PixelMemory.minimumByteCount ? .pixelMemory : .allocator
    if origin == .pixelMemory {
      guard let taken = unsafe PixelMemory.take(count) else { throw .noMemory(count) }
      unsafe base = taken.block
      if unsafe taken.isZeroed || !zeroed { return }
    } else {
      unsafe base = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 64)
    }
    if zeroed { unsafe base.initializeMemory(as: UInt8.self, repeating: 0, count: count) }
  }

  /// Allocates a block of at least `byteCount` bytes for a picture of `size`.
  ///
  /// If `zeroed` is false, the caller must draw every pixel. The bytes between the rows are always zero.
  package convenience init(
    asking byteCount: Int, for size: PixelSize, _ format: PixelFormat, zeroed: Bool
  ) throws(AnimatedImageError) {
    try self.init(asking: byteCount, zeroed: zeroed)
    if !zeroed { unsafe clearPadding(of: size, format: format) }
  }

  private init(
    byteCount: Int, taken: (block: UnsafeMutableRawPointer, isZeroed: Bool, stamp: PictureStamp)
  ) {
    self.byteCount = byteCount
    unsafe base = taken.block
    origin = .pixelMemory
    lender = nil
  }

  /// Creates a read-only view of bytes owned by `lender`.
  ///
  /// - Precondition: `bytes` are aligned to 64 bytes and stay in place while `lender` lives.
  @unsafe package init(lent bytes: UnsafeRawBufferPointer, by lender: any AnyObject & Sendable) {
    guard let start = bytes.baseAddress, UInt(bitPattern: start) % 64 == 0 else {
      preconditionFailure("a lent block that is not aligned")
    }
    unsafe base = UnsafeMutableRawPointer(mutating: start)
    byteCount = bytes.count
    origin = .lent
    self.lender = lender
  }

  /// Returns a block of `byteCount` bytes for the next picture of a canvas, and the stamp of the
  /// picture in it. The contents are unspecified; a block that holds an earlier picture of the
  /// canvas is preferred.
  ///
  /// - Throws: The errors of ``init(asking:zeroed:)``.
  package static func next(
    _ byteCount: Int, of canvas: UInt64
  ) throws(AnimatedImageError) -> (storage: PixelStorage, earlier: PictureStamp) {
    guard byteCount >= PixelMemory.minimumByteCount else {
      return (try PixelStorage(asking: byteCount, zeroed: false), PictureStamp())
    }
    guard let taken = unsafe PixelMemory.take(byteCount, of: canvas) else {
      throw .noMemory(byteCount)
    }
    return unsafe (PixelStorage(byteCount: byteCount, taken: taken), taken.stamp)
  }

  deinit {
    switch origin {
    case .pixelMemory: unsafe PixelMemory.give(base, byteCount, holding: stamp)
    case .allocator: unsafe base.deallocate()
    case .lent: break
    }
  }

  /// The bytes, read-only.
  package var bytes: RawSpan {
    @_lifetime(borrow self)
    borrowing get {
      let span = unsafe RawSpan(_unsafeStart: base, byteCount: byteCount)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// Zeroes the bytes between the rows of a picture of `size` that is about to be drawn here.
  ///
  /// The block may have held another picture, and `Bitmap.bytes` exposes these bytes.
  ///
  /// - Precondition: The caller is the block's sole owner, and no other thread reads it.
  @unsafe package func clearPadding(of size: PixelSize, format: PixelFormat) {
    let bytesPerRow = format.bytesPerRow(width: size.width)
    let drawn = size.width * format.bytesPerPixel
    guard drawn >= 0, drawn < bytesPerRow, size.height > 0 else { return }
    precondition(isWritable && byteCount >= bytesPerRow * size.height)
    for y in 0..<size.height {
      unsafe memset(base + y * bytesPerRow + drawn, 0, bytesPerRow - drawn)
    }
  }

  /// Copies `bytes` to `offset`.
  ///
  /// - Precondition: The caller is the block's sole owner, and no other thread reads it.
  @unsafe package func store(_ bytes: borrowing RawSpan, at offset: Int = 0) {
    precondition(isWritable && offset >= 0 && bytes.byteCount <= byteCount - offset)
    unsafe bytes.withUnsafeBytes { source in
      guard let from = source.baseAddress else { return }
      unsafe (base + offset).copyMemory(from: from, byteCount: source.count)
    }
  }

  /// The address of the first byte; valid while this object lives.
  @inlinable @unsafe package var baseAddress: UnsafeMutableRawPointer {
    // Some loops over rows read it in every iteration.
    @inline(__always) get { unsafe base }
  }
}

extension PixelBuffer {
  /// The bytes for writing, row by row, `bytesPerRow` apart.
  package var mutableBytes: MutableRawSpan {
    @_lifetime(&self)
    mutating get {
      let span = unsafe MutableRawSpan(
        _unsafeStart: storage.baseAddress, byteCount: storage.byteCount)
      return unsafe _overrideLifetime(span, mutating: &self)
    }
  }

  /// Copies `bitmap`, which must have the same size and format.
  package mutating func copy(_ bitmap: Bitmap) {
    precondition(bitmap.size == size && bitmap.format == format)
    unsafe storage.store(bitmap.bytes)
  }

  /// The address of the first byte; valid while this buffer, or the bitmap made from it, exists.
  @unsafe package var baseAddress: UnsafeMutableRawPointer { unsafe storage.baseAddress }
}

/// Allocates and recycles large blocks of pixels.
///
/// Playback allocates and frees one canvas per frame. The system's allocator either returns the pages each time, so
/// that every frame pays for hundreds of page faults (measured: as long as decoding a 640×360 GIF frame), or holds on
/// to about twenty canvases. This pool keeps a few freed blocks for the next frames and returns the rest to the system
/// immediately. A pooled block keeps its old picture, so its canvas can reuse that picture's pixels.
///
/// Unsafe code: a block is `byteCount` bytes from `mmap` with at most one owner. It is either in the list below or
/// owned, never both.
package enum PixelMemory {
  /// The smallest pooled block. Smaller blocks come from the system's allocator.
  ///
  /// Under the address sanitizer all blocks do, because it checks only memory from the allocator.
  #if SANITIZE_ADDRESS
    static let minimumByteCount = Int.max
  #else
    static let minimumByteCount = 1 << 16
  #endif
  /// Bounds on the pooled blocks of one size and on the bytes of all pooled blocks. They are enough
  /// for the frames decoded ahead, whose blocks the next animation of that size reuses.
  private static let maximumCountOfSize = 4
  private static let maximumBytes = 1 << 25
  /// Bounds on the waiting blocks that hold pictures of one canvas, and on the bytes of all such blocks. A consumer
  /// that falls behind frees several frames in a row. A canvas that finds no such block pays for new pages and a full
  /// copy with every frame.
  private static let maximumCountOfCanvas = 5
  private static let maximumCanvasBytes = Atomic(1 << 26)

  private struct Waiting {
    var address: UInt
    var byteCount: Int
    /// Identifies a picture only while its canvas is in use.
    var stamp: PictureStamp
  }

  private struct State {
    /// The waiting blocks, oldest first.
    var waiting: [Waiting] = []
    /// The number of blocks of each size, owned and waiting.
    var counts: [Int: Int] = [:]
    /// The canvases in use, whose freed blocks are kept for them.
    var canvases: Set<UInt64> = []

    /// Returns the index of the waiting block to use: the one with the newest picture of `canvas`, or else the one
    /// freed last. A canvas never uses blocks kept for another canvas, because the two would keep taking them from each
    /// other.
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

    mutating func count(_ change: Int, _ byteCount: Int) {
      let count = counts[byteCount, default: 0] + change
      counts[byteCount] = count == 0 ? nil : count
    }

    /// Removes and returns the oldest blocks until the bounds hold again after `block` was appended.
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
        // Keep one block per canvas, however large.
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
  /// With a thousand sizes, each slightly larger than the last, the allocator kept twice the
  /// memory. In this pool each block would wait for another frame of exactly its size.
  package static func rounded(_ byteCount: Int) -> Int {
    let step = 1 << max(Int.bitWidth - byteCount.leadingZeroBitCount - 3, 6)
    return (byteCount + step - 1) & ~(step - 1)
  }

  /// Returns the number of blocks of `byteCount` bytes, owned and waiting.
  package static func blockCount(of byteCount: Int) -> Int {
    state.withLock { $0.counts[byteCount, default: 0] }
  }

  /// Throws `outOfMemory` if the system would refuse `byteCount` bytes now.
  ///
  /// Called before an array grows, since a failure there aborts the process. Checks only large
  /// sizes, and memory may still run out afterwards.
  package static func require(_ byteCount: Int) throws(AnimatedImageError) {
    guard byteCount >= 1 << 20 else { return }
    let block = unsafe mmap(
      nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let block = unsafe block, UInt(bitPattern: block) != UInt.max else {
      throw .noMemory(byteCount)
    }
    unsafe munmap(block, byteCount)
  }

  /// Returns a block, whether all its bytes are zero, and the stamp of the picture in it, or nil if allocation fails.
  ///
  /// - Parameter canvas: The canvas whose pictures are preferred, newest first. From now until ``release(_:)``, its
  ///   freed blocks are kept for it.
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
    let block = unsafe mmap(
      nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let block = unsafe block, UInt(bitPattern: block) != UInt.max else { return nil }
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

  /// Stops keeping blocks for `canvas`, which was released or is idle.
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

  /// Limits the bytes of blocks kept for canvases to `byteCount`, at most 128 MiB, and frees the oldest ones in excess.
  package static func limitCanvasBytes(to byteCount: Int) {
    let limit = min(byteCount, 1 << 27)
    // Called for every stored frame, usually with the same limit.
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
  /// Replaces the array with one of `byteCount` bytes if it is shorter than `count`. The contents
  /// are lost.
  ///
  /// - Throws: `outOfMemory` if allocation fails.
  package mutating func makeRoom(for count: Int, taking byteCount: Int) throws(AnimatedImageError) {
    guard self.count < count else { return }
    // Free the old array first: the budget does not cover both at once.
    self = []
    try PixelMemory.require(byteCount)
    self = [UInt8](repeating: 0, count: byteCount)
  }
}

extension AnimatedImageError {
  /// Returns the error for an allocation of `byteCount` bytes that the limits allow but the system refused.
  static func noMemory(_ byteCount: Int) -> AnimatedImageError {
    AnimatedImageError(.outOfMemory, "the system cannot allocate \(byteCount) bytes of memory")
  }
}
