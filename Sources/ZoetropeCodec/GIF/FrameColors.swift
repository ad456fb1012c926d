/// The colours of a frame of a GIF: of the pixels that it changes, and of those that stay.
struct FrameColors {
  /// The colours, as `RGBA.word`, in the order of their first appearance.
  private(set) var words: [UInt32] = []
  /// For each colour, whether a pixel changes to it.
  private(set) var isRequired: [Bool] = []
  /// For each pixel, the number of its colour, with ``isUnchanged``; ``idMask`` where it has none in ``words``.
  private(set) var ids: [UInt16] = []
  /// Whether some pixels stay as they are.
  private(set) var hasUnchanged = false
  /// Whether some pixels can only be left out: they are transparent.
  private(set) var needsTransparency = false
  /// Whether pixels that stay have colours that are not in ``words``, which holds a thousand.
  private(set) var isIncomplete = false

  static let idMask: UInt16 = 0x7fff
  static let isUnchanged: UInt16 = 0x8000

  /// A hash table: `1 << 32 | color` and its number, or 0 for a free slot.
  private var slots = [(key: UInt64, id: UInt16)](repeating: (0, 0), count: 1 << slotBits)
  private static let slotBits = 12
  private static let limit = 1024

  /// - Throws: `unwritable` if pixels change to more than 256 colours.
  mutating func collect(_ work: FrameWork) throws(AnimatedImageError) {
    reset()
    let (rect, hasBase) = (work.rect, work.base != nil)
    let (picture, base) = (work.picture, work.base ?? work.picture)
    ids.reserveCapacity(rect.size.area)
    var requiredCount = 0
    // Neighbours are mostly equal.
    var last: (word: UInt32, isUnchanged: Bool, id: UInt16) = (0, false, Self.idMask)
    for y in rect.y..<rect.maxY {
      let (row, below) = (picture.row(y), base.row(y))
      for x in rect.x..<rect.maxX {
        let word = row.load(UInt32.self, at: x &* 4)
        if word &>> 24 == 0 {
          needsTransparency = true
          ids.append(Self.idMask | Self.isUnchanged)
          continue
        }
        let stays = hasBase && below.load(UInt32.self, at: x &* 4) == word
        if word == last.word, stays == last.isUnchanged {
          ids.append(last.id)
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
        last = (word, stays, id)
        ids.append(id)
      }
    }
  }

  private mutating func reset() {
    for word in words {
      var slot = Self.slot(word)
      while slots[slot].key != 0 {
        slots[slot].key = 0
        slot = (slot + 1) & (slots.count - 1)
      }
    }
    words.removeAll(keepingCapacity: true)
    isRequired.removeAll(keepingCapacity: true)
    ids.removeAll(keepingCapacity: true)
    (hasUnchanged, needsTransparency, isIncomplete) = (false, false, false)
  }

  private static func slot(_ word: UInt32) -> Int {
    Int((word &* 0x9e37_79b1) &>> UInt32(32 - slotBits))
  }

  /// The number of a colour, which is added if there is room; else ``idMask``.
  private mutating func number(of word: UInt32) -> UInt16 {
    var slot = Self.slot(word)
    while slots[slot].key != 0 {
      if slots[slot].key == 1 << 32 | UInt64(word) { return slots[slot].id }
      slot = (slot + 1) & (slots.count - 1)
    }
    return words.count < Self.limit ? add(word) : Self.idMask
  }

  /// Adds a colour. At most 256 come on top of the limit, so the hash table is never full.
  private mutating func add(_ word: UInt32) -> UInt16 {
    var slot = Self.slot(word)
    while slots[slot].key != 0 { slot = (slot + 1) & (slots.count - 1) }
    let id = UInt16(words.count)
    slots[slot] = (1 << 32 | UInt64(word), id)
    words.append(word)
    isRequired.append(false)
    return id
  }
}
