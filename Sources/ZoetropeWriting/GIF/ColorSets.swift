/// The sets of colours of frames that share a colour table.
struct ColorSets {
  /// A set of colours; each bit stands for an index into ``words``.
  private typealias Members = SIMD4<UInt64>

  private var words: [UInt32] = []
  private var indices: [UInt32: Int] = [:]
  /// The distinct sets in the order in which they were added, and the number of pixels of the frames with each set.
  private var sets: [(members: Members, area: Int)] = []
  private var places: [Members: Int] = [:]

  /// Adds the colours of a frame of `area` pixels. Returns false, and adds nothing, if there would be more than 256
  /// colours in all.
  mutating func add(_ colors: [UInt32], area: Int) -> Bool {
    guard words.count + colors.count(where: { indices[$0] == nil }) <= 256 else { return false }
    var members = Members()
    for word in colors {
      let index = indices[word] ?? words.count
      if index == words.count {
        words.append(word)
        indices[word] = index
      }
      members[index / 64] |= 1 << UInt64(index % 64)
    }
    if let place = places[members] {
      sets[place].area += area
    } else {
      places[members] = sets.count
      sets.append((members, area))
    }
    return true
  }

  /// Returns all colours, in the better of two orders: the one in which the pixels of all frames take fewer bits. A
  /// pixel takes as many bits as the greatest index of its frame's colours.
  ///
  /// - Throws: `cancelled`.
  func order(isCancelled: () -> Bool) throws(AnimatedImageError) -> [UInt32] {
    let orders = [try leastAddedFirst(isCancelled), smallestFirst()]
    return orders.min { bitCount($0) < bitCount($1) }?.map { words[$0] } ?? []
  }

  /// Returns the colours of the smallest set first, then those of the set that adds the fewest colours, and so on. This
  /// is best if the sets overlap little. Of sets that add equally many, the one with most pixels comes first.
  private func leastAddedFirst(_ isCancelled: () -> Bool) throws(AnimatedImageError) -> [Int] {
    var order: [Int] = []
    var placed = Members()
    var left = sets
    while !left.isEmpty {
      // There are at most 256 rounds, but each looks at every set that is left.
      if isCancelled() { throw EncodingQueue.cancelled }
      var next = (members: Members(), count: Int.max, area: 0)
      for set in left {
        let count = Self.count(set.members & ~placed)
        if (count, -set.area) < (next.count, -next.area) { next = (set.members, count, set.area) }
      }
      let new = next.members & ~placed
      order += words.indices.filter { Self.contains($0, new) }.sorted { words[$0] < words[$1] }
      placed |= new
      left.removeAll { Self.count($0.members & ~placed) == 0 }
    }
    return order
  }

  /// Returns the colours in the order of the size of the smallest set with each of them. Of equal ones, the colour whose
  /// frames have the most pixels comes first.
  private func smallestFirst() -> [Int] {
    var least = [Int](repeating: .max, count: words.count)
    var area = [Int](repeating: 0, count: words.count)
    for set in sets {
      let count = Self.count(set.members)
      for index in words.indices where Self.contains(index, set.members) {
        least[index] = min(least[index], count)
        area[index] += set.area
      }
    }
    return words.indices.sorted {
      (least[$0], -area[$0], words[$0]) < (least[$1], -area[$1], words[$1])
    }
  }

  private func bitCount(_ order: [Int]) -> Int {
    var ranks = [Int](repeating: 0, count: words.count)
    for (rank, index) in order.enumerated() { ranks[index] = rank }
    return sets.reduce(0) { sum, set in
      let greatest = words.indices.reduce(0) {
        Self.contains($1, set.members) ? max($0, ranks[$1]) : $0
      }
      return sum + set.area * max(2, Int.bitWidth - greatest.leadingZeroBitCount)
    }
  }

  private static func contains(_ index: Int, _ members: Members) -> Bool {
    members[index / 64] &>> UInt64(index % 64) & 1 == 1
  }

  private static func count(_ members: Members) -> Int {
    members.indices.reduce(0) { $0 + members[$1].nonzeroBitCount }
  }
}
