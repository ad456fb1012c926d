import FuzzSupport
import Zoetrope

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames
@testable import ZoetropeTestSupport
@testable import ZoetropeWriting

/// Edits of damaged files: planned and written without a crash, and the result shows the pictures of the source, with
/// the planned delays and copied bytes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzEdits(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = unsafe FuzzBytes.copy(data, count)
  var random = SplitMix64(seed: FuzzBytes.hash(bytes))
  var options = FuzzReading.options(random.next() & ~3)
  if random.next() & 1 == 0 { options.damage = .partialRows }
  guard var comparison = try? EditComparison(bytes, options: options) else { return 0 }
  let edits = (0..<1 + random.next() % 3).map { _ in
    FuzzEdit.random(&random, frames: comparison.frames.count, comparison.animation.canvasSize)
  }
  let timing: AnimationWriterOptions.Timing = random.next() & 1 == 0 ? .browser : .exact
  let outcome = comparison.run(
    edits, EditOptions(delayPolicy: random.next() & 1 == 0 ? .browser : .exact, timing: timing))
  FuzzBytes.require(outcome.problem == nil, "\(edits): \(outcome.problem ?? "")")
  return 0
}

/// Keeps the structure of most inputs, whichever format they have.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutateEdits(
  _ data: UnsafeMutablePointer<UInt8>, _ count: Int, _ room: Int, _ seed: CUnsignedInt
) -> Int {
  unsafe FuzzMutator.run(data, count, room, seed: seed) {
    GIFMutation.mutate($1, with: &$0) ?? APNGMutation.mutate($1, with: &$0)
  }
}

private enum FuzzEdit {
  static func random(
    _ random: inout SplitMix64, frames: Int, _ size: PixelSize
  ) -> AnimationEdit {
    func number(_ limit: Int) -> Int { Int(random.next() % UInt64(max(limit, 1))) }
    switch number(11) {
    case 0, 1:
      let first = number(frames)
      return .frames(first..<first + 1 + number(frames - first))
    case 2:
      let first = number(500)
      return .time(.milliseconds(first)..<(.milliseconds(first + 1 + number(2000))))
    case 3: return .speed(Double(1 + number(5000)) / 1000)
    case 4: return .duration(.milliseconds(1 + number(10_000)))
    case 5: return .framesPerSecond(Double(1 + number(60)))
    case 6: return .reverse
    case 7: return .backAndForth
    case 8:
      return .crop(
        PixelRect(
          x: number(size.width), y: number(size.height), width: 1 + number(size.width),
          height: 1 + number(size.height)))
    case 9: return .playCount([.indefinite, .once, .finite(1 + number(70_000))][number(3)])
    default:
      return .delay(
        FrameDelay(numerator: UInt32(number(70_000)), denominator: UInt32(number(70_000))))
    }
  }
}
