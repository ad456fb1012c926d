/// How edits read and store delays, and how new pictures are stored.
public struct EditOptions: Sendable, Hashable {
  /// How long a stored delay lasts. Default: ``DelayPolicy/browser``, which replaces 10 ms or less with 100 ms.
  ///
  /// Delays that no edit changes stay as stored.
  public var delayPolicy: DelayPolicy
  /// How GIF, which has whole centiseconds, stores delays. Default: `browser`, which drops frames that would last less
  /// than 2 cs and keeps the total.
  public var timing: AnimationWriterOptions.Timing
  /// The format of the output. Default: nil, that of the source, which allows copying compressed frames.
  public var format: AnimationFormat?
  /// How to reduce colours that a GIF cannot hold, or how many an APNG may have. Default: ``ColorPolicy/automatic``,
  /// which in a GIF of scaled pictures is ``ColorPolicy/limited(to:)`` with 256.
  public var colors: ColorPolicy
  /// How to draw pixels whose colour is not in the palette. Default: ``Dithering/automatic``.
  public var dithering: Dithering
  /// How to store partly transparent pixels in a GIF. Default: a threshold of 128.
  public var transparency: Transparency
  /// How much colours may differ, as in ``AnimationWriterOptions/tolerance``: 0 to 200. Default: 0. Above 0, no frame
  /// is copied, unless the lossless file is smaller.
  public var tolerance: Int
  /// How many bytes the output may take. Default: nil, any number. ``AnimatedImage/plan(_:options:)`` ignores it.
  public var budget: ByteBudget?
  /// How much time to spend on compressing frames that cannot be copied. Default: `balanced`.
  public var effort: EncodingEffort
  /// Whether fully transparent pixels keep their colours in an APNG whose frames are all compressed again. Default:
  /// false. If some are copied, the others keep them where the file's pixel format can store them.
  public var keepsHiddenColors: Bool
  /// The number of threads that encode. Default: 0, one per processor. It does not affect the output. One thread
  /// encodes the frames between copied ones, and those of a crop.
  public var parallelism: Int
  /// Whether an APNG stores RGBA or RGB even if a palette or grey would do.
  package var storesRGBA = false

  /// Creates options; omitted arguments take their defaults.
  public init(
    delayPolicy: DelayPolicy = .browser, timing: AnimationWriterOptions.Timing = .browser,
    format: AnimationFormat? = nil, colors: ColorPolicy = .automatic,
    dithering: Dithering = .automatic, transparency: Transparency = .threshold(),
    tolerance: Int = 0, budget: ByteBudget? = nil,
    effort: EncodingEffort = .balanced, keepsHiddenColors: Bool = false, parallelism: Int = 0
  ) {
    self.delayPolicy = delayPolicy
    self.timing = timing
    self.format = format
    self.colors = colors
    self.dithering = dithering
    self.transparency = transparency
    self.tolerance = tolerance
    self.budget = budget
    self.effort = effort
    self.keepsHiddenColors = keepsHiddenColors
    self.parallelism = parallelism
  }
}
