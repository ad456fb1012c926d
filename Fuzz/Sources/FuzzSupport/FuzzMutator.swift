internal import CFuzzer
public import ZoetropeTestSupport

/// What the structure-aware mutators share: libFuzzer's own mutations on a part, and wild numbers.
public struct FuzzMutator {
  /// The source of every choice; seeded by libFuzzer, so that a run can be repeated.
  public var random: SplitMix64

  /// A mutator for one input.
  public init(seed: UInt32) { random = SplitMix64(seed: UInt64(seed)) }

  /// Whether one choice in `count` falls.
  public mutating func one(in count: UInt64) -> Bool { random.next() % count == 0 }

  /// A number below `count`, which is at least 1.
  public mutating func below(_ count: Int) -> Int { Int(random.next() % UInt64(max(count, 1))) }

  /// A number that files have where nobody expects it: mostly small, else at some edge.
  public mutating func wildNumber() -> UInt32 {
    let edges: [UInt32] = [
      0, 1, 2, 7, 8, 255, 256, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000, .max,
    ]
    return one(in: 3) ? edges[below(edges.count)] : UInt32(below(24))
  }

  /// The bytes after a few of libFuzzer's mutations, `room` bytes longer at most.
  public mutating func mutated(_ bytes: [UInt8], room: Int = 16) -> [UInt8] {
    var buffer = bytes + [UInt8](repeating: 0, count: max(room, 1))
    // The buffer is `buffer.count` bytes long, of which the first `bytes.count` are the part.
    let count = unsafe buffer.withUnsafeMutableBufferPointer {
      unsafe LLVMFuzzerMutate($0.baseAddress, bytes.count, $0.count)
    }
    return Array(buffer.prefix(count))
  }

  /// Runs a custom mutator on libFuzzer's buffer: `change` gives the new bytes, or nil when the input
  /// has no structure to speak of, and libFuzzer's own mutations are used.
  ///
  /// - Precondition: `data` has room for `room` bytes, of which `count` are the input.
  @unsafe public static func run(
    _ data: UnsafeMutablePointer<UInt8>, _ count: Int, _ room: Int, seed: UInt32,
    _ change: (inout FuzzMutator, [UInt8]) -> [UInt8]?
  ) -> Int {
    var mutator = FuzzMutator(seed: seed)
    // One in three is left to libFuzzer: files that break the container's rules.
    guard !mutator.one(in: 3),
      let bytes = change(&mutator, unsafe FuzzBytes.copy(data, count))
    else { return unsafe LLVMFuzzerMutate(data, count, room) }
    let kept = min(bytes.count, room)
    for (index, byte) in bytes.prefix(kept).enumerated() { unsafe data[index] = byte }
    return kept
  }
}
