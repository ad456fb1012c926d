internal import Synchronization
internal import Zoetrope

/// An opened animation and its reader, which a `zoetrope_animation` points to.
final class AnimationHandle: Sendable {
  let image: AnimatedImage
  let calls: DecodingCalls
  /// An upper bound for the work of decoding one frame: the pixels drawn plus the bytes of its data.
  let frameWork: Int
  /// Metadata as a list, created on first use.
  private let items = Mutex<[MetadataItem]?>(nil)
  private let reading = Mutex(Reading())
  /// The index of the frame that ``reading`` returned last; -1 before the first.
  private let lastIndex = Atomic(-1)

  /// The reader, which keeps its position, and the renderer. Not created for animations that are only inspected.
  private struct Reading {
    var reader: SeekingReader?
    var renderer: FrameRenderer?
  }

  init(_ image: AnimatedImage, calls: DecodingCalls) {
    self.image = image
    self.calls = calls
    let area = image.canvasSize.area
    // The caller's own reader may take any time.
    let least = image.source is ForeignSource ? max(area, DecodingCalls.longCall) : area
    // Frames may be larger than the canvas, and the data of a frame larger than its pixels.
    frameWork = image.frames.reduce(least) {
      max($0, max(area, $1.rect.size.area) + $1.byteRange.count)
    }
  }

  var metadata: [MetadataItem] {
    items.withLock { items in
      if let items { return items }
      let made = MetadataItem.all(of: image.metadata)
      items = made
      return made
    }
  }

  /// Returns `index` as an `Int`.
  ///
  /// - Throws: `parameter` if the frame does not exist.
  func checkFrame(_ index: Int64) throws(AnimatedImageError) -> Int {
    guard index >= 0, index < Int64(image.frames.count) else {
      throw AnimatedImageError(
        .parameter, "frame \(index) does not exist; there are \(image.frames.count) frames",
        format: image.format)
    }
    return Int(index)
  }

  /// Returns an upper bound for the work of decoding frame `index` alone.
  func work(ofFrame index: Int) -> Int {
    // A jump replays all frames before the target in the worst case, if they are damaged.
    index == lastIndex.load(ordering: .relaxed) + 1 ? frameWork : work(ofFramesUpTo: index)
  }

  /// Returns an upper bound for the work of decoding all frames up to `index`.
  func work(ofFramesUpTo index: Int) -> Int {
    let (product, overflow) = frameWork.multipliedReportingOverflow(by: index + 1)
    return overflow ? .max : product
  }

  /// Calls `body` with frame `index`, rendered, and the area that differs from the frame previously read with the same
  /// rendering.
  ///
  /// `body` must not keep the frame, because the reader would then have to copy its canvas.
  func withFrame(
    _ index: Int, _ request: FrameRequest, in call: DecodingCall,
    _ body: (_ frame: borrowing CompositedFrame, _ dirty: PixelRect) throws(AnimatedImageError) ->
      Void
  ) throws(AnimatedImageError) {
    let isCancelled: @Sendable () -> Bool = { call.isCancelled }
    // Never contended: calls take turns.
    try reading.withLock { (reading) throws(AnimatedImageError) in
      if reading.reader == nil {
        // Created without checkpoints until the first jump, because most callers read every frame once.
        reading.reader = SeekingReader(image, keepsCheckpoints: false)
      }
      // The reader's dirty rectangle is relative to the last frame of any rendering.
      let isFirst = reading.renderer?.rendering != request.rendering
      if isFirst {
        reading.renderer = FrameRenderer(
          request.rendering, of: image.canvasSize, options: image.options)
      }
      do throws(AnimatedImageError) {
        try reading.renderer?.check()
        guard let frame = try reading.reader?.frame(at: index, isCancelled: isCancelled),
          let rendered = try reading.renderer?.render(frame, isCancelled: isCancelled)
        else { return }
        lastIndex.store(index, ordering: .relaxed)
        try body(rendered, isFirst ? PixelRect(rendered.bitmap.size) : rendered.dirtyRect)
      } catch {
        // After an error, the next frame counts as the first one with its rendering.
        reading.renderer = nil
        throw error
      }
    }
  }

  /// Calls `body` with each frame of `indices`, rendered, and its position in `indices`. Frames are visited in
  /// ascending order, and decoded ahead on all processors.
  func forEachFrame(
    _ indices: [Int], _ request: FrameRequest, in call: DecodingCall,
    _ body: (_ place: Int, _ frame: borrowing CompositedFrame) throws(AnimatedImageError) -> Void
  ) throws(AnimatedImageError) {
    let isCancelled: @Sendable () -> Bool = { call.isCancelled }
    let places = indices.indices.sorted { indices[$0] < indices[$1] }
    guard let last = places.last else { return }
    let reader = FrameReader(image)
    reader.limitDecodingAhead(to: indices[last])
    var renderer = FrameRenderer(request.rendering, of: image.canvasSize, options: image.options)
    try renderer.check()
    var next = 0
    while next < places.count {
      try call.check()
      let index = indices[places[next]]
      let frame = try renderer.render(
        try reader.frame(at: index, isCancelled: isCancelled), isCancelled: isCancelled)
      while next < places.count, indices[places[next]] == index {
        try body(places[next], frame)
        next += 1
      }
    }
  }
}

/// One item of metadata, as zoetrope.h lists them.
struct MetadataItem: Sendable {
  enum Kind: Int32, Sendable {
    case text = 1
    case xmp, exif, iccProfile, application, color
  }

  let kind: Kind
  let key: String
  let value: [UInt8]

  private init(_ kind: Kind, _ key: String, _ value: [UInt8]) {
    (self.kind, self.key, self.value) = (kind, key, value)
  }

  private init(_ kind: Kind, _ key: String, numbers: [Int]) {
    self.init(kind, key, Array(numbers.map(String.init).joined(separator: " ").utf8))
  }

  static func all(of metadata: AnimationMetadata) -> [MetadataItem] {
    var items: [MetadataItem] = []
    for text in metadata.texts { items.append(Self(.text, text.key, Array(text.value.utf8))) }
    if let xmp = metadata.xmp { items.append(Self(.xmp, "XMP", Array(xmp.utf8))) }
    if let exif = metadata.exif { items.append(Self(.exif, "Exif", exif)) }
    if let profile = metadata.iccProfile {
      items.append(Self(.iccProfile, metadata.iccProfileName ?? "", profile))
    }
    for block in metadata.applicationBlocks {
      items.append(Self(.application, block.identifier, numbers: [block.byteCount]))
    }
    if let gamma = metadata.gamma { items.append(Self(.color, "gamma", numbers: [Int(gamma)])) }
    if let values = metadata.chromaticities {
      items.append(Self(.color, "chromaticities", numbers: values.map(Int.init)))
    }
    if let intent = metadata.srgbIntent {
      items.append(Self(.color, "srgb_intent", numbers: [Int(intent)]))
    }
    if let cicp = metadata.cicp { items.append(Self(.color, "cicp", numbers: cicp.map(Int.init))) }
    if let density = metadata.pixelDensity {
      items.append(
        Self(
          .color, "density",
          numbers: [Int(density.x), Int(density.y), density.isPerMetre ? 1 : 0]))
    }
    return items
  }
}
