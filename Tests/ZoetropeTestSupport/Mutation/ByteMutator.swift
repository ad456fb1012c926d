/// Shared by the mutations of files: seeded choices, extreme numbers, and random changes of bytes.
package struct ByteMutator {
  /// The source of every choice, so that a run can be repeated.
  package var random: SplitMix64
  /// Changes bytes in place of ``mutated(_:room:)``: a fuzzer's mutator, which knows which inputs were new.
  private let foreign: (([UInt8], _ room: Int) -> [UInt8])?

  /// A mutator for one input.
  package init(seed: UInt64, foreign: (([UInt8], _ room: Int) -> [UInt8])? = nil) {
    random = SplitMix64(seed: seed)
    self.foreign = foreign
  }

  /// Returns true once in `count` calls on average.
  package mutating func one(in count: UInt64) -> Bool { random.next() % count == 0 }

  /// A number below `count`, which is at least 1.
  package mutating func below(_ count: Int) -> Int { Int(random.next() % UInt64(max(count, 1))) }

  /// An unexpected number: mostly small, otherwise an edge case.
  package mutating func wildNumber() -> UInt32 {
    let edges: [UInt32] = [
      0, 1, 2, 7, 8, 255, 256, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000, .max,
    ]
    return one(in: 3) ? edges[below(edges.count)] : UInt32(below(24))
  }

  /// The bytes after a few changes, at most `room` bytes longer.
  package mutating func mutated(_ bytes: [UInt8], room: Int = 16) -> [UInt8] {
    if let foreign { return foreign(bytes, max(room, 1)) }
    var changed = bytes
    for _ in 0...below(3) { change(&changed, limit: bytes.count + room) }
    return changed
  }

  private mutating func change(_ bytes: inout [UInt8], limit: Int) {
    let place = below(bytes.count)
    let length = min(1 + below(8), bytes.count - place)
    let left = limit - bytes.count
    switch below(7) {
    case _ where bytes.isEmpty, 0 where left > 0:
      let new = (0..<min(1 + below(8), max(left, 0))).map { _ in UInt8(below(256)) }
      bytes.insert(contentsOf: new, at: place)
    case 1 where bytes.count > length: bytes.removeSubrange(place..<place + length)
    case 2 where left >= length: bytes.insert(contentsOf: bytes[place..<place + length], at: place)
    case 3:
      let other = below(bytes.count - length + 1)
      let run = Array(bytes[place..<place + length])
      bytes.replaceSubrange(other..<other + length, with: run)
    case 4: bytes[place] = UInt8(truncatingIfNeeded: wildNumber())
    case 5: bytes[place] &+= UInt8(truncatingIfNeeded: below(9) - 4)
    default: bytes[place] ^= 1 << UInt8(below(8))
    }
  }

  /// A mutated file of the same format as `bytes`; one in three also breaks the container's rules.
  package mutating func file(_ bytes: [UInt8]) -> [UInt8] {
    var changed = bytes
    for _ in 0...below(2) {
      changed =
        GIFMutation.mutate(changed, with: &self)
        ?? APNGMutation.mutate(changed, with: &self) ?? changed
    }
    return one(in: 3) ? mutated(changed, room: 32) : changed
  }
}
