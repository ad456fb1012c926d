internal import Synchronization
internal import Zoetrope

/// An opened animation and its reader. A `zoetrope_animation` points to this object.
final class AnimationHandle: Sendable {
  let image: AnimatedImage
  let calls: DecodingCalls
  /// An upper bound for the work of decoding any one frame: the number of pixels drawn plus the number of bytes of
  /// compressed data.
  let frameWork: Int
  /// The metadata as a list, which is created on first use.
  private let items = Mutex<[MetadataItem]?>(nil)
  private let reading = Mutex(Reading())
  /// The index of the frame that the reader in ``reading`` read last, or -1 if it has read none.
  private let lastIndex = Atomic(-1)

  /// The reader, which remembers its position, and the renderer. Both are nil for an animation that is only inspected.
  private struct Reading {
    var reader: SeekingReader?
    var renderer: FrameRenderer?
    /// Whether the renderer has drawn a frame that the caller did not get.
    var hasGap = false
  }

  init(_ image: AnimatedImage, calls: DecodingCalls) {
    self.image = image
    self.calls = calls
    let area = image.canvasSize.area
    // A reader that the caller implements may take any time, so its calls always count as long.
    let least = image.source is ForeignSource ? max(area, DecodingCalls.longCall) : area
    // A frame may be larger than the canvas, and the data of a frame may be larger than its pixels.
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
      throw .noFrame(index, of: image.frames.count, format: image.format)
    }
    return Int(index)
  }

  /// Returns an upper bound for the work of decoding frame `index` alone.
  func work(ofFrame index: Int) -> Int {
    // In the worst case, if frames are damaged, a jump replays all frames before the target.
    index == lastIndex.load(ordering: .relaxed) + 1 ? frameWork : work(ofFramesUpTo: index)
  }

  /// Returns an upper bound for the work of decoding all frames up to `index`.
  func work(ofFramesUpTo index: Int) -> Int {
    let (product, overflow) = frameWork.multipliedReportingOverflow(by: index + 1)
    return overflow ? .max : product
  }

  /// Reads and renders frame `index`. Calls `body` with the rendered frame, and with the area in which it may differ
  /// from the frame previously read for the caller with the same rendering.
  ///
  /// `body` must not keep the frame. Otherwise the reader would have to copy its canvas.
  ///
  /// - Parameter isForCaller: Whether the caller of the library gets the frame. False for a frame that only a store gets.
  func withFrame(
    _ index: Int, _ request: FrameRequest, isForCaller: Bool = false, in call: DecodingCall,
    _ body: (_ frame: borrowing CompositedFrame, _ dirty: PixelRect) throws(AnimatedImageError) ->
      Void
  ) throws(AnimatedImageError) {
    let isCancelled: @Sendable () -> Bool = { call.isCancelled }
    // This lock is never contended, because calls take turns.
    try reading.withLock { (reading) throws(AnimatedImageError) in
      if reading.reader == nil {
        // The reader keeps no checkpoints until the first jump, because most callers read every frame once and in
        // order.
        reading.reader = SeekingReader(image, keepsCheckpoints: false)
      }
      // The reader's dirty rectangle refers to the last frame of any rendering, so it cannot be used after a change of
      // rendering.
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
        let isWhole = isFirst || reading.hasGap
        reading.hasGap = !isForCaller
        try body(rendered, isWhole ? PixelRect(rendered.bitmap.size) : rendered.dirtyRect)
      } catch {
        // After an error, the next frame counts as the first one with its rendering.
        reading.renderer = nil
        throw error
      }
    }
  }

  /// Reads and renders each frame whose index is in `indices`. Calls `body` with the rendered frame and the position of
  /// its index in `indices`. Frames are visited in ascending order, and decoded ahead on all processors.
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

/// An item of metadata, as zoetrope.h describes it.
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
          numbers: [Int(density.x), Int(density.y), density.isPerMeter ? 1 : 0]))
    }
    return items
  }
}
