/// The colours of a GIF frame, of both its changed and its unchanged pixels.
package struct FrameColors {
  /// The distinct colours, as `RGBA.word`, in the order of their first appearance.
  private(set) var words: [UInt32] = []
  /// For each colour in ``words``, whether a changed pixel has it.
  private(set) var isRequired: [Bool] = []
  /// For each pixel, the index of its colour in ``words``, or ``idMask`` if the colour is not in ``words``.
  /// Unchanged and transparent pixels also have the flag ``isUnchanged``.
  private(set) var ids: [UInt16] = []
  /// Whether some pixels are unchanged.
  private(set) var hasUnchanged = false
  /// Whether some pixels of the picture are transparent. The frame cannot draw these pixels.
  private(set) var needsTransparency = false
  /// Whether some unchanged pixels have colours that are not in ``words``. Once ``words`` has 1,024 entries, the
  /// colours of unchanged pixels are no longer added.
  private(set) var isIncomplete = false

  static let idMask: UInt16 = 0x7fff
  static let isUnchanged: UInt16 = 0x8000

  /// A hash table of ``words``. A slot contains `(1 << 32 | color) << 16 | index`, or 0 if it is free.
  private var slots = [UInt64](repeating: 0, count: 1 << slotBits)
  private static let slotBits = 12
  private static let limit = 1024

  package init() {}

  /// Returns the colours of the changed pixels, or nil if there are more than 256 of these colours or a pixel is partly
  /// transparent.
  ///
  /// - Throws: `outOfMemory`; `cancelled` once `isCancelled` returns true.
  package mutating func required(
    by work: FrameWork, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> [UInt32]? {
    do throws(AnimatedImageError) {
      try collect(work, isCancelled: isCancelled)
    } catch {
      guard error.code == .unwritable else { throw error }
      return nil
    }
    return words.indices.filter { isRequired[$0] }.map { words[$0] }
  }

  /// Collects the colours of a frame.
  ///
  /// - Parameter isCancelled: A function that is polled a few times per million pixels.
  /// - Throws: `unwritable` if the changed pixels have more than 256 colours, or if a pixel of the picture is partly
  ///   transparent; `outOfMemory`; `cancelled` once `isCancelled` returns true.
  mutating func collect(
    _ work: FrameWork, isCancelled: () -> Bool = { false }
  ) throws(AnimatedImageError) {
    try reset(work.rect.size.area, isCancelled)
    let (rect, hasBase) = (work.rect, work.base != nil)
    let (picture, base) = (work.picture, work.base ?? work.picture)
    // For each colour, whether a changed pixel has it: 1 or 0, because setting it without a branch is faster.
    var required = [UInt8](repeating: 0, count: Self.limit + 256)
    var flags: UInt16 = 0
    // The compiler optimises accesses to local variables better than accesses to properties.
    var ids = self.ids
    self.ids = []
    defer { self.ids = ids }
    for y in rect.y..<rect.maxY {
      try rect.poll(row: y, isCancelled)
      let (row, below) = (picture.row(y), base.row(y))
      let end = rect.maxX
      var target = ids.mutableSpan
      let start = (y - rect.y) * rect.width - rect.x
      for x in rect.x..<end {
        let word = row.load(UInt32.self, at: x &* 4)
        guard word &>> 24 == 255 else {
          guard word &>> 24 == 0 else { throw GIFAnimationEncoder.partialAlpha }
          needsTransparency = true
          target[start &+ x] = Self.idMask | Self.isUnchanged
          continue
        }
        let stays = hasBase && below.load(UInt32.self, at: x &* 4) == word
        let flag = stays ? Self.isUnchanged : 0
        flags |= flag
        let entry = slots[Self.slot(word)]
        var id = UInt16(truncatingIfNeeded: entry)
        if entry &>> 16 != 1 &<< 32 | UInt64(word) {
          id = number(of: word)
          if id == Self.idMask, !stays {
            guard words.count < required.count else { throw GIFFrameEncoder.tooManyColors }
            id = add(word)
          }
        }
        target[start &+ x] = id | flag
        if id == Self.idMask {
          isIncomplete = true
        } else {
          required[Int(id)] |= UInt8(truncatingIfNeeded: ~flag &>> 15)
        }
      }
    }
    guard required.count(where: { $0 != 0 }) <= 256 else { throw GIFFrameEncoder.tooManyColors }
    hasUnchanged = flags != 0
    isRequired = required.prefix(words.count).map { $0 != 0 }
  }

  private mutating func reset(
    _ area: Int, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) {
    for word in words {
      var slot = Self.slot(word)
      while slots[slot] != 0 {
        slots[slot] = 0
        slot = (slot + 1) & (slots.count - 1)
      }
    }
    words.removeAll(keepingCapacity: true)
    (needsTransparency, isIncomplete) = (false, false)
    if ids.count > area { ids.removeLast(ids.count - area) }
    if ids.capacity < area {
      ids = []
      try PixelMemory.allocating(2 * area) { ids.reserveCapacity(area) }
    }
    while ids.count < area {
      try GIFFrameSearch.check(isCancelled)
      ids.append(contentsOf: repeatElement(0, count: min(PixelRect.pollArea, area - ids.count)))
    }
  }

  private static func slot(_ word: UInt32) -> Int {
    Int((word &* 0x9e37_79b1) &>> UInt32(32 - slotBits))
  }

  /// Returns the index of a colour in ``words``, and adds the colour if necessary. Returns ``idMask`` if the colour is
  /// new and there is no room for it.
  private mutating func number(of word: UInt32) -> UInt16 {
    var slot = Self.slot(word)
    let key = 1 &<< 32 | UInt64(word)
    while true {
      let entry = slots[slot]
      if entry &>> 16 == key { return UInt16(truncatingIfNeeded: entry) }
      if entry == 0 { break }
      slot = (slot &+ 1) & (slots.count &- 1)
    }
    return words.count < Self.limit ? add(word) : Self.idMask
  }

  /// Adds a colour to ``words`` and returns its index. At most 256 colours are added beyond ``limit``, so the hash
  /// table is never full.
  private mutating func add(_ word: UInt32) -> UInt16 {
    var slot = Self.slot(word)
    while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
    let id = UInt16(words.count)
    slots[slot] = (1 << 32 | UInt64(word)) << 16 | UInt64(id)
    words.append(word)
    return id
  }
}
