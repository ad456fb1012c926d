import Glibc
import Zoetrope

/// Times the scaler on fixed pictures. Prints one line per case, as the peers do: `CASE KIND FILTER ms`, the best of
/// several runs on one thread.
///
/// Arguments, if any, select cases: only cases whose line contains all of them are run.
///
/// Pictures are noise, like those of the peers. The time does not depend on the colours, only on where alpha is 255 or
/// 0.
@main
struct ScaleBench {
  struct Case {
    var name: String
    var source: PixelSize
    var target: PixelSize
  }

  static let cases = [
    Case(
      name: "thumbnail", source: PixelSize(width: 1920, height: 1080),
      target: PixelSize(width: 320, height: 180)),
    Case(
      name: "shrink", source: PixelSize(width: 800, height: 600),
      target: PixelSize(width: 500, height: 375)),
    Case(
      name: "terminal", source: PixelSize(width: 480, height: 360),
      target: PixelSize(width: 128, height: 96)),
    Case(
      name: "enlarge", source: PixelSize(width: 320, height: 240),
      target: PixelSize(width: 800, height: 600)),
  ]

  static let filters: [ScalingFilter] = [.nearest, .box, .bilinear, .bicubic, .lanczos3]

  static func main() throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == "raw" { return try scaleFile(Array(arguments.dropFirst())) }
    for example in cases {
      for filter in filters {
        let scaler = try FrameScaler(from: example.source, to: example.target, filter: filter)
        let opaque = try picture(example.source, isOpaque: true)
        let sprite = try picture(example.source, isOpaque: false, isSprite: true)
        let random = try picture(example.source, isOpaque: false)
        try report(example.name, "opaque", filter) { try scaler.scale(opaque) }
        if filter != .nearest {
          try report(example.name, "sprite", filter) { try scaler.scale(sprite) }
          try report(example.name, "alpha", filter) { try scaler.scale(random) }
        }
        if filter == .bilinear {
          let light = try FrameScaler(
            from: example.source, to: example.target, filter: filter, linearLight: true)
          try report(example.name, "light", filter) { try light.scale(opaque) }
        }
        try rescale(example, scaler, opaque, filter)
      }
    }
  }

  /// `raw IN OUT WIDTH HEIGHT TO-WIDTH TO-HEIGHT FILTER`: scales a file of plain RGBA rows.
  static func scaleFile(_ arguments: [String]) throws {
    let sizes = arguments.dropFirst(2).prefix(4).compactMap(Int.init)
    guard arguments.count == 7, sizes.count == 4,
      let filter = filters.first(where: { "\($0)" == arguments[6] }),
      let input = fopen(arguments[0], "rb"), let output = fopen(arguments[1], "wb")
    else { exit(2) }
    let from = PixelSize(width: sizes[0], height: sizes[1])
    let bitmap = try Bitmap(size: from) { _, bytes in
      bytes.withUnsafeMutableBytes { _ = fread($0.baseAddress, 1, from.width * 4, input) }
    }
    let scaled = try FrameScaler(
      from: from, to: PixelSize(width: sizes[2], height: sizes[3]), filter: filter
    ).scale(bitmap)
    for y in 0..<sizes[3] {
      let row = (0..<sizes[2]).flatMap { x in
        let pixel = scaled[x, y]
        return [pixel.red, pixel.green, pixel.blue, pixel.alpha]
      }
      fwrite(row, 1, row.count, output)
    }
    fclose(output)
    fclose(input)
  }

  /// Scales a rectangle of 5 % of the area again, in the middle of the picture.
  static func rescale(
    _ example: Case, _ scaler: FrameScaler, _ bitmap: Bitmap, _ filter: ScalingFilter
  ) throws {
    let width = Int((Double(example.source.width) * 0.05.squareRoot()).rounded())
    let height = Int((Double(example.source.height) * 0.05.squareRoot()).rounded())
    let dirty = PixelRect(
      x: example.source.width / 3, y: example.source.height / 3, width: width, height: height)
    let previous = try scaler.scale(bitmap)
    try report(example.name, "dirty5", filter) {
      try scaler.rescale(bitmap, previous: previous, changed: dirty).bitmap
    }
  }

  static func report(
    _ name: String, _ kind: String, _ filter: ScalingFilter, _ work: () throws -> Bitmap
  ) throws {
    let words = [name, kind, "\(filter)"]
    guard CommandLine.arguments.dropFirst().allSatisfy(words.contains) else { return }
    var best = Double.infinity
    var spent = 0.0
    var runs = 0
    while spent < 0.12 || runs < 3 {
      let start = now()
      let result = try work()
      let time = now() - start
      withExtendedLifetime(result) {}
      best = min(best, time)
      spent += time
      runs += 1
    }
    print(name, kind, "\(filter)", milliseconds(best))
  }

  static func milliseconds(_ seconds: Double) -> String {
    let micros = Int((seconds * 1e6).rounded())
    let rest = String(micros % 1000)
    return "\(micros / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
  }

  static func now() -> Double {
    let clock = ContinuousClock.now
    let passed = start.duration(to: clock).components
    return Double(passed.seconds) + Double(passed.attoseconds) * 1e-18
  }

  static let start = ContinuousClock.now

  /// Returns noise from a 32-bit xorshift, one step per pixel. Its bytes, from the lowest, are R, G, B and A.
  static func picture(_ size: PixelSize, isOpaque: Bool, isSprite: Bool = false) throws -> Bitmap {
    var state: UInt32 = 2_463_534_242
    return try Bitmap(size: size) { y, bytes in
      for x in 0..<size.width {
        state ^= state << 13
        state ^= state >> 17
        state ^= state << 5
        var pixel = state
        if isOpaque { pixel |= 0xFF00_0000 }
        if isSprite {
          // A disc, opaque inside, transparent outside, with a soft edge.
          let dx = Double(x) / Double(size.width) - 0.5
          let dy = Double(y) / Double(size.height) - 0.5
          let distance = (dx * dx + dy * dy).squareRoot()
          if distance < 0.40 { pixel |= 0xFF00_0000 }
          if distance > 0.41 { pixel &= 0x00FF_FFFF }
        }
        bytes.storeBytes(of: pixel.littleEndian, toByteOffset: x * 4, as: UInt32.self)
      }
    }
  }
}
