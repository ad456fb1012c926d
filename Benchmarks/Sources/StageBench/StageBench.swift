import Glibc
import Zoetrope
import ZoetropeTestSupport

/// Times each stage of decoding alone, relative to a loop that depends only on the processor's clock:
///
///     bench-stages [STAGE...]
///     lzw ms=1.234 ratio=0.617 ns=2.41/code
///     bench-stages ranges     reads and writes of a byte-range cache
///
/// The ratio is the stage's time divided by that of the loop. Both are the best of many short, alternating runs. It
/// stays the same when the machine is busy or slows down, so `check_stages.py` compares it.
@main
struct StageBench {
  static func main() throws {
    let wanted = CommandLine.arguments.dropFirst()
    if wanted == ["ranges"] { return RangeBench.run() }
    let stages: [Stage] = [
      ScanStage.make(), LZWStage.make(), PaletteStage.make(), UnfilterStage.make(),
      ExpandStage.make(), BlendStage.make(), try ScaleStage.make(), CopyStage.make(),
    ]
    for stage in stages where wanted.isEmpty || wanted.contains(stage.name) {
      print(try measure(stage))
    }
  }

  private static func measure(_ stage: Stage) throws -> String {
    var (best, calibration) = (Duration.seconds(1000), Duration.seconds(1000))
    let clock = ContinuousClock()
    for _ in 0..<60 {
      calibration = min(calibration, clock.measure { Calibration.run() })
      best = try min(best, clock.measure { try stage.run() })
    }
    let ratio = decimal(best / calibration, digits: 3)
    let each = decimal(best / .nanoseconds(1) / Double(stage.items), digits: 3)
    let milliseconds = decimal(best / .milliseconds(1), digits: 3)
    return "\(stage.name) ms=\(milliseconds) ratio=\(ratio) ns=\(each)/\(stage.item)"
  }

  private static func decimal(_ value: Double, digits: Int) -> String {
    let unit = digits == 3 ? 1000 : 10
    let whole = Int((value * Double(unit)).rounded())
    return "\(whole / unit)." + String(unit + whole % unit).dropFirst()
  }
}
