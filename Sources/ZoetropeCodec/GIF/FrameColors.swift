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
  package mutating func required(by work: FrameWork) -> [UInt32]? {
    guard (try? collect(work)) != nil else { return nil }
    return words.indices.filter { isRequired[$0] }.map { words[$0] }
  }

  /// Collects the colours of a frame.
  ///
  /// - Throws: `unwritable` if the changed pixels have more than 256 colours, or if a pixel of the picture is partly
  ///   transparent.
  mutating func collect(_ work: FrameWork) throws(AnimatedImageError) {
    reset(work.rect.size.area)
    let (rect, hasBase) = (work.rect, work.base != nil)
    let (picture, base) = (work.picture, work.base ?? work.picture)
    var requiredCount = 0
    // The compiler optimises accesses to a local variable better than accesses to a property.
    var ids = self.ids
    self.ids = []
    defer { self.ids = ids }
    // Neighbouring pixels mostly have equal colours, so the result for the previous pixel is kept.
    var last: (word: UInt64, isUnchanged: Bool, id: UInt16) = (.max, false, 0)
    for y in rect.y..<rect.maxY {
      let (row, below) = (picture.row(y), base.row(y))
      var target = ids.mutableSpan
      let start = (y - rect.y) * rect.width - rect.x
      for x in rect.x..<rect.maxX {
        let word = row.load(UInt32.self, at: x &* 4)
        let stays = hasBase && below.load(UInt32.self, at: x &* 4) == word
        if UInt64(word) == last.word, stays == last.isUnchanged {
          target[start &+ x] = last.id
          continue
        }
        if word &>> 24 != 255 {
          guard word &>> 24 == 0 else { throw GIFAnimationEncoder.partialAlpha }
          needsTransparency = true
          target[start &+ x] = Self.idMask | Self.isUnchanged
          continue
        }
        var id = number(of: word)
        if stays {
          hasUnchanged = true
          id |= Self.isUnchanged
          if id & Self.idMask == Self.idMask { isIncomplete = true }
        } else {
          if id == Self.idMask { id = add(word) }
          if !isRequired[Int(id)] {
            isRequired[Int(id)] = true
            requiredCount += 1
            guard requiredCount <= 256 else { throw GIFFrameEncoder.tooManyColors }
          }
        }
        last = (UInt64(word), stays, id)
        target[start &+ x] = id
      }
    }
  }

  private mutating func reset(_ area: Int) {
    for word in words {
      var slot = Self.slot(word)
      while slots[slot] != 0 {
        slots[slot] = 0
        slot = (slot + 1) & (slots.count - 1)
      }
    }
    words.removeAll(keepingCapacity: true)
    isRequired.removeAll(keepingCapacity: true)
    if ids.count > area {
      ids.removeLast(ids.count - area)
    } else {
      ids.append(contentsOf: repeatElement(0, count: area - ids.count))
    }
    (hasUnchanged, needsTransparency, isIncomplete) = (false, false, false)
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
    isRequired.append(false)
    return id
  }
}
