/// Tells, frame by frame, whether a frame's picture needs what was on the canvas before.
///
/// It follows one fact: whether the canvas is known to be wholly transparent before the frame.
struct IndependenceTracker: Sendable {
  private var isClear = true

  /// Takes the next frame; says whether it is independent.
  ///
  /// - Parameter coversOpaquely: Whether the frame replaces every pixel of the canvas.
  mutating func add(
    rect: PixelRect, canvas: PixelRect, disposal: DisposalMethod, coversOpaquely: Bool
  ) -> Bool {
    // A frame that is taken away again shows the frames after it what lay below: replay cannot start
    // there, though its own picture hides all of it.
    let isIndependent = isClear || coversOpaquely && disposal != .previous
    isClear =
      switch disposal {
      case .keep: isClear && rect.intersection(canvas).isEmpty
      case .background: isClear || rect.contains(canvas)
      case .previous: isClear
      }
    return isIndependent
  }
}
