/// One piece of work that is timed again and again.
struct Stage {
  let name: String
  /// What ``items`` counts.
  let item: String
  let items: Int
  let run: () throws -> Void
}

/// A chain of multiplications, each of which waits for the one before: the processor's clock, and
/// nothing of its caches or of the memory.
enum Calibration {
  @inline(never)
  static func run() {
    var word: UInt64 = 1
    for _ in 0..<400_000 { word = word &* 0x5851_f42d_4c95_7f2d &+ 0x1405_7b7e_f767_814f }
    keep(word)
  }

  /// Uses `value`, so that the work it comes from is not left out.
  @inline(never)
  static func keep(_ value: UInt64) {
    if value == 0x0123_4567_89ab_cdef { print("never") }
  }
}
