import Zoetrope
import ZoetropeProcess

/// An input of a sheet and its selected frames.
struct SheetSource {
  let input: InputFile
  let image: AnimatedImage
  let rendering: Rendering?
  /// In order.
  private(set) var indices: [Int]

  init(input: InputFile, image: AnimatedImage, rendering: Rendering?, indices: [Int]) {
    (self.input, self.image, self.rendering, self.indices) = (input, image, rendering, indices)
  }

  /// The size of its frames on the sheet.
  var size: PixelSize {
    rendering.map { Rendition($0, of: image.canvasSize, options: image.options).size }
      ?? image.canvasSize
  }

  /// Decodes the selected frames and keeps at most `count` of them, those that look least alike.
  mutating func keepDistinct(_ count: Int) throws(CommandFailure) {
    var distinct = DistinctFrames()
    do throws(AnimatedImageError) {
      var frames = frames()
      while let frame = try frames.next() { distinct.add(frame.bitmap) }
    } catch {
      if let status = Signals.ending {
        throw CommandFailure(status, code: "interrupted", "interrupted, nothing is written")
      }
      throw CommandFailure(error, file: input.name, damage: image.options.damage)
    }
    let chosen = distinct.choose(count) { Signals.ending != nil }
    if let status = Signals.ending {
      throw CommandFailure(status, code: "interrupted", "interrupted, nothing is written")
    }
    indices = chosen.map { indices[$0] }
  }

  /// Decodes the selected frames in order.
  func frames() -> SheetFrames { SheetFrames(image, indices, rendering) }

  /// A name for each of `sources`: without extension if that tells them apart, else with a number if
  /// it must be.
  static func names(of sources: [SheetSource]) -> [String] {
    func texts(_ bytes: (InputFile) -> [UInt8]) -> [String] {
      sources.map { String(decoding: bytes($0.input), as: UTF8.self) }
    }
    for names in [texts(\.stem), texts(\.fullStem)] where Set(names).count == names.count {
      return names
    }
    return texts(\.stem).enumerated().map { "\($1)-\($0 + 1)" }
  }
}

/// The selected frames of one input, one after another, scaled.
struct SheetFrames {
  private let reader: FrameReader
  private var renderer: FrameRenderer?
  private var rest: ArraySlice<Int>

  fileprivate init(_ image: AnimatedImage, _ indices: [Int], _ rendering: Rendering?) {
    reader = FrameReader(image)
    renderer = rendering.map { FrameRenderer($0, of: image.canvasSize, options: image.options) }
    rest = indices[...]
  }

  /// The next frame; nil after the last one.
  ///
  /// - Throws: what decoding throws; `cancelled` after a signal.
  mutating func next() throws(AnimatedImageError) -> CompositedFrame? {
    guard let index = rest.popFirst() else { return nil }
    let frame = try reader.frame(at: index) { Signals.ending != nil }
    if Signals.ending != nil { throw AnimatedImageError(.cancelled, "interrupted") }
    return try renderer?.render(frame) ?? frame
  }
}
