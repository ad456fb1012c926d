/// The rules by which compressed frames of one format are copied. A conforming type knows the positions of the parts of
/// one file that are copied.
protocol FrameCopying: Sendable {
  /// Whether frames are stored with their numbers. If true, a frame can be copied unchanged only if the frames before
  /// it are the same as in the source.
  var numbersFrames: Bool { get }
  /// The part of the canvas that the first frame of the output must cover.
  var firstFrame: FirstFrameCover { get }
  /// Returns whether the canvas below `frame` can be visible through its pixels.
  func mayShowCanvas(through frame: FrameControl) -> Bool
  /// Returns the steps that show `frames`, cropped to `crop`, the seam, and the header of the output.
  ///
  /// - Parameter mayReduce: Whether the colours of new frames may be reduced so that other frames can be copied.
  /// - Throws: `unwritable` if the format cannot store the output in this way; the errors of decoding; `cancelled`.
  func steps(
    for frames: [EditDelays.Kept], _ pictures: SourcePictures, crop: PixelRect, mayReduce: Bool
  ) throws(AnimatedImageError) -> PlannedSteps
  /// Returns whether a file that is written as `plan` says lacks metadata of the source: chunks that do not apply to
  /// pixels that are stored in another way, or to other bytes.
  func losesMetadata(_ plan: EditPlan) -> Bool
  /// Creates the writer of a file that is written as `plan` says.
  func makeWriter(_ plan: EditPlan, _ isCancelled: @escaping @Sendable () -> Bool)
    -> any EditWriting
}

extension FrameCopying {
  func losesMetadata(_ plan: EditPlan) -> Bool { false }
}

/// The steps that show the frames of the output, the seam, and the header of the output.
typealias PlannedSteps = (steps: [EditPlan.Step], seam: EditPlan.Seam?, header: ImageHeader)

/// The part of the canvas that the first frame of a file must cover.
enum FirstFrameCover {
  /// Any part of the canvas.
  case anyPart
  /// Any part of the canvas, but nothing outside, because decoders then enlarge the canvas. A new frame covers all of
  /// it.
  case inside
  /// The whole canvas.
  case whole
}

/// A writer of edited animations of one format.
protocol EditWriting {
  /// Writes the part of the file before the first frame.
  mutating func start(_ output: inout EditOutput) throws(AnimatedImageError)
  /// Copies the compressed pixels of `frame`.
  mutating func copy(
    _ frame: FrameControl, _ step: EditPlan.Step, _ output: inout EditOutput
  ) throws(AnimatedImageError)
  /// Encodes `picture` as a frame that is drawn over `below`, in fewer colours if `step` says so.
  mutating func encode(
    _ picture: Bitmap, over below: Bitmap, _ drawing: EditPlan.Drawing, _ step: EditPlan.Step,
    _ output: inout EditOutput
  ) throws(AnimatedImageError)
  /// Writes the part of the file after the last frame.
  mutating func finish(_ output: inout EditOutput) throws(AnimatedImageError)
}
