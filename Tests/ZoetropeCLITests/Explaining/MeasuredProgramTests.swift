import Foundation
import SystemPackage
import TestRunning
import Testing
import Zoetrope

@testable import ZoetropeCLI
@testable import ZoetropeExplain

/// What the rules predict for programs that are installed, compared with what those do with every
/// fixture, or every sixteenth unless `ZOETROPE_PROGRAMS` is `all`: delays, loop counts, and the pictures up to
/// the first one that differs.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct MeasuredProgramTests {
  static let folders = ["APNG", "Bad", "Demo", "GIF"]

  private static let fixtures = FilePath(#filePath).removingLastComponent()
    .removingLastComponent().removingLastComponent().removingLastComponent()
    .appending("Fixtures")

  /// A program's output for a file.
  struct Measurement {
    /// In microseconds; nil where the program has none.
    var delays: [Int?] = []
    var loop: Int?
    /// How often the program plays the file, 0 forever; nil if it does not say.
    var plays: Int?
    var frames: [Picture] = []
  }

  struct Picture {
    let size: PixelSize
    let bytes: ArraySlice<UInt8>
  }

  /// Whether `command` prints a line that begins with `version`.
  private static func prints(_ command: String, _ version: String) -> Bool {
    guard let tool = try? Tool() else { return false }
    defer { tool.cleanUp() }
    return (try? tool.shell("\(command) 2>/dev/null | grep -q '^\(version)'")) == 0
  }

  static let hasFFmpeg =
    prints("ffmpeg -version", "ffmpeg version 5\\.1")
    && prints("ffprobe -version", "ffprobe version 5\\.1")
  static let hasPillow = prints(
    "python3 -c 'import PIL; print(PIL.__version__)'", "13\\.0")

  static let hasImageMagick = prints("convert -version", "Version: ImageMagick 6\\.9\\.11")

  @Test(.enabled(if: hasFFmpeg, "ffmpeg 5.1 is not installed"), arguments: folders)
  func `ffmpeg treats every fixture as predicted`(folder: String) throws {
    try withTool { (tool: Tool) throws in
      var outcomes: [PredictedDifference.Outcome: Int] = [:]
      for file in try Self.files(in: folder) {
        guard let prediction = try Self.predict(file, Programs.ffmpeg) else { continue }
        let script = """
          ffprobe -v quiet -show_entries packet=duration:stream=width,height -of csv '\(file)' >probe; \
          ffmpeg -nostdin -v quiet -y -i '\(file)' -vsync passthrough -pix_fmt rgba -f rawvideo \
          pixels || touch pixels; rm -f all; mv pixels all
          """
        _ = try tool.shell(script)
        // Each line describes a packet or a stream, and begins with the name of that.
        let lines = String(decoding: try tool.read("probe"), as: UTF8.self).split(separator: "\n")
          .map { $0.split(separator: ",") }
        var measured = Measurement()
        let unit = prediction.image.format == .gif ? 10_000 : 10
        measured.delays = lines.filter { $0.first == "packet" }.map { line in
          line.dropFirst().first.flatMap { Int($0) }.map { $0 * unit }
        }
        let sides = lines.first { $0.first == "stream" }?.compactMap { Int($0) } ?? []
        if sides.count == 2, sides.allSatisfy({ $0 > 0 }) {
          let size = PixelSize(width: sides[0], height: sides[1])
          let bytes = try tool.read("all")
          measured.frames = stride(
            from: 0, to: bytes.count - size.area * 4 + 1, by: size.area * 4
          ).map { Picture(size: size, bytes: bytes[$0..<$0 + size.area * 4]) }
        }
        try Self.compare(prediction, measured, file)
        outcomes[prediction.prediction.difference.outcome, default: 0] += 1
      }
      #expect(!outcomes.isEmpty)
      guard Self.takesAll else { return }
      #expect(outcomes[.none] ?? 0 > 0)
      if folder != "Demo" { #expect(outcomes[.differs] ?? 0 >= 5) }
    }
  }

  @Test(.enabled(if: hasPillow, "Pillow 13.0 is not installed"), arguments: folders)
  func `Pillow treats every fixture as predicted`(folder: String) throws {
    // One process for all files: starting Python takes longer than reading them.
    let script = """
      import json, sys, warnings
      warnings.simplefilter("ignore")
      from PIL import Image
      for number, name in enumerate(sys.argv[1:]):
          line = {"loop": None, "frames": []}
          with open("%d.rgba" % number, "wb") as pixels:
              try:
                  image = Image.open(name)
                  line["loop"] = image.info.get("loop")
                  for index in range(image.n_frames):
                      image.seek(index)
                      picture = image.convert("RGBA")
                      line["frames"].append(picture.size + (image.info.get("duration"),))
                      pixels.write(picture.tobytes())
              except Exception:
                  pass
          print(json.dumps(line))
      """
    try withTool { (tool: Tool) throws in
      let files = try Self.files(in: folder)
      try tool.write(Array(script.utf8), to: "all.py")
      let names = files.map { "'\($0)'" }.joined(separator: " ")
      try #require(try tool.shell("python3 all.py \(names) >lines 2>noise") == 0)
      let lines = try JSONLine.all(tool.read("lines"))
      try #require(lines.count == files.count)
      var outcomes: [PredictedDifference.Outcome: Int] = [:]
      for (number, file) in files.enumerated() {
        guard let prediction = try Self.predict(file, Programs.pillow) else { continue }
        var measured = Measurement()
        measured.loop = lines[number]["loop"].integer
        let bytes = try tool.read("\(number).rgba")
        var start = 0
        for frame in lines[number]["frames"].elements {
          let size = PixelSize(
            width: frame[0].integer ?? 0, height: frame[1].integer ?? 0)
          guard start + size.area * 4 <= bytes.count else { break }
          measured.frames.append(
            Picture(size: size, bytes: bytes[start..<start + size.area * 4]))
          start += size.area * 4
          if case .number(let milliseconds) = frame[2].value {
            measured.delays.append(Int(milliseconds * 1000))
          } else {
            measured.delays.append(nil)
          }
        }
        try Self.compare(prediction, measured, file)
        outcomes[prediction.prediction.difference.outcome, default: 0] += 1
      }
      #expect(!outcomes.isEmpty)
      guard Self.takesAll else { return }
      if folder != "Demo" { #expect(outcomes[.none] ?? 0 > 0) }
      #expect(outcomes[.differs] ?? 0 > 0)
    }
  }

  @Test(.enabled(if: hasImageMagick, "ImageMagick 6.9 is not installed"), arguments: folders)
  func `ImageMagick treats every fixture as predicted`(folder: String) throws {
    try withTool { (tool: Tool) throws in
      var outcomes: [PredictedDifference.Outcome: Int] = [:]
      for file in try Self.files(in: folder) {
        guard let prediction = try Self.predict(file, Programs.imageMagick) else { continue }
        let script = """
          rm -f sizes pixels about; convert '\(file)' -coalesce -depth 8 -format '%w %h %T\\n' \
          -write info:sizes -write rgba:pixels -delete 1--1 json:about 2>noise; \
          touch sizes pixels; grep iterations about >loop 2>noise || echo '"iterations": 1' >loop
          """
        _ = try tool.shell(script)
        let measured = try Self.framesOfImageMagick(in: tool)
        try Self.compare(prediction, measured, file)
        outcomes[prediction.prediction.difference.outcome, default: 0] += 1
      }
      #expect(!outcomes.isEmpty)
      guard Self.takesAll else { return }
      if folder == "GIF" { #expect(outcomes[.none] ?? 0 > 0) }
      #expect(outcomes[.differs] ?? 0 > 0)
    }
  }

  /// What `convert` wrote.
  private static func framesOfImageMagick(in tool: Tool) throws -> Measurement {
    func text(_ name: String) throws -> String {
      String(decoding: try tool.read(name), as: UTF8.self)
    }
    var measured = Measurement()
    measured.plays = Int(try text("loop").filter(\.isNumber))
    let bytes = try tool.read("pixels")
    var start = 0
    for line in try text("sizes").split(separator: "\n") {
      let numbers = line.split(separator: " ").compactMap { Int($0) }
      guard numbers.count == 3 else { continue }
      let size = PixelSize(width: numbers[0], height: numbers[1])
      guard start + size.area * 4 <= bytes.count else { break }
      measured.frames.append(Picture(size: size, bytes: bytes[start..<start + size.area * 4]))
      start += size.area * 4
      measured.delays.append(numbers[2] * 10_000)
    }
    return measured
  }

  private static func files(in folder: String) throws -> [String] {
    let directory = fixtures.appending(folder).string
    let all = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    return stride(from: 0, to: all.count, by: takesAll ? 1 : 16).map { "\(directory)/\(all[$0])" }
  }

  /// All fixtures take a minute; a sixteenth of them is enough to show that the rules still run.
  private static let takesAll =
    ProcessInfo.processInfo.environment["ZOETROPE_PROGRAMS"] == "all"

  /// Nil for a file that this package refuses.
  private static func predict(
    _ file: String, _ program: Program
  ) throws -> (image: AnimatedImage, prediction: Explanation.Prediction)? {
    guard let image = try? AnimatedImage(contentsOf: FilePath(file)) else { return nil }
    let explanation = try Explanation(
      of: image, programs: [program])
    return (image, explanation.predictions[0])
  }

  private static func compare(
    _ predicted: (image: AnimatedImage, prediction: Explanation.Prediction),
    _ measured: Measurement, _ file: String
  ) throws {
    let (image, prediction) = predicted
    let name = "\(FilePath(file).lastComponent?.string ?? file): \(prediction.difference)"
    let difference = prediction.difference
    #expect(difference.outcome != .unknown, "\(name)")
    // Pictures are the same up to the first difference.
    let count = difference.frame ?? image.frames.count
    let reader = FrameReader(image)
    for index in 0..<min(count, image.frames.count) {
      let frame = try #require(try reader.next())
      let isThere = measured.frames.indices.contains(index)
      #expect(isThere, "\(name), frame \(index) is missing")
      guard isThere else { return }
      #expect(
        Self.isEqual(measured.frames[index], frame.bitmap), "\(name), frame \(index) differs")
    }
    switch difference.outcome {
    case .none:
      #expect(measured.frames.count == image.frames.count, "\(name)")
    case .differs:
      let frame = try reader.frame(at: count)
      let isSame =
        measured.frames.indices.contains(count)
        && Self.isEqual(measured.frames[count], frame.bitmap)
        && measured.frames.count == image.frames.count
      #expect(!isSame, "\(name), it does not differ")
    case .unpredicted, .unknown: break
    }
    guard image.format != .png, prediction.behaviour.animates else { return }
    // A frame too many or too few shifts the delays after it.
    let isCounted =
      difference.outcome == .none
      || difference.outcome == .differs && difference.cause != .frames
        && difference.cause != .canvas
    let delays = isCounted ? image.frames.count : count
    for index in 0..<min(delays, image.frames.count) where index < measured.delays.count {
      let shown = prediction.durations[index].map { Decimal($0).thousandths }
      let stored = measured.delays[index].flatMap { $0 < 0 ? nil : $0 }
      // A GIF's frame without a control extension has no duration in Pillow.
      if shown == 0, stored == nil { continue }
      // Python's fractions may be a microsecond off.
      let isEqual = shown == stored || abs((shown ?? .max / 2) - (stored ?? 0)) <= 1
      #expect(isEqual, "\(name), frame \(index): \(shown ?? -1), not \(stored ?? -1)")
    }
    if isCounted { #expect(measured.delays.count >= image.frames.count, "\(name)") }
    if let plays = measured.plays, count > 0 {
      let predicted: Int? =
        switch prediction.plays {
        case .count(.indefinite): 0
        case .count(.finite(let count)): Int(count)
        case .stored, nil: nil
        }
      #expect(predicted == plays, "\(name): the plays")
    }
    if case .stored(let number) = prediction.plays, count > 0 {
      #expect(measured.loop == number, "\(name): the loop count")
    }
  }

  /// Whether both show the same; all fully transparent pixels are equal.
  private static func isEqual(_ picture: Picture, _ bitmap: Bitmap) -> Bool {
    guard picture.size == bitmap.size else { return false }
    var offset = picture.bytes.startIndex
    for y in 0..<bitmap.height {
      let row = bitmap.pixels(row: y)
      for x in 0..<bitmap.width {
        let alpha = picture.bytes[offset + 3]
        if alpha != row[x].alpha { return false }
        if alpha != 0,
          picture.bytes[offset] != row[x].red || picture.bytes[offset + 1] != row[x].green
            || picture.bytes[offset + 2] != row[x].blue
        {
          return false
        }
        offset += 4
      }
    }
    return true
  }
}
