/// Writes an edited GIF. Each frame gets a new graphic control. The descriptor, colour table and compressed data of a
/// copied frame stay as they are.
struct GIFEditWriter: EditWriting {
  private let plan: EditPlan
  private let map: GIFStructureMap
  private let compressor: GIFFrameCompressor
  /// Reduces the colours of new frames that have too many.
  private let reducer: ColorReducer
  private let isCancelled: @Sendable () -> Bool
  /// The ranges of the extensions before each frame. An element is emptied once its extensions are written.
  private var extras: [[Range<Int>]]

  init(_ plan: EditPlan, _ map: GIFStructureMap, _ isCancelled: @escaping @Sendable () -> Bool) {
    self.plan = plan
    self.map = map
    self.isCancelled = isCancelled
    compressor = GIFFrameCompressor(globalTable: plan.header.palette, effort: plan.effort)
    reducer = ColorReducer(
      ColorReduction(dithering: plan.dithering), isCancelled: isCancelled)
    extras = map.extras
  }

  mutating func start(_ output: inout EditOutput) throws(AnimatedImageError) {
    let size = plan.canvasSize
    var head = Array("GIF89a".utf8)
    head += UInt16(size.width).littleEndianBytes + UInt16(size.height).littleEndianBytes
    // Flags, background and aspect ratio are kept. The global colour table is kept, too, because copied frames refer to
    // it.
    head += try output.bytes(10..<13)
    try output.append(head)
    try output.copy(13..<map.headCount)
    try output.append(GIFFrameEncoder.loopBlock(plan.playCount))
    try writeExtras(before: 0, &output)
  }

  private mutating func writeExtras(
    before index: Int, _ output: inout EditOutput
  ) throws(AnimatedImageError) {
    for range in extras[index] { try output.copy(range) }
    extras[index] = []
  }

  mutating func copy(
    _ frame: FrameControl, _ step: EditPlan.Step, _ output: inout EditOutput
  ) throws(AnimatedImageError) {
    try writeExtras(before: frame.index, &output)
    try output.append(
      GIFFrameEncoder.control(
        delay: UInt16(clamping: step.delay.numerator), disposal: frame.disposal,
        transparentIndex: frame.transparentIndex))
    try output.copy(frame.byteRange)
  }

  mutating func encode(
    _ picture: Bitmap, over below: Bitmap, _ drawing: EditPlan.Drawing, _ step: EditPlan.Step,
    _ output: inout EditOutput
  ) throws(AnimatedImageError) {
    try writeExtras(before: step.source, &output)
    var shown = picture
    if step.reducesColors { shown = try reducer.frame(picture, over: below, in: drawing.rect) }
    var work = FrameWork(picture: shown, base: below, rect: drawing.rect)
    work.isCleared = drawing.disposal == .background
    let coded = try compressor.encode(work, isCancelled: isCancelled)
    try PixelMemory.require(coded.bytes.count)
    try output.append(
      coded.bytes(
        delay: UInt16(clamping: step.delay.numerator), disposal: drawing.disposal))
  }

  mutating func finish(_ output: inout EditOutput) throws(AnimatedImageError) {
    try writeExtras(before: extras.count - 1, &output)
    try output.append([0x3b])
  }
}
