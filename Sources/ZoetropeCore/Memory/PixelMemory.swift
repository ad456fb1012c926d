internal import Glibc
internal import Synchronization

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
  /// - Throws: `limitExceeded` when the system has no memory for it.
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
