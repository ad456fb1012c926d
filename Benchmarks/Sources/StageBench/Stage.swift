/// A piece of work that is timed repeatedly.
struct Stage {
  let name: String
  /// The unit that ``items`` counts.
  let item: String
  let items: Int
  let run: () throws -> Void
}

/// A chain of multiplications, each of which waits for the previous one. Its time depends on the processor's clock, not
/// on caches or memory.
enum Calibration {
  @inline(never)
  static func run() {
    var word: UInt64 = 1
    for _ in 0..<400_000 { word = word &* 0x5851_f42d_4c95_7f2d &+ 0x1405_7b7e_f767_814f }
    keep(word)
  }

  /// Uses `value`, so that the compiler keeps the work that computes it.
  @inline(never)
  static func keep(_ value: UInt64) {
    if value == 0x0123_4567_89ab_cdef { print("never") }
  }
}
