/// A format in which a ``FrameStore`` keeps frames, in a table of its own: everything that determines the pixels, and
/// the maximum number of frames.
///
/// ```swift
/// let list = FrameFormat("list", size: PixelSize(width: 96, height: 96), family: "party")
/// let detail = FrameFormat("detail", size: PixelSize(width: 480, height: 360), family: "party")
/// let store = try FrameStore(at: directory, formats: [list, detail])
/// let frames = image.play(rendering: list.rendering, cache: MemoryFrameCache(backing: store))
/// ```
///
/// Formats with different parameters have different tables: after a change, the frames of this format are rendered
/// again, and those of other formats are kept.
public struct FrameFormat: Sendable, Hashable {
  /// The name of the format.
  package let name: String
  /// The name shared by formats that are filled in one decode pass; nil for a format that is filled alone.
  public let family: String?
  /// The size of the box that frames are scaled into.
  package let size: PixelSize
  /// The maximum number of frames kept.
  package let maximumCount: Int
  /// The rendering to pass to playback, loading and ``AnimationSource/bitmap(at:rendering:cache:)``.
  public let rendering: Rendering

  /// Creates a format.
  ///
  /// - Parameters:
  ///   - name: The name. Formats in use at the same time need different names.
  ///   - size: The size of the box that frames are scaled into.
  ///   - family: A name; formats with the same family are filled together. Default: nil, filled alone.
  ///   - fit: How frames are fitted into the box. Default: ``ScalingFit/fit``.
  ///   - filter: The resampling filter. Default: ``ScalingFilter/bilinear``.
  ///   - format: The pixel format. Default: ``PixelFormat/rgba8``.
  ///   - drawing: A drawing on every frame after scaling. Default: nil, nothing.
  ///   - maximumCount: The maximum number of frames kept. Above 16, rounded down to a multiple of
  ///     16. At most 8192. Default: 1024.
  public init(
    _ name: String, size: PixelSize, family: String? = nil, fit: ScalingFit = .fit,
    filter: ScalingFilter = .bilinear, format: PixelFormat = .rgba8,
    drawing: FrameDrawing? = nil, maximumCount: Int = 1024
  ) {
    self.name = name
    self.family = family
    self.size = size
    self.maximumCount = min(max(maximumCount, 1), 8192)
    var rendering = Rendering(
      target: TargetSize(size), fit: fit, filter: filter, format: format, drawing: drawing)
    // Covers everything that determines the pixels, and nothing else.
    let parameters =
      "\(fit.rawValue) \(filter.rawValue) \(drawing?.version ?? 0) \(drawing?.name ?? "")"
    rendering.table = TableName(
      name, parameters: parameters, box: size, maximumCount: self.maximumCount)
    self.rendering = rendering
  }
}
