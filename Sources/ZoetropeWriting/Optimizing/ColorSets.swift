/// The sets of colours of frames that share a colour table.
struct ColorSets {
  /// A set of colours; each bit stands for an index into ``words``.
  private typealias Members = SIMD4<UInt64>

  private var words: [UInt32] = []
  private var indices: [UInt32: Int] = [:]
  /// For each colour, the number of sets with that colour.
  private var useCounts: [Int] = []
  /// The distinct sets, in the order in which they were added.
  private var sets: [Members] = []
  private var known: Set<Members> = []

  /// Adds the colours of a frame. Returns false, and adds nothing, if there would be more than 256 colours in all.
  mutating func add(_ colors: [UInt32]) -> Bool {
    guard words.count + colors.count(where: { indices[$0] == nil }) <= 256 else { return false }
    var set = Members()
    for word in colors {
      let index = indices[word] ?? words.count
      if index == words.count {
        words.append(word)
        useCounts.append(0)
        indices[word] = index
      }
      useCounts[index] += 1
      set[index / 64] |= 1 << UInt64(index % 64)
    }
    if known.insert(set).inserted { sets.append(set) }
    return true
  }

  /// Returns all colours in an order that lets many frames use few bits per pixel.
  ///
  /// A frame needs as many bits as the greatest index of its colours has. So the colours of the smallest set come
  /// first, then those of the set that adds the fewest colours, and so on. Of the colours that a set adds, those in
  /// use by most frames come first.
  func order() -> [UInt32] {
    var order: [UInt32] = []
    var placed = Members()
    var left = sets
    while !left.isEmpty {
      var next = (set: Members(), count: Int.max)
      for set in left {
        let count = Self.count(set & ~placed)
        if count < next.count { next = (set, count) }
      }
      let new = next.set & ~placed
      order += words.indices.filter { new[$0 / 64] &>> UInt64($0 % 64) & 1 == 1 }
        .sorted { (-useCounts[$0], words[$0]) < (-useCounts[$1], words[$1]) }.map { words[$0] }
      placed |= new
      left.removeAll { Self.count($0 & ~placed) == 0 }
    }
    return order
  }

  private static func count(_ set: Members) -> Int {
    set.indices.reduce(0) { $0 + set[$1].nonzeroBitCount }
  }
}
