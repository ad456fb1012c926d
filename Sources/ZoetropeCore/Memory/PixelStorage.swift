internal import Glibc
internal import Synchronization

// Memory for pixels, and its allocation.
//
// Unsafe: blocks are addresses and sizes from the allocator or `mmap`. Each belongs to one
// `PixelStorage` from `init` to `deinit`, or waits in `PixelMemory`; every read or write in this
// file is bounds-checked.

/// A block of memory aligned to 64 bytes, zeroed on creation and freed with its last owner; or a
/// part of a read-only mapping, lent for the lifetime of this object.
///
/// The block is `byteCount` bytes long and lives exactly as long as this object, which every access
/// below borrows.
@safe
package final class PixelStorage: @unchecked Sendable {
  // Sendable: written only by its sole owner (a `PixelBuffer`, the holder of a `FramePixels`, a
  // scratch block of a decoder or scaler) or by a `Canvas` with the only reference; once shared, it
  // is only read. A lent block is never written: `Canvas`, the only type that takes over blocks it
  // did not create, checks `isWritable` first, and the pages are mapped without write permission.
  @usableFromInline let base: UnsafeMutableRawPointer
  /// Bytes in the block.
  package let byteCount: Int
  private let origin: Origin
  /// Keeps a lent block alive.
  private let lender: (any AnyObject & Sendable)?

  private enum Origin { case allocator, pixelMemory, lent }

  /// Whether a sole owner may change the bytes.
  package var isWritable: Bool { origin != .lent }

  /// Which picture the block holds. Atomic, because a canvas writes it while bitmaps share the block.
  private let stampWord = Atomic<UInt64>(0)

  package var stamp: PictureStamp {
    get { PictureStamp(word: stampWord.load(ordering: .relaxed)) }
    set {
      // Usually equal already; a mere read leaves the cache line shared.
      if newValue != stamp { stampWord.store(newValue.word, ordering: .relaxed) }
    }
  }

  /// Allocates `byteCount` bytes (at least 64), zeroed by default.
  ///
  /// For blocks whose size no file decides: the process ends if allocation fails.
  package convenience init(byteCount: Int, zeroed: Bool = true) {
    do {
      try self.init(asking: byteCount, zeroed: zeroed)
    } catch {
      fatalError("\(error)")
    }
  }

  /// Like ``init(byteCount:zeroed:)``, for sizes that come from a file.
  ///
  /// - Throws: `outOfMemory` if a large allocation fails; a failed small one ends the process,
  ///   like any other small allocation.
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

  /// A block for a picture of `size`, of at least `byteCount` bytes.
  ///
  /// If not `zeroed`, every pixel must be drawn; the bytes between the rows are zero anyway.
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

  /// A read-only block owned by `lender`.
  ///
  /// - Precondition: `bytes` are aligned to 64 and stay in place while `lender` lives.
  @unsafe package init(lent bytes: UnsafeRawBufferPointer, by lender: any AnyObject & Sendable) {
    guard let start = bytes.baseAddress, UInt(bitPattern: start) % 64 == 0 else {
      preconditionFailure("a lent block that is not aligned")
    }
    unsafe base = UnsafeMutableRawPointer(mutating: start)
    byteCount = bytes.count
    origin = .lent
    self.lender = lender
  }

  /// A block of `byteCount` bytes with unspecified contents for the next picture of a canvas, and
  /// the stamp of the picture in it. Prefers a block that holds an earlier picture of the canvas.
  ///
  /// - Throws: As ``init(asking:zeroed:)``.
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
    // Some loops over rows read it in every turn.
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
/// Playback allocates and frees one canvas per frame. The system's allocator either returns the pages each
/// time, so that every frame pays for hundreds of page faults (measured: as long as decoding a 640×360 GIF
/// frame), or keeps about twenty canvases. This pool keeps a few freed blocks for the next frames and returns
/// the rest to the system immediately. A pooled block keeps its old picture, which its canvas may build on.
///
/// Unsafe code: a block is `byteCount` bytes of `mmap`, handed out to one owner at a time; it is
/// either in the list below or owned, never both.
package enum PixelMemory {
  /// Smaller blocks come from the system's allocator.
  ///
  /// So do all blocks under the address sanitizer, which watches only the allocator's.
  #if SANITIZE_ADDRESS
    static let minimumByteCount = Int.max
  #else
    static let minimumByteCount = 1 << 16
  #endif
  /// Bounds on the pooled blocks of one size and on the bytes of all pooled blocks: enough for the
  /// frames decoded ahead, which the next animation of that size reuses.
  private static let maximumCountOfSize = 4
  private static let maximumBytes = 1 << 25
  /// Bounds on the blocks that wait with pictures of one canvas, and on the bytes of all such blocks: a
  /// consumer that falls behind frees several frames in a row. A canvas that finds none pays for new pages and
  /// a copy of itself with every frame.
  private static let maximumCountOfCanvas = 5
  private static let maximumCanvasBytes = Atomic(1 << 26)

  private struct Waiting {
    var address: UInt
    var byteCount: Int
    /// Identifies no picture unless its canvas is drawn on.
    var stamp: PictureStamp
  }

  private struct State {
    /// Oldest first.
    var waiting: [Waiting] = []
    /// The number of blocks of each size, owned and waiting.
    var counts: [Int: Int] = [:]
    /// The canvases that are drawn on, whose blocks wait for them.
    var canvases: Set<UInt64> = []

    /// The waiting block to use: the newest picture of `canvas`, else the block that was freed last. A canvas
    /// does not use blocks that wait for another one: the two would keep taking them from each other.
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

    /// Removes the oldest blocks until `block`, which has just been appended, is within the bounds.
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
        // However large a canvas is, one block waits for it.
        if canvas != 0, oldest == waiting.count - 1 { break }
        bytes -= waiting[oldest].byteCount
        surplus.append(waiting.remove(at: oldest))
      }
      for block in surplus { count(-1, block.byteCount) }
      return surplus
    }
  }

  private static let state = Mutex(State())

  /// `byteCount` rounded up by at most a quarter, to four sizes per power of two.
  ///
  /// With a thousand sizes, each a little larger than the last, the allocator kept twice the
  /// memory, and here each block would wait for another frame of exactly its size.
  package static func rounded(_ byteCount: Int) -> Int {
    let step = 1 << max(Int.bitWidth - byteCount.leadingZeroBitCount - 3, 6)
    return (byteCount + step - 1) & ~(step - 1)
  }

  /// The number of blocks of `byteCount` bytes, owned and waiting.
  package static func blockCount(of byteCount: Int) -> Int {
    state.withLock { $0.counts[byteCount, default: 0] }
  }

  /// Throws `outOfMemory` if the system would refuse `byteCount` bytes now.
  ///
  /// For arrays, which abort the process if they cannot grow. Only checks large sizes, and holds
  /// only for this moment.
  package static func require(_ byteCount: Int) throws(AnimatedImageError) {
    guard byteCount >= 1 << 20 else { return }
    let block = unsafe mmap(
      nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let block = unsafe block, UInt(bitPattern: block) != UInt.max else {
      throw .noMemory(byteCount)
    }
    unsafe munmap(block, byteCount)
  }

  /// A block, whether all its bytes are zero, and the picture in it; nil if allocation fails.
  ///
  /// - Parameter canvas: The canvas whose pictures are preferred, newest first. From now on its blocks wait
  ///   for it, until ``release(_:)``.
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

  /// Bounds the bytes of blocks that wait for canvases, by at most 128 MiB, and frees the oldest beyond.
  package static func limitCanvasBytes(to byteCount: Int) {
    let limit = min(byteCount, 1 << 27)
    // Called for every stored frame, which is rarely new.
    guard maximumCanvasBytes.exchange(limit, ordering: .relaxed) > limit else { return }
    freeWaiting(downTo: limit) { $0.canvas != 0 }
  }

  /// Frees all blocks that wait to be used again.
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
  /// Makes the array at least `count` bytes long by replacing it with one of `byteCount`; the
  /// contents are lost.
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
  /// The system refused `byteCount` bytes that the limits allow.
  static func noMemory(_ byteCount: Int) -> AnimatedImageError {
    AnimatedImageError(.outOfMemory, "the system cannot allocate \(byteCount) bytes of memory")
  }
}
