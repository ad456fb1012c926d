import Zoetrope
import ZoetropeProcess

/// An input of a sheet, with its selected frames.
///
/// The input's file is closed until its frames are drawn, because a process may not be able to keep all files open.
/// Inputs that can be read only once are kept open.
struct SheetSource {
  let input: InputFile
  let rendering: Rendering?
  /// The size of the input's frames on the sheet.
  let size: PixelSize
  /// The indices of the selected frames, in order.
  private(set) var indices: [Int]
  private let options: DecodingOptions
  /// The damage to the structure of the file.
  let damage: [Damage]
  /// An empty collection for the damage that is found while the frames are decoded.
  let decodingDamage: DecodingDamage
  /// The start time of each frame, followed by the end time of the last one.
  private let starts: [Duration]
  private let durations: [Duration]
  /// The opened image, or nil if the file will be opened again.
  private let kept: AnimatedImage?

  init(
    input: InputFile, image: AnimatedImage, rendering: Rendering?, indices: [Int],
    policy: DelayPolicy
  ) {
    (self.input, self.rendering, self.indices) = (input, rendering, indices)
    options = image.options
    size =
      rendering.map { Rendition($0, of: image.canvasSize, options: image.options).size }
      ?? image.canvasSize
    damage = image.damage
    decodingDamage = DecodingDamage(of: image)
    starts = image.startTimes(policy: policy)
    durations = image.frames.map { policy.shownDuration(of: $0.delay) }
    kept = input.isReadOnce ? image : nil
  }

  /// Returns the start time of frame `index`.
  func start(of index: Int) -> Duration { starts[index] }

  /// Returns how long frame `index` is shown.
  func duration(of index: Int) -> Duration { durations[index] }

  /// Decodes the selected frames, and keeps at most `count` of them: those that differ most from each other.
  mutating func keepDistinct(_ count: Int) throws(CommandFailure) {
    var distinct = DistinctFrames(shownAs: rendering)
    var frames = try frames()
    do throws(AnimatedImageError) {
      while try frames.addNext(to: &distinct) {}
    } catch {
      if let failure = CommandFailure.interruption("interrupted, nothing was written") {
        throw failure
      }
      throw CommandFailure(error, file: input.name, damage: options.damage)
    }
    let chosen = distinct.choose(count) { Signals.ending != nil }
    if let failure = CommandFailure.interruption("interrupted, nothing was written") {
      throw failure
    }
    indices = chosen.map { indices[$0] }
  }

  /// Opens the file again unless it was kept open, and returns a sequence that decodes the selected frames in order.
  ///
  /// - Throws: A failure if the file cannot be opened, or if its size in pixels or its number of frames has changed.
  func frames() throws(CommandFailure) -> SheetFrames {
    let image: AnimatedImage
    if let kept { image = kept } else { image = try input.open(options) }
    let size =
      rendering.map { Rendition($0, of: image.canvasSize, options: options).size }
      ?? image.canvasSize
    guard size == self.size, image.frames.count == durations.count else {
      throw CommandFailure(
        .undecodable, code: "changed", "the file changed while it was being read", file: input.name)
    }
    return SheetFrames(image, indices, rendering)
  }

  /// Returns a name for each of `sources`. The names are the file names without extensions if these are unique,
  /// otherwise with extensions if that makes them unique, otherwise without extensions and followed by the number of
  /// the input, from 1.
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

/// Decodes and scales the selected frames of one input, one after another.
struct SheetFrames {
  private let reader: FrameReader
  private var renderer: FrameRenderer?
  private var rest: ArraySlice<Int>

  fileprivate init(_ image: AnimatedImage, _ indices: [Int], _ rendering: Rendering?) {
    reader = FrameReader(image)
    renderer = rendering.map { FrameRenderer($0, of: image.canvasSize, options: image.options) }
    rest = indices[...]
  }

  /// Returns the next frame, or nil after the last one.
  ///
  /// - Throws: The errors of decoding; `cancelled` after a signal.
  mutating func next() throws(AnimatedImageError) -> CompositedFrame? {
    guard let index = rest.popFirst() else { return nil }
    let frame = try reader.frame(at: index) { Signals.ending != nil }
    if Signals.ending != nil { throw AnimatedImageError(.cancelled, "interrupted") }
    return try renderer?.render(frame) ?? frame
  }
  /// Adds the next frame, unscaled, to `distinct`. Returns false after the last frame.
  ///
  /// - Throws: The same errors as ``next()``.
  fileprivate mutating func addNext(
    to distinct: inout DistinctFrames
  ) throws(AnimatedImageError) -> Bool {
    guard let index = rest.popFirst() else { return false }
    try distinct.add(index, of: reader) { Signals.ending != nil }
    if Signals.ending != nil { throw AnimatedImageError(.cancelled, "interrupted") }
    return true
  }
}
