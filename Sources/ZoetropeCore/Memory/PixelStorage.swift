internal import Glibc
internal import Synchronization

// Memory for pixels, and where it comes from.
//
// Unsafe: blocks are addresses and sizes of the allocator or of `mmap`. Each belongs to one `PixelStorage`
// from `init` to `deinit`, or waits in `PixelMemory`; what reads or writes one here checks its bounds.

/// A block of memory aligned to 64 bytes, zeroed when made, freed with its last owner; or a part of a
/// read-only mapping, lent for as long as this object lives.
///
/// The block is `byteCount` bytes long and lives exactly as long as this object, which every access below
/// borrows.
@safe
package final class PixelStorage: @unchecked Sendable {
  // Sendable: written only by its one owner (a `PixelBuffer`, whoever holds a `FramePixels`, a scratch
  // block of a decoder or scaler) or by a `Canvas` with the sole reference; shared, it is only read.
  // A lent block is never written: `Canvas`, the one place that takes over a block it did not make, asks
  // `isWritable` first, and the pages are mapped without write permission.
  @usableFromInline let base: UnsafeMutableRawPointer
  /// Bytes in the block.
  package let byteCount: Int
  private let origin: Origin
  /// Keeps a lent block where it is.
  private let lender: (any AnyObject & Sendable)?

  private enum Origin { case allocator, pixelMemory, lent }

  /// Whether the bytes may be changed by a sole owner.
  package var isWritable: Bool { origin != .lent }

  /// Which picture the block holds. Atomic, since a canvas writes it while bitmaps share the block.
  private let stampWord = Atomic<UInt64>(0)

  package var stamp: PictureStamp {
    get { PictureStamp(word: stampWord.load(ordering: .relaxed)) }
    set {
      // Mostly it is there already, and reading leaves the cache line to other readers.
      if newValue != stamp { stampWord.store(newValue.word, ordering: .relaxed) }
    }
  }

  /// Allocates `byteCount` bytes (at least 64); zeroes them unless told not to.
  ///
  /// For blocks whose size no file decides: without memory the process ends.
  package convenience init(byteCount: Int, zeroed: Bool = true) {
    do {
      try self.init(asking: byteCount, zeroed: zeroed)
    } catch {
      fatalError("\(error)")
    }
  }

  /// As ``init(byteCount:zeroed:)``, for sizes that a file asks for.
  ///
  /// - Throws: `limitExceeded` when the system has no memory for a large block; a small one ends the
  ///   process, as every other small allocation does.
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

  private init(
    byteCount: Int, taken: (block: UnsafeMutableRawPointer, isZeroed: Bool, stamp: PictureStamp)
  ) {
    self.byteCount = byteCount
    unsafe base = taken.block
    origin = .pixelMemory
    lender = nil
  }

  /// A block that `lender` owns; it is only read.
  ///
  /// - Precondition: `bytes` are aligned to 64 and stay in place while `lender` lives.
  @unsafe init(lent bytes: UnsafeRawBufferPointer, by lender: any AnyObject & Sendable) {
    guard let start = bytes.baseAddress, UInt(bitPattern: start) % 64 == 0 else {
      preconditionFailure("a lent block that is not aligned")
    }
    unsafe base = UnsafeMutableRawPointer(mutating: start)
    byteCount = bytes.count
    origin = .lent
    self.lender = lender
  }

  /// A block of `byteCount` bytes with anything in it, for the next picture of a canvas; if there is
  /// one that holds an earlier picture, that one, and which picture that is.
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
  /// The block may have held another picture, and `Bitmap.bytes` hands these bytes out as well.
  package func clearPadding(of size: PixelSize, format: PixelFormat) {
    let bytesPerRow = format.bytesPerRow(width: size.width)
    let drawn = size.width * format.bytesPerPixel
    guard drawn >= 0, drawn < bytesPerRow, size.height > 0 else { return }
    precondition(byteCount >= bytesPerRow * size.height)
    for y in 0..<size.height {
      unsafe memset(base + y * bytesPerRow + drawn, 0, bytesPerRow - drawn)
    }
  }

  /// Copies `bytes` to `offset`; for the block's one owner.
  package func store(_ bytes: borrowing RawSpan, at offset: Int = 0) {
    precondition(offset >= 0 && bytes.byteCount <= byteCount - offset)
    unsafe bytes.withUnsafeBytes { source in
      guard let from = source.baseAddress else { return }
      unsafe (base + offset).copyMemory(from: from, byteCount: source.count)
    }
  }

  /// The address of the first byte; valid while this object lives.
  @inlinable @unsafe package var baseAddress: UnsafeMutableRawPointer { unsafe base }
}

