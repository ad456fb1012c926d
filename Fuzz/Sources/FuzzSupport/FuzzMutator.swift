internal import CFuzzer

@testable package import ZoetropeTestSupport

/// Lets the mutations of files run under libFuzzer, with its own ones for single parts.
public enum FuzzMutator {
  /// Runs a custom mutator on libFuzzer's buffer: `change` gives the new bytes, or nil when the input
  /// has no structure to speak of, and libFuzzer's own mutations are used.
  ///
  /// - Precondition: `data` has room for `room` bytes, of which `count` are the input.
  @unsafe package static func run(
    _ data: UnsafeMutablePointer<UInt8>, _ count: Int, _ room: Int, seed: UInt32,
    _ change: (inout ByteMutator, [UInt8]) -> [UInt8]?
  ) -> Int {
    var mutator = ByteMutator(seed: UInt64(seed), foreign: mutated)
    // One in three is left to libFuzzer: files that break the container's rules.
    guard !mutator.one(in: 3),
      let bytes = change(&mutator, unsafe FuzzBytes.copy(data, count))
    else { return unsafe LLVMFuzzerMutate(data, count, room) }
    let kept = min(bytes.count, room)
    for (index, byte) in bytes.prefix(kept).enumerated() { unsafe data[index] = byte }
    return kept
  }

  /// The bytes after a few of libFuzzer's mutations, `room` bytes longer at most.
  private static func mutated(_ bytes: [UInt8], room: Int) -> [UInt8] {
    var buffer = bytes + [UInt8](repeating: 0, count: room)
    // The buffer is `buffer.count` bytes long, of which the first `bytes.count` are the part.
    let count = unsafe buffer.withUnsafeMutableBufferPointer {
      unsafe LLVMFuzzerMutate($0.baseAddress, bytes.count, $0.count)
    }
    return Array(buffer.prefix(count))
  }
}
