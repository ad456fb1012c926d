package import Zoetrope

/// Applies edits and compares the result with the source: every picture, delay and copied byte.
///
/// Pictures are compared by hash, transparent pixels without their colours.
package struct EditComparison {
  private let image: AnimatedImage
  private let source: [UInt8]
  /// Hashes of the source's whole frames, computed when first needed.
  private var hashes: [Int: UInt64] = [:]
  private var reader: FrameReader?
  /// Whether no frame that was decoded is damaged.
  private var isSound: Bool

  /// The outcome of one list of edits.
  package struct Outcome {
    /// What is wrong; nil if nothing is.
    package var problem: String?
    /// Why the edits were rejected; nil if they were not.
    package var refusal: AnimatedImageError?
    package var plan: EditPlan?
    package var bytes: [UInt8] = []
    /// Bytes of the first new frame in the output.
    package var firstEncodedBytes = 0
  }

  /// - Throws: the errors of opening.
  package init(_ bytes: [UInt8], options: DecodingOptions = .init()) throws(AnimatedImageError) {
    source = bytes
    image = try Self.open(bytes, options)
    isSound = image.damage.isEmpty
  }

  package var frames: [FrameControl] { image.frames }
  package var animation: AnimatedImage { image }

  /// Opens `bytes` at the file's bit depth.
  private static func open(
    _ bytes: [UInt8], _ options: DecodingOptions
  ) throws(AnimatedImageError) -> AnimatedImage {
    var image = try AnimatedImage(bytes: bytes, options: options)
    image.options.keeps16Bit = image.header.format != .gif && image.header.bitDepth == 16
    // Discards pixels that opening decoded at another depth.
    image.state = ReadingState()
    return image
  }

  /// Plans `edits` without loss, writes them to memory, and compares.
  package mutating func run(_ edits: [AnimationEdit], _ options: EditOptions = .init()) -> Outcome {
    var outcome = Outcome()
    var options = options
    options.colors = .exact
    do throws(AnimatedImageError) {
      let plan = try EditPlan(image, edits, options)
      outcome.plan = plan
      let sink = MemorySink()
      do throws(AnimatedImageError) {
        let written = try plan.write(to: sink)
        outcome.bytes = sink.bytes
        outcome.problem = try compare(plan, &outcome)
        if written.byteCount != sink.bytes.count { outcome.problem = "\(written.byteCount) bytes" }
      } catch {
        outcome.problem = "writing: \(error)"
      }
    } catch {
      outcome.refusal = error
      if ![.parameter, .unwritable].contains(error.code) { outcome.problem = "planning: \(error)" }
    }
    return outcome
  }

  private mutating func compare(
    _ plan: EditPlan, _ outcome: inout Outcome
  ) throws(AnimatedImageError) -> String? {
    let bytes = outcome.bytes
    // A whole animation may exceed limits that its parts, or one direction, do not.
    var options = image.options
    options.limits = .none
    let output = try Self.open(bytes, options)
    guard output.frames.count == plan.frames.count else {
      return "\(output.frames.count) frames of \(plan.frames.count): \(output.damage)"
    }
    if output.canvasSize != plan.canvasSize { return "a canvas of \(output.canvasSize)" }
    if output.format != plan.format { return "format \(output.format), not \(plan.format)" }
    if output.playCount != plan.playCount {
      return "plays \(output.playCount), not \(plan.playCount)"
    }
    for (frame, planned) in zip(output.frames, plan.frames) {
      // Equal as fractions: 0/0 is stored as 0/100.
      if frame.delay != planned.delay {
        return "frame \(frame.index): delay \(frame.delay), not \(planned.delay)"
      }
      switch planned.action {
      case .copied(let range):
        if bytes[frame.byteRange] != source[range] { return "frame \(frame.index): other bytes" }
      case .patched(let range):
        if Self.payload(bytes, frame.byteRange, image.format)
          != Self.payload(source, range, image.format)
        {
          return "frame \(frame.index): other data"
        }
      case .encoded(let rect, _):
        if frame.rect != rect { return "frame \(frame.index): \(frame.rect), not \(rect)" }
        if outcome.firstEncodedBytes == 0 { outcome.firstEncodedBytes = frame.byteRange.count }
      }
    }
    return try comparePictures(plan, output)
  }

  private mutating func comparePictures(
    _ plan: EditPlan, _ output: AnimatedImage
  ) throws(AnimatedImageError) -> String? {
    for decoder in [PixelDecoder.fast, .reference] {
      var output = output
      output.options.decoder = decoder
      let reader = FrameReader(output)
      for planned in plan.frames {
        // The reference decoders yield less of damaged frames.
        if decoder == .reference, !isSound { return nil }
        guard let frame = try reader.next() else { return "no frame \(reader.nextIndex)" }
        let wanted = try hash(planned.source, plan.crop)
        if Self.hash(frame.bitmap, PixelRect(frame.bitmap.size)) != wanted {
          return
            "\(decoder): the picture of frame \(frame.index) is not that of \(planned.source) \(plan)"
        }
      }
    }
    return nil
  }

  private mutating func hash(
    _ index: Int, _ rect: PixelRect
  ) throws(AnimatedImageError) -> UInt64 {
    let isWhole = rect == PixelRect(image.canvasSize)
    if isWhole, let hash = hashes[index] { return hash }
    let reader = reader ?? FrameReader(image)
    self.reader = reader
    let frame = try reader.frame(at: index)
    if frame.damage != nil { isSound = false }
    let hash = Self.hash(frame.bitmap, rect)
    if isWhole { hashes[index] = hash }
    return hash
  }

  /// FNV-1a over words.
  private static func hash(_ bitmap: Bitmap, _ rect: PixelRect) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    let isDeep = bitmap.format == .rgba16
    for y in rect.y..<rect.maxY {
      let row = bitmap.row(y)
      for x in rect.x..<rect.maxX {
        let word: UInt64
        if isDeep {
          let pixel = row.load(UInt64.self, at: 8 * x)
          word = pixel >> 48 == 0 ? 0 : pixel
        } else {
          let pixel = row.load(UInt32.self, at: 4 * x)
          word = pixel >> 24 == 0 ? 0 : UInt64(pixel)
        }
        hash = (hash ^ word) &* 0x100_0000_01b3
      }
    }
    return hash
  }

  /// A frame's data: for PNG, what is in its data chunks. All of them have the type of the first one.
  private static func payload(
    _ bytes: [UInt8], _ range: Range<Int>, _ format: AnimationFormat
  ) -> [UInt8] {
    guard format != .gif else { return Array(bytes[range]) }
    var data: [UInt8] = []
    var isSequenced: Bool?
    var place = range.lowerBound
    while place + 12 <= range.upperBound {
      let length = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
      guard place + 12 + length <= range.upperBound else { break }
      let type = bytes[place + 4..<place + 8]
      if type.elementsEqual("IDAT".utf8), isSequenced != true {
        isSequenced = false
        data += bytes[place + 8..<place + 8 + length]
      } else if type.elementsEqual("fdAT".utf8), isSequenced != false {
        isSequenced = true
        data += bytes[place + 8..<place + 8 + length].dropFirst(4)
      }
      place += 12 + length
    }
    return data
  }
}