extension PixelBuffer {
  /// The bytes for writing, row after row, `bytesPerRow` apart.
  package var mutableBytes: MutableRawSpan {
    @_lifetime(&self)
    mutating get {
      let span = unsafe MutableRawSpan(
        _unsafeStart: storage.baseAddress, byteCount: storage.byteCount)
      return unsafe _overrideLifetime(span, mutating: &self)
    }
  }

  /// The address of the first byte; valid while this buffer, or the bitmap made of it, lives.
  @unsafe package var baseAddress: UnsafeMutableRawPointer { unsafe storage.baseAddress }
}

/// Where large blocks of pixels come from and go to.
///
/// Playing makes and drops one canvas for each frame. The system's allocator either gives its pages
/// back each time, and every frame pays for hundreds of page faults (measured: as long as decoding a
/// 640×360 GIF frame takes), or keeps some twenty canvases for itself. Here a few dropped blocks wait
/// for the next frame, and everything past that goes back to the system at once. A waiting block keeps
/// the picture that it held, which the canvas it is of may build on.
///
/// Unsafe code: a block is `byteCount` bytes of `mmap`, handed out to one owner at a time; it is
/// either in the list below or owned, never both.
package enum PixelMemory {
  /// Blocks below this are the allocator's.
  ///
  /// All of them are under the address sanitizer, which watches the allocator's blocks only.
  #if SANITIZE_ADDRESS
    static let minimumByteCount = Int.max
  #else
    static let minimumByteCount = 1 << 16
  #endif
  /// Waiting blocks of one size, and bytes of all waiting blocks, at most: those of frames decoded ahead,
  /// which the next animation of that size takes up.
  private static let maximumCountOfSize = 4
  /// As many pictures of canvases: a player decodes two frames in one go and then lets two go.
  private static let maximumPictureCountOfSize = 3
  private static let maximumBytes = 1 << 25

  private struct Waiting {
    var address: UInt
    var byteCount: Int
    var stamp: PictureStamp
  }

  private struct State {
    /// Oldest first.
    var waiting: [Waiting] = []
    /// All blocks of each size, owned and waiting.
    var counts: [Int: Int] = [:]

    /// The waiting block to use: the newest picture of `canvas`, else the one given back last.
    func place(_ byteCount: Int, of canvas: UInt64) -> Int? {
      var newest: Int?
      for (place, block) in waiting.enumerated()
      where block.byteCount == byteCount && canvas != 0 && block.stamp.canvas == canvas {
        if newest.map({ waiting[$0].stamp.version < block.stamp.version }) ?? true {
          newest = place
        }
      }
      return newest ?? waiting.lastIndex { $0.byteCount == byteCount }
    }

    mutating func count(_ change: Int, _ byteCount: Int) {
      let count = counts[byteCount, default: 0] + change
      counts[byteCount] = count == 0 ? nil : count
    }
  }

  private static let state = Mutex(State())

  /// `byteCount` rounded up by at most a quarter, to four sizes for each doubling.
  ///
  /// Blocks of a thousand sizes, each a little larger than the one that was freed, left the allocator
  /// with twice the memory, and would each wait here for another frame of just that size.
  package static func rounded(_ byteCount: Int) -> Int {
    let step = 1 << max(Int.bitWidth - byteCount.leadingZeroBitCount - 3, 6)
    return (byteCount + step - 1) & ~(step - 1)
  }

  /// How many blocks of `byteCount` there are, owned ones and those that wait.
  package static func blockCount(of byteCount: Int) -> Int {
    state.withLock { $0.counts[byteCount, default: 0] }
  }

  /// Throws `limitExceeded` when the system would refuse `byteCount` bytes now.
  ///
  /// For arrays: one that cannot grow ends the process, without a word. Only asked for large ones, and
  /// a promise for this moment only.
  package static func require(_ byteCount: Int) throws(AnimatedImageError) {
    guard byteCount >= 1 << 20 else { return }
    let block = unsafe mmap(
      nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let block = unsafe block, UInt(bitPattern: block) != UInt.max else {
      throw .noMemory(byteCount)
    }
    unsafe munmap(block, byteCount)
  }

  /// A block, whether all its bytes are zero, and the picture in it; nil when the system has no memory.
  ///
  /// - Parameter canvas: Whose pictures are preferred, the newest first.
  static func take(
    _ byteCount: Int, of canvas: UInt64 = 0
  ) -> (block: UnsafeMutableRawPointer, isZeroed: Bool, stamp: PictureStamp)? {
    let taken = state.withLock { state in
      state.place(byteCount, of: canvas).map { state.waiting.remove(at: $0) }
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
    let new = Waiting(address: UInt(bitPattern: block), byteCount: byteCount, stamp: stamp)
    let maximum = stamp.canvas == 0 ? maximumCountOfSize : maximumPictureCountOfSize
    let surplus = state.withLock { state in
      var surplus: [Waiting] = []
      state.waiting.append(new)
      if state.waiting.count(where: { $0.byteCount == byteCount }) > maximum,
        let oldest = state.waiting.firstIndex(where: { $0.byteCount == byteCount })
      {
        surplus.append(state.waiting.remove(at: oldest))
      }
      while state.waiting.reduce(0, { $0 + $1.byteCount }) > maximumBytes {
        surplus.append(state.waiting.removeFirst())
      }
      for block in surplus { state.count(-1, block.byteCount) }
      return surplus
    }
    for block in surplus {
      unsafe munmap(UnsafeMutableRawPointer(bitPattern: block.address), block.byteCount)
    }
  }
}

extension [UInt8] {
  /// Makes the array at least `count` bytes long, by a new one of `byteCount`; what was there is lost.
  ///
  /// - Throws: `limitExceeded` if allocation fails.
  package mutating func makeRoom(for count: Int, taking byteCount: Int) throws(AnimatedImageError) {
    guard self.count < count else { return }
    // The old one goes first: two at once would be more than anybody counted with.
    self = []
    try PixelMemory.require(byteCount)
    self = [UInt8](repeating: 0, count: byteCount)
  }
}

extension AnimatedImageError {
  /// The system refused `byteCount` bytes that the limits allow.
  static func noMemory(_ byteCount: Int) -> AnimatedImageError {
    AnimatedImageError(.limitExceeded, "the system has no \(byteCount) bytes of memory left")
  }
}

/// Says which picture of which canvas a block of pixels holds; the default says nothing.
///
/// One word, so that it can be kept in an atomic beside the block.
package struct PictureStamp: Sendable, Hashable {
  private static let canvasCount = Atomic<UInt64>(0)
  private static let versionBits: UInt64 = 24
  private static let versionMask: UInt64 = 1 << versionBits - 1

  package let word: UInt64

  package init(word: UInt64 = 0) { self.word = word }

  /// The first picture of a canvas that no other stamp names.
  package static func newCanvas() -> PictureStamp {
    let number = canvasCount.add(1, ordering: .relaxed).newValue
    return PictureStamp(word: number << versionBits)
  }

  /// The canvas; 0 for the stamp that says nothing.
  package var canvas: UInt64 { word >> Self.versionBits }

  /// Which of the canvas's pictures, in the order in which they were handed out.
  package var version: Int { Int(word & Self.versionMask) }

  /// The stamp of the canvas's next picture; nil when its numbers are used up.
  package var next: PictureStamp? {
    word & Self.versionMask == Self.versionMask ? nil : PictureStamp(word: word + 1)
  }
}
