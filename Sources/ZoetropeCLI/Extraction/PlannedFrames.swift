import Zoetrope
import ZoetropeProcess

/// Supplies the frames that a plan lists, composited or as stored, and scaled if requested.
final class PlannedFrames: FrameSupply {
  private let file: AnimatedImage
  private var outputs: ArraySlice<ExtractionPlan.Output>
  private let composited: FrameReader
  private let stored: StoredFrameReader
  private let isRaw: Bool
  private let rendering: Rendering?
  /// Rescales only the region that changed since the previous frame.
  private var renderer: FrameRenderer?
  /// Reads rendered frames from the store, and stores those that are missing. Nil without a store.
  private let kept: RenderedReader?
  /// Whether the same frame may be requested twice in a row.
  private let hasRepeats: Bool
  /// The previous frame. It is kept only if frames may be repeated, because the compositor has to copy the frame's
  /// bitmap as long as this property holds the frame.
  private var last: CompositedFrame?

  init(
    _ outputs: [ExtractionPlan.Output], of image: AnimatedImage, _ request: ExtractRequest,
    store: FrameStore?
  ) {
    (file, self.outputs) = (image, outputs[...])
    (isRaw, rendering, hasRepeats) = (
      request.isRaw, request.rendering, request.rate != nil || request.skipsDamaged
    )
    composited = FrameReader(image)
    stored = StoredFrameReader(image)
    kept = store.map {
      RenderedReader(image, rendering: request.rendering ?? Rendering(), cache: $0)
    }
    renderer = request.rendering.map {
      FrameRenderer($0, of: image.canvasSize, options: image.options)
    }
  }

  var arrival: StreamProgress? { nil }

  var image: AnimatedImage? { file }

  var metadata: AnimationMetadata? { file.metadata }

  func next(isWriting: Bool) -> SuppliedFrame? {
    Signals.ending == nil ? outputs.popFirst().map { .output($0) } : nil
  }

  func named(
    _ output: ExtractionPlan.Output
  ) throws(CommandFailure) -> ExtractionPlan.Output { output }

  func stop() {}

  func settle(
    _ failure: CommandFailure?, isWritten: Bool
  ) throws(CommandFailure) -> (image: AnimatedImage, failure: CommandFailure?) { (file, failure) }

  /// Returns frame `index`, or the static image if `index` is nil. Returns nil if the requested frame has no pixels.
  func frame(at index: Int?) throws(AnimatedImageError) -> CompositedFrame? {
    guard let index else {
      guard let frame = try stored.staticImage() else { return nil }
      guard let rendering else { return frame }
      return try frame.scaled(by: rendering)
    }
    if isRaw { return try stored.frame(at: index) }
    guard hasRepeats else { return try next(index) }
    if last?.index != index { last = try next(index) }
    return last
  }

  private func next(_ index: Int) throws(AnimatedImageError) -> CompositedFrame? {
    let isCancelled = { Signals.ending != nil }
    if let kept { return try kept.frame(at: index, isCancelled: isCancelled) }
    let frame = try composited.frame(at: index, isCancelled: isCancelled)
    guard renderer != nil else { return frame }
    return try renderer?.render(frame, isCancelled: isCancelled)
  }
}

extension CompositedFrame {
  /// Returns the frame with its bitmap scaled as a whole. The bitmap may have any size.
  func scaled(by rendering: Rendering) throws(AnimatedImageError) -> CompositedFrame {
    guard let target = rendering.target else { return self }
    let bitmap = try bitmap.scaled(
      to: target, fit: rendering.fit, filter: rendering.filter,
      linearLight: rendering.linearLight)
    return CompositedFrame(index: index, bitmap: bitmap, damage: damage)
  }
}
