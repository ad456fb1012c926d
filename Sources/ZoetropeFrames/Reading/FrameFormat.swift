/// A format in which a ``FrameStore`` keeps frames. A format consists of everything that determines the pixels, and the
/// maximum number of frames. Each format has its own table in the store.
///
/// ```swift
/// let list = FrameFormat("list", size: PixelSize(width: 96, height: 96), family: "party")
/// let detail = FrameFormat("detail", size: PixelSize(width: 480, height: 360), family: "party")
/// let store = try FrameStore(at: directory, formats: [list, detail])
/// let frames = image.play(rendering: list.rendering, cache: MemoryFrameCache(backing: store))
/// ```
///
/// Formats with different parameters have different tables. If you change a parameter of a format, the frames of this
/// format are rendered again, and the frames of other formats are kept.
public struct FrameFormat: Sendable, Hashable {
  /// The name of the format.
  package let name: String
  /// The name of the family of this format, or nil if the format belongs to no family. The formats of a family are
  /// filled together, in one decode pass.
  public let family: String?
  /// The size of the box into which frames are scaled.
  package let size: PixelSize
  /// The maximum number of frames that are kept in this format.
  package let maximumCount: Int
  /// The rendering to pass to playback, to loading and to ``AnimationSource/bitmap(at:rendering:cache:)``.
  public let rendering: Rendering

  /// Creates a format.
  ///
  /// - Parameters:
  ///   - name: The name of the format. Formats that are in use at the same time need different names.
  ///   - size: The size of the box into which frames are scaled.
  ///   - family: The name of a family. Formats of the same family are filled together. Default: nil, which means that
  ///     the format is filled alone.
  ///   - fit: How frames are fitted into the box. Default: ``ScalingFit/fit``.
  ///   - filter: The resampling filter. Default: ``ScalingFilter/bilinear``.
  ///   - format: The pixel format. Default: ``PixelFormat/rgba8``.
  ///   - drawing: A drawing that is applied to every frame after scaling. Default: nil, no drawing.
  ///   - maximumCount: The maximum number of frames that are kept, clamped to 1...8192. A number above 16 is rounded
  ///     down to a multiple of 16. Default: 1024.
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
    // The parameters cover the properties that determine the pixels in addition to the size and the pixel format.
    let parameters =
      "\(fit.rawValue) \(filter.rawValue) \(drawing?.version ?? 0) \(drawing?.name ?? "")"
    rendering.table = TableName(
      name, parameters: parameters, box: size, maximumCount: self.maximumCount)
    self.rendering = rendering
  }
}
