/// Writes an edited APNG or PNG. The compressed data of copied frames stays as it is, but its chunks get new types,
/// sequence numbers and checksums where necessary.
struct PNGEditWriter: EditWriting {
  private let plan: EditPlan
  private let map: PNGStructureMap
  private let encoder: PNGFormEncoder
  private let isCancelled: @Sendable () -> Bool
  private var frames: APNGFrameChunks
  /// Whether the chunks of an animation are written. A still picture has none.
  private let isAnimated: Bool
  private let changesNothing: Bool

  init(_ plan: EditPlan, _ map: PNGStructureMap, _ isCancelled: @escaping @Sendable () -> Bool) {
    self.isCancelled = isCancelled
    self.plan = plan
    self.map = map
    encoder = PNGFormEncoder(plan.header, effort: plan.effort)
    frames = APNGFrameChunks(beginsWithStaticImage: map.beginsWithStaticImage)
    isAnimated = plan.header.format == .apng
    changesNothing = plan.changesNothing
  }

  mutating func start(_ output: inout EditOutput) throws(AnimatedImageError) {
    let (header, source) = (plan.header, plan.image.header)
    try output.append(PNGScanner.signature)
    if header.canvasSize == source.canvasSize, header.colorType == source.colorType {
      try output.copy(8..<33)
    } else {
      let size = header.canvasSize
      try append(
        "IHDR",
        [UInt32(size.width), UInt32(size.height)].flatMap(\.bigEndianBytes)
          + [header.bitDepth, header.colorType, 0, 0, header.isInterlaced ? 1 : 0], &output)
    }
    if isAnimated {
      var chunk = PNGChunks()
      chunk.append(frameCount: plan.steps.count, plan.playCount)
      try output.append(chunk.bytes)
    }
    for chunk in map.head where keeps(chunk) {
      if chunk.name == "PLTE", header.palette != source.palette {
        try appendPalette(&output)
      } else {
        try output.copy(chunk.range)
      }
    }
    if let poster = plan.image.staticImage {
      if plan.header == source {
        for chunk in try output.chunks(in: poster.byteRange) where chunk.name == "IDAT" {
          try output.copy(chunk.range)
        }
      } else {
        var image = plan.image
        image.options.keeps16Bit = source.bitDepth == 16
        let picture = try image.renderStaticBitmap()
        try append(
          "IDAT", try encoder.compress(picture, in: plan.crop, isCancelled: isCancelled), &output)
      }
    }
  }

  private func keeps(_ chunk: PNGStructureMap.Chunk) -> Bool {
    PNGStructureMap.keeps(chunk, in: plan, changesNothing: changesNothing)
  }

  private mutating func appendPalette(_ output: inout EditOutput) throws(AnimatedImageError) {
    let colors = plan.header.palette.map { RGBA(word: $0) }
    try append("PLTE", colors.flatMap { [$0.red, $0.green, $0.blue] }, &output)
    guard let last = colors.lastIndex(where: { $0.alpha < 255 }) else { return }
    try append("tRNS", colors[...last].map(\.alpha), &output)
  }

  mutating func copy(
    _ frame: FrameControl, _ step: EditPlan.Step, _ output: inout EditOutput
  ) throws(AnimatedImageError) {
    var control = PNGChunks()
    appendControl(frame.rect, step.delay, frame.disposal, frame.blend, to: &control)
    try output.append(control.bytes)
    // The range of a run of adjacent chunks that will be copied unchanged.
    var whole = 0..<0
    // The type of the first data chunk is the type of all of them. In a PNG without frames, an fdAT is skipped.
    let all = try output.chunks(in: frame.byteRange)
    let type = all.map(\.name).first { $0 == "IDAT" || $0 == "fdAT" }
    let chunks = all.filter { $0.name == type }
    let isSequenced = type == "fdAT"
    let hasData = chunks.contains { $0.range.count > 16 }
    for chunk in chunks {
      let start = chunk.range.lowerBound + (isSequenced ? 12 : 8)
      guard start <= chunk.range.upperBound - 4 else { continue }
      let data = start..<chunk.range.upperBound - 4
      var stays = frames.isStatic && !isSequenced
      if isSequenced, !frames.isStatic {
        stays = frames.keepsNumber(try output.bytes(data.lowerBound - 4..<data.lowerBound))
      }
      if stays {
        if whole.upperBound == chunk.range.lowerBound {
          whole = whole.lowerBound..<chunk.range.upperBound
        } else {
          try output.copy(whole)
          whole = chunk.range
        }
        continue
      }
      try output.copy(whole)
      whole = 0..<0
      // Leave out an fdAT without data, because it is useless and some decoders reject it. Keep it if it is the only
      // chunk of a damaged frame.
      if hasData, data.isEmpty, !frames.isStatic { continue }
      try convert(chunk, data, &output)
    }
    try output.copy(whole)
    frames.endFrame()
  }

  /// Copies the data of a chunk into a new chunk, which has the type that the output requires.
  ///
  /// If the checksum of the source is wrong, that of the copy is wrong as well: damage must not become invisible.
  private mutating func convert(
    _ chunk: PNGStructureMap.Chunk, _ data: Range<Int>, _ output: inout EditOutput
  ) throws(AnimatedImageError) {
    let isSequenced = !frames.isStatic
    let number = isSequenced ? frames.nextNumber().bigEndianBytes : []
    let type = Array((isSequenced ? "fdAT" : "IDAT").utf8) + number
    try output.append(UInt32(data.count + number.count).bigEndianBytes + type)
    let oldStart = try output.bytes(chunk.range.lowerBound + 4..<data.lowerBound)
    let stored = try output.bytes(data.upperBound..<data.upperBound + 4)
    var (old, new) = (CRC32.of(oldStart[...]), CRC32.of(type[...]))
    try output.copy(data) { bytes in
      old = CRC32.of(bytes, after: old)
      new = CRC32.of(bytes, after: new)
    }
    let error = zip(stored, old.bigEndianBytes).map { $0 ^ $1 }
    try output.append(zip(new.bigEndianBytes, error).map { $0 ^ $1 })
  }

  mutating func encode(
    _ picture: Bitmap, over below: Bitmap, _ drawing: EditPlan.Drawing, _ step: EditPlan.Step,
    _ output: inout EditOutput
  ) throws(AnimatedImageError) {
    let bytes = try encoder.compress(picture, in: drawing.rect, isCancelled: isCancelled)
    var chunks = try PNGChunks(asking: bytes.count + 64)
    appendControl(drawing.rect, step.delay, drawing.disposal, .source, to: &chunks)
    frames.appendData(bytes, to: &chunks)
    try output.append(chunks.bytes)
  }

  /// Appends the fcTL chunk of a frame, unless the output is a still picture.
  private mutating func appendControl(
    _ rect: PixelRect, _ delay: FrameDelay, _ disposal: DisposalMethod, _ blend: BlendOperation,
    to chunks: inout PNGChunks
  ) {
    if isAnimated { frames.appendControl(rect, delay, disposal, blend, to: &chunks) }
  }

  mutating func finish(_ output: inout EditOutput) throws(AnimatedImageError) {
    for chunk in map.tail where keeps(chunk) { try output.copy(chunk.range) }
    try append("IEND", [], &output)
  }

  private func append(
    _ type: StaticString, _ data: [UInt8], _ output: inout EditOutput
  ) throws(AnimatedImageError) {
    var chunk = PNGChunks()
    chunk.append(type, data)
    try output.append(chunk.bytes)
  }
}
